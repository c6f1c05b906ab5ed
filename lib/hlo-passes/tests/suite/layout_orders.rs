//! Orders of dimensions, and how operations that move no data relate them.

use hlo_ir::Dims;
use hlo_passes::internals::{Link, canonical, same_in_memory};

fn link_dims(dims: &[i64]) -> Dims {
    dims.iter().copied().collect()
}

fn reshaped(from: &[i64], to: &[i64], order: &[u32]) -> Option<Vec<u32>> {
    let link = Link::Reshape { from: link_dims(from), to: link_dims(to) };
    link.forward(order).map(|o| o.to_vec())
}

#[test]
fn reshapes_keep_what_lies_together() {
    assert_eq!(reshaped(&[6, 4], &[2, 3, 4], &[1, 0]), Some(vec![2, 1, 0]));
    assert_eq!(reshaped(&[6, 4], &[2, 3, 4], &[0, 1]), Some(vec![1, 0, 2]));
    assert_eq!(reshaped(&[2, 3, 4], &[6, 4], &[1, 0, 2]), Some(vec![0, 1]));
    assert_eq!(reshaped(&[2, 3, 4], &[6, 4], &[0, 1, 2]), None);
    assert_eq!(reshaped(&[2, 3], &[3, 2], &[0, 1]), None);
    assert_eq!(reshaped(&[2, 3], &[1, 2, 1, 3, 1], &[1, 0]), Some(vec![4, 3, 2, 1, 0]));
    assert_eq!(reshaped(&[2, 3], &[2, 1, 3], &[0, 1]), Some(vec![0, 2, 1]));
    assert_eq!(reshaped(&[2, 1, 3], &[2, 3], &[1, 0, 2]), Some(vec![0, 1]));
    assert_eq!(reshaped(&[1, 1], &[1], &[0, 1]), Some(vec![0]));
    assert_eq!(reshaped(&[0, 3], &[3, 0], &[0, 1]), None);
}

#[test]
fn sizes_of_1_have_their_place() {
    let all = |dims: &[i64], orders: &[[u32; 3]]| -> Vec<Vec<u32>> {
        orders.iter().map(|o| canonical(dims, o).to_vec()).collect()
    };
    assert_eq!(all(&[1, 4, 3], &[[2, 1, 0], [2, 0, 1], [0, 2, 1]]), vec![vec![2, 1, 0]; 3]);
    assert_eq!(all(&[1, 4, 3], &[[1, 2, 0], [1, 0, 2], [0, 1, 2]]), vec![vec![1, 0, 2]; 3]);
    assert_eq!(all(&[4, 3, 1], &[[2, 1, 0], [1, 0, 2]]), vec![vec![2, 1, 0]; 2]);
    assert_eq!(all(&[1, 1, 1], &[[0, 1, 2], [1, 0, 2]]), vec![vec![2, 1, 0]; 2]);
    assert_eq!(all(&[0, 4, 3], &[[0, 1, 2]]), vec![vec![2, 1, 0]]);
}

#[test]
fn transposes_and_broadcasts_go_both_ways() {
    let axes = |map: &[Option<u32>], rank| Link::Axes { map: map.into(), rank };
    // Result dimension 0 is operand dimension 2, and so on.
    let t = axes(&[Some(1), Some(2), Some(0)], 3);
    assert_eq!(t.forward(&[2, 1, 0]).unwrap().to_vec(), [0, 2, 1]);
    assert_eq!(t.backward(&[0, 2, 1]).unwrap().to_vec(), [2, 1, 0]);
    let b = axes(&[Some(1), Some(3)], 4);
    assert_eq!(b.forward(&[1, 0]).unwrap().to_vec(), [3, 2, 1, 0]);
    assert_eq!(b.forward(&[0, 1]).unwrap().to_vec(), [1, 2, 3, 0]);
    assert_eq!(b.backward(&[1, 2, 3, 0]).unwrap().to_vec(), [0, 1]);
    let r = axes(&[Some(0), None, Some(1)], 2);
    assert_eq!(r.forward(&[0, 1, 2]).unwrap().to_vec(), [0, 1]);
    assert_eq!(r.backward(&[0, 1]), None);
}

#[test]
fn sizes_of_1_lie_anywhere() {
    assert!(same_in_memory(&[4, 1], &[0, 1], &[1, 0]));
    assert!(same_in_memory(&[4, 0, 2], &[0, 1, 2], &[2, 1, 0]));
    assert!(!same_in_memory(&[4, 2], &[0, 1], &[1, 0]));
}
