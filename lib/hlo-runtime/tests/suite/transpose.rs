//! Tests transpositions of blocks of words.

use hlo_runtime::internals::transpose_words;

#[test]
fn blocks_of_every_size_are_transposed() {
    for rows in [1, 3, 7, 8, 9, 15, 16, 17, 33, 48] {
        for columns in [1, 5, 15, 16, 17, 32, 50] {
            let from: Vec<u32> = (0..rows * (columns + 3)).map(|i| i as u32).collect();
            let mut to = vec![u32::MAX; columns * (rows + 2)];
            // SAFETY: the buffers have the sizes of the block.
            unsafe {
                let stride = 4 * (columns as isize + 3);
                transpose_words(from.as_ptr().cast(), stride, rows, columns, to.as_mut_ptr(), rows + 2);
            }
            for c in 0..columns {
                for r in 0..rows + 2 {
                    let want = if r < rows { (r * (columns + 3) + c) as u32 } else { u32::MAX };
                    assert_eq!(to[c * (rows + 2) + r], want, "{rows}x{columns} at {c},{r}");
                }
            }
        }
    }
}
