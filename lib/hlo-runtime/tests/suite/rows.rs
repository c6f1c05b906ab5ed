//! Tests copies of rows by offsets and sizes known at run time.

use hlo_runtime::{Context, RowsDesc, hlo_rt_move_rows};

#[test]
fn pieces_move_and_must_be_within_the_rows() {
    let ctx = Context::new(1);
    let desc = RowsDesc { row_bytes: 2, from_rows: 4, to_rows: 3, pieces: 2, index_bytes: 1, signed: 1 };
    let from = [1u8, 2, 3, 4, 5, 6, 7, 8];
    let run = |from_offsets: [i8; 2], sizes: [i8; 2], received: [i8; 2]| {
        let mut to = [0u8; 6];
        let to_offsets = [1i8, 0];
        let [a, n, r, b] = [&from_offsets, &sizes, &received, &to_offsets].map(|l| l.as_ptr().cast::<u8>());
        // SAFETY: four and three rows of two bytes, two pieces.
        let status = unsafe { hlo_rt_move_rows(&ctx, &desc, from.as_ptr(), a, n, b, r, to.as_mut_ptr()) };
        (status, to, ctx.take_error())
    };
    assert_eq!(run([2, 0], [2, 1], [2, 1]), (0, [1, 2, 5, 6, 7, 8], None));
    let error = |text: &str| Some(format!("ragged-all-to-all: {text}"));
    let failed = run([3, 0], [2, 1], [2, 1]);
    assert_eq!(failed.2, error("the input offset 3 of piece 0 is not within the 2 rows"));
    assert_eq!(
        run([0, -1], [2, 1], [2, 1]).2,
        error("the input offset -1 of piece 1 is not within the 3 rows")
    );
    assert_eq!(run([0, 0], [2, 4], [2, 4]).2, error("the send size 4 of piece 1 is not within the 3 rows"));
    assert_eq!(run([0, 0], [2, 1], [2, 2]).2, error("piece 1: 1 rows are sent, another number is received"));
}
