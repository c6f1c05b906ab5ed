//! Tests of copies along affine index maps.

use hlo_eval::internals::{Walk, copy_walk};

#[test]
fn a_walk_that_leaves_its_slice_is_an_error() {
    let source = Walk { offset: 1, strides: [1].into_iter().collect() };
    assert!(copy_walk(&[3], &[1u8, 2, 3], &source, &mut [0; 3], &Walk::dense(&[3])).is_err());
}

#[test]
fn a_negative_stride_reverses() {
    let mut out = [0u8; 3];
    let source = Walk { offset: 2, strides: [-1].into_iter().collect() };
    copy_walk(&[3], &[1, 2, 3], &source, &mut out, &Walk::dense(&[3])).unwrap();
    assert_eq!(out, [3, 2, 1]);
}
