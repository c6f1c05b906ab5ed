//! Tests concatenations.

use hlo_runtime::{Context, JoinDesc, hlo_rt_join};

#[test]
fn rows_of_all_operands_stand_side_by_side() {
    let (a, b, c) = ([1u8, 2, 3, 4], [0u8; 0], [5u8, 6]);
    let mut out = [0u8; 6];
    let desc = JoinDesc { rows: 2, operands: 3 };
    let (operands, results) = ([a.as_ptr(), b.as_ptr(), c.as_ptr()], [out.as_mut_ptr()]);
    // SAFETY: two rows of 2, 0 and 1 bytes.
    let status = unsafe {
        hlo_rt_join(&Context::new(2), &desc, [2, 0, 1].as_ptr(), operands.as_ptr(), results.as_ptr())
    };
    assert_eq!((status, out), (0, [1, 2, 5, 3, 4, 6]));
}
