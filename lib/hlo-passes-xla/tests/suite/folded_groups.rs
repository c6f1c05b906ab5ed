//! Groups of all-reduces that `all-reduce-folder` combines.

use hlo_passes_xla::internals::folded;

#[test]
fn groups_of_groups() {
    let first = [vec![0, 1], vec![2, 3]];
    assert_eq!(folded(&first, &[vec![0, 2], vec![1, 3]]), Some(vec![vec![0, 1, 2, 3]]));
    // Each value would be added twice.
    assert_eq!(folded(&first, &[vec![0, 1], vec![2, 3]]), None);
    assert_eq!(folded(&first, &[vec![0, 1, 2, 3]]), None);
    // A replica in two groups, and a group that overlaps another.
    assert_eq!(folded(&[vec![0, 1], vec![1, 2]], &[vec![0, 2], vec![1]]), None);
    let six = [vec![0, 1], vec![2, 3], vec![4, 5]];
    assert_eq!(folded(&six, &[vec![0, 2], vec![1, 4], vec![3, 5]]), None);
    assert_eq!(folded(&first, &[vec![0, 2], vec![1, 3], vec![]]), None);
    // Replicas 1 and 3 do not participate.
    assert_eq!(folded(&first, &[vec![0, 2]]), None);
    let four = [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]];
    let pairs = [vec![0, 2], vec![1, 3], vec![4, 6], vec![5, 7]];
    assert_eq!(folded(&four, &pairs), Some(vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]]));
}

#[test]
fn groups_of_many() {
    let number = |n: i64| (4 * n..4 * n + 4).collect::<Vec<i64>>();
    let fours: Vec<Vec<i64>> = (0..1 << 14).map(number).collect();
    let first: Vec<Vec<i64>> = fours.iter().flat_map(|f| [vec![f[0], f[1]], vec![f[2], f[3]]]).collect();
    let second: Vec<Vec<i64>> = fours.iter().flat_map(|f| [vec![f[0], f[2]], vec![f[1], f[3]]]).collect();
    assert_eq!(folded(&first, &second), Some(fours));
}
