//! Tests of the blocks of long sums.

use hlo_kernel::{Extent, SumBlocks};

/// Adds the indices of the loops that a sum visits to `seen`, and returns the lengths of its sequential parts.
fn visit(blocks: &SumBlocks, loops: &[(i64, i64)], at: &mut Vec<i64>, seen: &mut Vec<Vec<i64>>) -> Vec<i64> {
    match (blocks, loops.split_first()) {
        (SumBlocks::Inside(inner), Some((&(lower, upper), rest))) => {
            assert_eq!(upper - lower, 1, "a loop with a single index");
            at.push(lower);
            let lengths = visit(inner, rest, at, seen);
            at.pop();
            lengths
        }
        (SumBlocks::Parts { step, exact, part }, Some((&(lower, upper), rest))) => {
            let mut lengths = Vec::new();
            for start in (lower..upper).step_by(*step as usize) {
                assert!(!exact || start + step <= upper, "an exact part is whole");
                let mut inner = vec![(start, upper.min(start + step))];
                inner.extend_from_slice(rest);
                lengths.extend(visit(part, &inner, at, seen));
            }
            lengths
        }
        (SumBlocks::Sequence, _) | (_, None) => {
            let before = seen.len();
            sequence(loops, at, seen);
            vec![(seen.len() - before) as i64]
        }
    }
}

fn sequence(loops: &[(i64, i64)], at: &mut Vec<i64>, seen: &mut Vec<Vec<i64>>) {
    let Some((&(lower, upper), rest)) = loops.split_first() else { return seen.push(at.clone()) };
    for i in lower..upper {
        at.push(i);
        sequence(rest, at, seen);
        at.pop();
    }
}

#[test]
fn each_index_is_visited_once_in_order_and_no_sequence_is_longer_than_a_block() {
    let lists: [&[i64]; 9] = [&[], &[0], &[1], &[7], &[100], &[3, 50], &[50, 3], &[2, 3, 40], &[1, 200, 1]];
    for sizes in lists {
        for block in [1, 4, 16, 64] {
            let blocks = SumBlocks::of_sizes(sizes, block);
            let loops: Vec<(i64, i64)> = sizes.iter().map(|&size| (0, size)).collect();
            let (mut seen, mut all) = (Vec::new(), Vec::new());
            let lengths = visit(&blocks, &loops, &mut Vec::new(), &mut seen);
            sequence(&loops, &mut Vec::new(), &mut all);
            assert_eq!(seen, all, "{sizes:?} in blocks of {block}");
            assert!(lengths.iter().all(|&n| n <= block), "{sizes:?} in blocks of {block}: {lengths:?}");
        }
    }
}

#[test]
fn the_number_of_levels_grows_with_the_logarithm_of_the_length() {
    let levels = |size| SumBlocks::of_sizes(&[size], 64).levels();
    assert_eq!([64, 65, 64 * 32, 64 * 32 + 1, 1 << 40].map(levels), [0, 1, 1, 2, 7]);
    assert_eq!(SumBlocks::of_sizes(&[64 * 32 + 1], 64).steps(), [(0, vec![2048, 64])]);
    assert_eq!(SumBlocks::of_sizes(&[100, 1000], 64).steps(), [(0, vec![32, 1]), (1, vec![64])]);
}

#[test]
fn parts_of_a_loop_of_unknown_length_are_not_exact() {
    let of = |exact| SumBlocks::of(&[Extent { size: 128, exact }], 64);
    assert!(matches!(of(true), SumBlocks::Parts { step: 64, exact: true, .. }));
    assert!(matches!(of(false), SumBlocks::Parts { step: 64, exact: false, .. }));
}
