//! Tests of arrays with strides in the memory of the caller.

use hlo_pjrt::internals::Strided;

#[test]
fn elements_are_copied_as_strides_say() {
    // Two rows of three columns, in column-major order, and then an array with a negative stride.
    let columns = Strided::in_order(&[2, 3], 1, &[0, 1]).expect("a layout");
    assert_eq!(columns.strides, [1, 2]);
    let mut rows = [0u8; 6];
    // SAFETY: both have six bytes.
    unsafe { columns.gather(b"adbecf".as_ptr(), rows.as_mut_ptr()) };
    assert_eq!(&rows, b"abcdef");
    let mut back = [0u8; 6];
    // SAFETY: as above.
    unsafe { columns.scatter(rows.as_ptr(), back.as_mut_ptr()) };
    assert_eq!(&back, b"adbecf");
    let backwards = Strided::at(&[3], 2, &[-2]).expect("strides");
    assert_eq!(backwards.extent(), Some((-4, 2)));
    let from = b"ccbbaa";
    // SAFETY: the address is that of the last of three elements.
    unsafe { backwards.gather(from.as_ptr().add(4), rows.as_mut_ptr()) };
    assert_eq!(&rows, b"aabbcc");
}

#[test]
fn what_lies_in_order_is_seen() {
    let at = |dims, strides| Strided::at(dims, 4, strides).expect("strides");
    assert!(at(&[2, 1, 3], &[12, 999, 4]).is_dense_in_order(&[2, 1, 0]));
    assert!(at(&[2, 3], &[4, 8]).is_dense_in_order(&[0, 1]));
    assert!(!at(&[2, 3], &[4, 8]).is_dense_in_order(&[1, 0]));
    assert!(!at(&[2, 3], &[16, 4]).is_dense_in_order(&[1, 0]));
    assert!(at(&[0, 3], &[1, 1]).is_dense_in_order(&[1, 0]));
    assert!(Strided::row_major(&[], 4).expect("a scalar").is_dense_in_order(&[]));
    assert_eq!(at(&[2, 3, 4], &[4, 32, 8]).order()[..], [0, 2, 1]);
    assert_eq!(at(&[2, 1, 3], &[12, 12, 4]).order()[..], [2, 1, 0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(Strided::row_major(&[-1], 4).is_err());
    assert!(Strided::row_major(&[i64::MAX, 4], 4).is_err());
    assert!(Strided::in_order(&[2, 2], 4, &[0, 0]).is_err());
    assert!(Strided::at(&[2, 2], 4, &[4]).is_err());
    assert_eq!(Strided::at(&[3], 1, &[i64::MAX]).expect("strides").extent(), None);
}
