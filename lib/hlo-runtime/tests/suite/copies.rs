//! Tests tables of copies.

use hlo_runtime::{CopyEntry, CopyPlace, hlo_rt_copies};

#[test]
fn copies_are_done_in_order_between_all_places() {
    let (mut x, mut out, mut constant, mut arena) = ([1u8, 2, 3], [0u8; 8], [7u8; 8], [0u8; 16]);
    let lists = [x.as_mut_ptr(), out.as_mut_ptr(), constant.as_mut_ptr()];
    let entry = |from, to, bytes| CopyEntry { from, to, bytes };
    let place = |p: CopyPlace, at| [p as i64, at];
    let table = [
        entry(place(CopyPlace::Param, 0), place(CopyPlace::Arena, 5), 3),
        entry(place(CopyPlace::Constant, 0), place(CopyPlace::Arena, 8), 4),
        entry(place(CopyPlace::Arena, 4), place(CopyPlace::Output, 0), 8),
    ];
    // SAFETY: each list has one buffer, and the copies stay inside it.
    unsafe {
        hlo_rt_copies(
            &lists[0],
            &lists[1],
            &lists[2],
            arena.as_mut_ptr(),
            table.as_ptr(),
            table.len() as i64,
        );
    }
    assert_eq!(out, [0, 1, 2, 3, 7, 7, 7, 7]);
}
