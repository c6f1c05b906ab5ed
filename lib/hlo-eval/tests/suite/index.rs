//! Tests of index arithmetic.

use hlo_eval::internals::{indices, position};

#[test]
fn indices_are_row_major() {
    let all: Vec<Vec<i64>> = indices(&[2, 2]).map(|i| i.to_vec()).collect();
    assert_eq!(all, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    assert_eq!(indices(&[]).count(), 1);
    assert_eq!(indices(&[3, 0]).count(), 0);
}

#[test]
fn an_index_outside_has_no_position() {
    assert_eq!(position(&[1, 2], &[2, 3]).unwrap(), 5);
    for outside in [&[2, 0][..], &[0, 3], &[0, -1], &[0]] {
        assert!(position(outside, &[2, 3]).unwrap_err().message.starts_with("internal error: "));
    }
}
