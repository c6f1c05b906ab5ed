//! Tests of the ranks of boxes.

use hlo_graph::internals::ranks;

#[test]
fn what_has_one_user_stands_right_above_it() {
    // 0 → 1 → 2 → 4 and 3 → 4.
    assert_eq!(ranks(5, &[(0, 1), (1, 2), (2, 4), (3, 4)]), [0, 1, 2, 2, 3]);
    assert_eq!(ranks(2, &[]), [0, 0]);
}
