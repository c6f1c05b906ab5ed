//! The loops around the kernel: which panels are packed when, and what is one task.
//!
//! A product with at least as many rows as columns packs the whole right operand once, and each task packs a
//! block of rows and multiplies it by every column panel. A wider product packs the whole left operand once,
//! and each task packs a few column panels. A long contraction for a small output is cut into parts, whose sums are
//! added up at the end. In any case each element of the output is computed in an order, and with
//! the contracted dimension in blocks of a size that depends on the shape alone.

use super::kernel::{Kernel, Tile};
use super::pack::Panels;
use super::store::{Sink, store_tile};
use super::{LANES, MR, NR};
use crate::context::{Context, Error, Shared};
use crate::element::{ElementCode, Number};
use crate::scratch::Scratch;

/// Words of the contracted dimension that are multiplied before the sums go to memory: as many as keep the part
/// of the right panel in the first-level cache.
const K_WORDS: usize = 256;
/// Rows of a task's block when the right operand is packed as a whole.
const BLOCK_ROWS: usize = 64;
/// Rows whose sums are kept between blocks of the contracted dimension.
const SUM_ROWS: usize = 256;
/// Packed words of the right operand that are kept at a time.
const PACKED_WORDS: usize = 16 << 20;

/// Words of the contracted dimension of a part at least, where a product is made in parts.
const PART_WORDS: usize = 1 << 12;
/// The most parts.
const MOST_PARTS: usize = 64;
/// Words that are packed at a time in a part.
const STEP_WORDS: usize = 512;
/// Tiles of the output by [`BLOCK_ROWS`] that give tasks enough.
const FEW_BLOCKS: usize = 32;

/// What a task needs to know of a product.
struct Product<'a, K: Kernel, S: Sink> {
    kernel: K,
    words: usize,
    sink: &'a S,
    /// Whether sums start at −128 times the column's sum, which undoes the bias of signed bytes.
    biased: bool,
}

/// Computes `m` by `n` sums over `k` elements, in parallel. `biased` says that the left panels hold signed bytes
/// plus 128.
///
/// # Safety
/// The operands must be readable and the output writable for these sizes.
pub(crate) unsafe fn product<K: Kernel<Sum: Number>>(
    ctx: &Context,
    kernel: K,
    [m, n, k]: [usize; 3],
    left: &impl Panels,
    right: &impl Panels,
    sink: &impl Sink,
    biased: bool,
) -> Result<(), Error> {
    let product = Product { kernel, words: k.div_ceil(K::PER_WORD), sink, biased };
    // SAFETY: the caller's promise.
    unsafe {
        let blocks = m.div_ceil(BLOCK_ROWS).saturating_mul(n.div_ceil(NR));
        if product.words >= 2 * PART_WORDS && blocks <= FEW_BLOCKS && !biased {
            product.by_parts(ctx, m, n, left, right)
        } else if m >= n {
            product.by_rows(ctx, m, n, left, right)
        } else {
            product.by_columns(ctx, m, n, left, right)
        }
    }
}

/// As [`product`], on the calling thread alone.
///
/// # Safety
/// As for [`product`].
pub(crate) unsafe fn small_product<K: Kernel<Sum: Number>>(
    kernel: K,
    [m, n, k]: [usize; 3],
    left: &impl Panels,
    right: &impl Panels,
    sink: &impl Sink,
    biased: bool,
) -> Result<(), Error> {
    let product = Product { kernel, words: k.div_ceil(K::PER_WORD), sink, biased };
    let a = packed(m.div_ceil(MR), product.words, MR)?;
    let b = packed(1, product.words, NR)?;
    // SAFETY: the caller's promise; the panels are packed before they are read.
    unsafe {
        for panel in 0..m.div_ceil(MR) {
            left.pack::<MR>(panel * MR, 0, product.words, a.pointer::<u32>().add(panel * product.words * MR));
        }
        for j in (0..n).step_by(NR) {
            right.pack::<NR>(j, 0, product.words, b.pointer());
            product.column_panel([0, j], [m, NR.min(n - j)], a.pointer(), b.pointer())?;
        }
    }
    Ok(())
}

/// Room for `panels` panels of `words` words of `width`.
fn packed(panels: usize, words: usize, width: usize) -> Result<Scratch, Error> {
    let total = panels.checked_mul(words).and_then(|w| w.checked_mul(width));
    Scratch::new::<u32>(total.ok_or_else(|| Error("a packed operand does not fit the address space".into()))?)
}

impl<K: Kernel<Sum: Number>, S: Sink> Product<'_, K, S> {
    /// # Safety
    /// As for [`product`].
    unsafe fn by_rows(
        &self,
        ctx: &Context,
        m: usize,
        n: usize,
        left: &impl Panels,
        right: &impl Panels,
    ) -> Result<(), Error> {
        let words = self.words;
        let group = (PACKED_WORDS / (words * NR).max(1)).max(1) * NR;
        for first in (0..n).step_by(group) {
            let columns = group.min(n - first);
            let b = packed(columns.div_ceil(NR), words, NR)?;
            // SAFETY: tasks pack panels of their own.
            let b = (unsafe { Shared::new(b.pointer::<u32>()) }, b);
            ctx.for_each(columns.div_ceil(NR), |panel| {
                // SAFETY: the panel is inside the buffer, and its columns inside the operand.
                unsafe { right.pack::<NR>(first + panel * NR, 0, words, b.0.get().add(panel * words * NR)) };
            });
            let rows = if words * BLOCK_ROWS > 1 << 18 { BLOCK_ROWS / 2 } else { BLOCK_ROWS };
            ctx.try_for_each(m.div_ceil(rows), |block| {
                let i0 = block * rows;
                let mb = rows.min(m - i0);
                let a = packed(mb.div_ceil(MR), words, MR)?;
                let pointer = a.pointer::<u32>();
                // SAFETY: as above; the task's rows are its own.
                unsafe {
                    for panel in 0..mb.div_ceil(MR) {
                        left.pack::<MR>(i0 + panel * MR, 0, words, pointer.add(panel * words * MR));
                    }
                    for j in (0..columns).step_by(NR) {
                        let b = b.0.get().add(j / NR * words * NR);
                        self.column_panel([i0, first + j], [mb, NR.min(columns - j)], pointer, b)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// # Safety
    /// As for [`product`].
    unsafe fn by_columns(
        &self,
        ctx: &Context,
        m: usize,
        n: usize,
        left: &impl Panels,
        right: &impl Panels,
    ) -> Result<(), Error> {
        let words = self.words;
        let a = packed(m.div_ceil(MR), words, MR)?;
        // SAFETY: tasks pack panels of their own.
        let a = (unsafe { Shared::new(a.pointer::<u32>()) }, a);
        let panels_a_task = 8;
        ctx.for_each(m.div_ceil(MR * panels_a_task), |task| {
            for panel in task * panels_a_task..((task + 1) * panels_a_task).min(m.div_ceil(MR)) {
                // SAFETY: the panel is inside the buffer, and its rows inside the operand.
                unsafe { left.pack::<MR>(panel * MR, 0, words, a.0.get().add(panel * words * MR)) };
            }
        });
        ctx.try_for_each(n.div_ceil(NR), |panel| {
            let j = panel * NR;
            let b = packed(1, words, NR)?;
            // SAFETY: as above; the task's columns are its own.
            unsafe {
                right.pack::<NR>(j, 0, words, b.pointer());
                self.column_panel([0, j], [m, NR.min(n - j)], a.0.get(), b.pointer())
            }
        })
    }

    /// Cuts the contracted dimension of a small output into parts, a task for each part and block of rows, and adds up
    /// what they give.
    ///
    /// # Safety
    /// As for [`product`].
    unsafe fn by_parts(
        &self,
        ctx: &Context,
        m: usize,
        n: usize,
        left: &impl Panels,
        right: &impl Panels,
    ) -> Result<(), Error> {
        let part = self.words.div_ceil(MOST_PARTS).max(PART_WORDS).next_multiple_of(STEP_WORDS);
        let parts = self.words.div_ceil(part);
        let (panels, columns) = (m.div_ceil(MR), n.next_multiple_of(NR));
        let sums = Scratch::new::<K::Sum>(parts * panels * MR * columns)?;
        // SAFETY: tasks write rows of their own.
        let sums = (unsafe { Shared::new(sums.pointer::<K::Sum>()) }, sums);
        let blocks = m.div_ceil(BLOCK_ROWS);
        ctx.try_for_each(parts * blocks, |task| {
            let (number, i0) = (task / blocks, task % blocks * BLOCK_ROWS);
            let words = [number * part, self.words.min((number + 1) * part)];
            let rows = [i0, m.min(i0 + BLOCK_ROWS)];
            let to = sums.0.get().wrapping_add((number * panels * MR + i0) * columns);
            // SAFETY: the rows are the task's own; the rest is the caller's promise.
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
                // SAFETY: the caller's promise.
                unsafe { store_tile(total.as_ptr(), self.sink, [i, j], [MR.min(m - i), NR.min(n - j)]) };
            }
        });
        Ok(())
    }

    /// The sums over some of the words, for some rows, in rows of whole panels of columns.
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
        // SAFETY: the panels are packed before they are read; the rest is the caller's promise.
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
                            b,
                            rows: MR,
                            vectors: NR.min(n - j).div_ceil(LANES),
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

    /// Multiplies the packed rows at `a` (`m` of them) by one packed column panel of `n` columns, for the output
    /// at `[i0, j0]`.
    ///
    /// # Safety
    /// The panels must be packed in full, and the output writable.
    unsafe fn column_panel(
        &self,
        [i0, j0]: [usize; 2],
        [m, n]: [usize; 2],
        a: *const u32,
        b: *const u32,
    ) -> Result<(), Error> {
        let words = self.words;
        let k_words = words.div_ceil(words.div_ceil(K_WORDS + K_WORDS / 2).max(1)).max(1);
        let sums = Scratch::new::<K::Sum>(if words > k_words {
            SUM_ROWS.min(m.next_multiple_of(MR)) * NR
        } else {
            0
        })?;
        let sums = sums.pointer::<K::Sum>();
        let mut start = [K::Sum::ZERO; NR];
        if self.biased {
            // SAFETY: the panel holds four bytes in each word.
            unsafe { undo_bias(b, words, &mut start) };
        }
        let vectors = n.div_ceil(LANES);
        let direct = self.direct_stride(j0, n);
        let column = self.sink.column(j0);
        for i_block in (0..m).step_by(SUM_ROWS) {
            let mut word = 0;
            loop {
                let part = k_words.min(words - word);
                let (is_first, is_last) = (word == 0, word + part >= words);
                for i in (i_block..m.min(i_block + SUM_ROWS)).step_by(MR) {
                    let rows = MR.min(m - i);
                    let mut local = [K::Sum::ZERO; MR * NR];
                    let (init, init_stride) = match is_first {
                        true if self.biased => (start.as_ptr(), 0),
                        true => (std::ptr::null(), 0),
                        false => (sums.wrapping_add((i - i_block) * NR).cast_const(), NR),
                    };
                    let (out, out_stride) = match (is_last, direct) {
                        (false, _) => (sums.wrapping_add((i - i_block) * NR), NR),
                        (true, Some(stride)) => {
                            (self.sink.row(i0 + i).wrapping_offset(column).cast::<K::Sum>(), stride)
                        }
                        (true, None) => (local.as_mut_ptr(), NR),
                    };
                    // SAFETY: the panels are packed, and the tile is inside the sums, the output or `local`.
                    unsafe {
                        self.kernel.tile(&Tile {
                            words: part,
                            a: a.add((i / MR * words + word) * MR),
                            b: b.add(word * NR),
                            rows,
                            vectors,
                            init,
                            init_stride,
                            out,
                            out_stride,
                        });
                        if is_last && direct.is_none() {
                            store_tile(local.as_ptr(), self.sink, [i0 + i, j0], [rows, n]);
                        }
                    }
                }
                word += part;
                if is_last {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The row stride of an output that takes sums as they are, where the `n` columns from `j` on are whole vectors,
    /// side by side.
    fn direct_stride(&self, j: usize, n: usize) -> Option<usize> {
        let same = match self.sink.code() {
            ElementCode::F32 => K::FLOAT,
            ElementCode::S32 | ElementCode::U32 => !K::FLOAT,
            _ => false,
        };
        let stride = usize::try_from(self.sink.row_stride()?).ok()?;
        let dense = n.is_multiple_of(LANES) && self.sink.column_stride(j, n) == Some(1);
        (same && dense && self.sink.row(0).cast::<u32>().is_aligned()).then_some(stride)
    }
}

/// Adds a whole tile to another; strides count elements from row to row.
///
/// # Safety
/// The tiles must be readable, and `to` writable.
unsafe fn add_tile<T: Number>(to: *mut T, to_stride: usize, from: *const T, from_stride: usize) {
    for i in 0..MR {
        // SAFETY: the caller's promise.
        let (to, from) = unsafe {
            (&mut *to.add(i * to_stride).cast::<[T; NR]>(), &*from.add(i * from_stride).cast::<[T; NR]>())
        };
        for (to, &from) in to.iter_mut().zip(from) {
            *to = to.plus(from);
        }
    }
}

/// `start[j]` = −128 times the sum of column `j`'s signed bytes.
///
/// # Safety
/// The panel must hold `words * NR` words.
unsafe fn undo_bias<T: Number>(b: *const u32, words: usize, start: &mut [T; NR]) {
    let mut sums = [0i32; NR];
    for w in 0..words {
        for (j, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let bytes = unsafe { b.add(w * NR + j).read() }.to_le_bytes();
            for byte in bytes {
                *sum = sum.wrapping_add(i32::from(byte as i8));
            }
        }
    }
    for (start, sum) in start.iter_mut().zip(sums) {
        let value = sum.wrapping_mul(-128);
        // SAFETY: `value` is an i32.
        *start = unsafe { T::load(ElementCode::S32, (&raw const value).cast()) };
    }
}
