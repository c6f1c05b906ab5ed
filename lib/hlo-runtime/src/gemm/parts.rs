//! Long contractions with small outputs: the contracted dimension is split into parts, whose sums are added
//! at the end.

use super::kernel::{Kernel, Tile};
use super::pack::{Panels, packed};
use super::product::{BLOCK_ROWS, Product};
use super::store::{Sink, store_tile};
use super::{MR, NR};
use hlo_runtime_core::{Context, Error, Number, Scratch, Shared};

/// The minimum number of words of the contracted dimension in a part.
pub(super) const MIN_PART_WORDS: usize = 1 << 12;
/// The maximum number of parts.
const MAX_PARTS: usize = 64;
/// The number of words of a part that are packed at a time.
const STEP_WORDS: usize = 512;

impl<K: Kernel<Sum: Number>, S: Sink> Product<'_, K, S> {
    /// Splits the contracted dimension of a small output into parts, runs one task for each part and block of
    /// rows, and adds the sums of the parts.
    ///
    /// # Safety
    /// As for [`product`].
    pub(super) unsafe fn by_parts(
        &self,
        ctx: &Context,
        m: usize,
        n: usize,
        left: &impl Panels,
        right: &impl Panels,
    ) -> Result<(), Error> {
        let part = self.words.div_ceil(MAX_PARTS).max(MIN_PART_WORDS).next_multiple_of(STEP_WORDS);
        let parts = self.words.div_ceil(part);
        let (panels, columns) = (m.div_ceil(MR), n.next_multiple_of(NR));
        let sums = Scratch::new::<K::Sum>(parts * panels * MR * columns)?;
        // SAFETY: each task writes its own rows.
        let sums = (unsafe { Shared::new(sums.pointer::<K::Sum>()) }, sums);
        let blocks = m.div_ceil(BLOCK_ROWS);
        ctx.try_for_each(parts * blocks, |task| {
            let (number, i0) = (task / blocks, task % blocks * BLOCK_ROWS);
            let words = [number * part, self.words.min((number + 1) * part)];
            let rows = [i0, m.min(i0 + BLOCK_ROWS)];
            let to = sums.0.get().wrapping_add((number * panels * MR + i0) * columns);
            // SAFETY: the rows belong to this task only; the caller guarantees the rest.
            unsafe { self.part(words, rows, n, left, right, to) }
        })?;
        ctx.for_each(panels, |panel| {
            let i = panel * MR;
            for j in (0..n).step_by(NR) {
                let mut total = [K::Sum::ZERO; MR * NR];
                for number in 0..parts {
                    let from = sums.0.get().wrapping_add((number * panels * MR + i) * columns + j);
                    // SAFETY: the tasks above have written all sums.
                    unsafe { add_tile(total.as_mut_ptr(), NR, from, columns) };
                }
                // SAFETY: guaranteed by the caller.
                unsafe { store_tile(total.as_ptr(), self.sink, [i, j], [MR.min(m - i), NR.min(n - j)]) };
            }
        });
        Ok(())
    }

    /// Computes the sums over the words in `words` for the rows in `rows`. Each row of the sums has whole
    /// panels of columns.
    ///
    /// # Safety
    /// As for [`product`]; `sums` must be writable for whole panels.
    unsafe fn part(
        &self,
        words: [usize; 2],
        rows: [usize; 2],
        n: usize,
        left: &impl Panels,
        right: &impl Panels,
        sums: *mut K::Sum,
    ) -> Result<(), Error> {
        let (panels, columns) = ((rows[1] - rows[0]).div_ceil(MR), n.next_multiple_of(NR));
        let a = packed(panels, STEP_WORDS, MR)?;
        let b = packed(1, STEP_WORDS, NR)?;
        let (a, b) = (a.pointer::<u32>(), b.pointer::<u32>());
        // SAFETY: the panels are packed before they are read; the caller guarantees the rest.
        unsafe {
            (0..panels * MR * columns).for_each(|i| sums.add(i).write(K::Sum::ZERO));
            for word in (words[0]..words[1]).step_by(STEP_WORDS) {
                let count = STEP_WORDS.min(words[1] - word);
                for panel in 0..panels {
                    left.pack::<MR>(rows[0] + panel * MR, word, count, a.add(panel * STEP_WORDS * MR));
                }
                for j in (0..n).step_by(NR) {
                    right.pack::<NR>(j, word, count, b);
                    for panel in 0..panels {
                        let mut local = [K::Sum::ZERO; MR * NR];
                        self.kernel.tile(&Tile {
                            words: count,
                            a: a.add(panel * STEP_WORDS * MR),
                            a_row: 1,
                            a_word: MR as isize,
                            b,
                            b_word: NR as isize,
                            rows: MR,
                            columns: NR,
                            init: std::ptr::null(),
                            init_stride: 0,
                            out: local.as_mut_ptr(),
                            out_stride: NR,
                        });
                        add_tile(sums.add(panel * MR * columns + j), columns, local.as_ptr(), NR);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Adds a whole tile to another. Strides count elements from row to row.
///
/// # Safety
/// The tiles must be readable, and `to` writable.
unsafe fn add_tile<T: Number>(to: *mut T, to_stride: usize, from: *const T, from_stride: usize) {
    for i in 0..MR {
        // SAFETY: guaranteed by the caller.
        let (to, from) = unsafe {
            (&mut *to.add(i * to_stride).cast::<[T; NR]>(), &*from.add(i * from_stride).cast::<[T; NR]>())
        };
        for (to, &from) in to.iter_mut().zip(from) {
            *to = to.plus(from);
        }
    }
}
