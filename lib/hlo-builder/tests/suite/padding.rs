//! Tests of the padding of windows.

use hlo_builder::Padding;

#[test]
fn same_padding_gives_a_window_for_each_stride() {
    // Examples of SAME from TensorFlow: 13 elements, windows of 6, strides of 5.
    assert_eq!(Padding::Same.amounts(&[13], &[6], &[5]), [(1, 2)]);
    assert_eq!(Padding::Same.amounts(&[5, 4], &[3, 2], &[1, 2]), [(1, 1), (0, 0)]);
    assert_eq!(Padding::Same.amounts(&[3], &[1], &[2]), [(0, 0)]);
}
