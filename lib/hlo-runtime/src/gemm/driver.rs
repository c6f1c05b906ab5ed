//! The loops around the blocks: decides which operands to pack and how to split the product into tasks.
//!
//! A product with at least as many rows as columns packs the whole right operand once. Each task packs a
//! block of rows and multiplies it by every column panel. A wider product packs the whole left operand once,
//! and each task packs a few column panels. If the other operand has few rows or columns, an operand is read
//! without packing, because packing would take longer than the product. A long contraction with a small
//! output is split into parts. The order in which the terms of a sum are added depends on the shape only.

use super::block::{Block, Left, Right};
use super::kernel::Kernel;
use super::pack::{Direct, Panels, packed};
use super::parts::MIN_PART_WORDS;
use super::product::{BLOCK_ROWS, Product};
use super::store::Sink;
use super::{MR, NR};
use hlo_runtime_core::{Context, Error, Number, Scratch, Shared};

/// The number of words of the contracted dimension that are multiplied before the sums are written to memory.
/// It keeps that part of the right panel in the first-level cache.
const STEP_WORDS: usize = 256;
/// The maximum number of packed words of the right operand that are kept at a time.
const PACKED_WORDS: usize = 16 << 20;
/// The maximum number of output tiles ([`BLOCK_ROWS`] by [`NR`]) of a product that is split into parts. More
/// tiles make enough tasks without parts.
const MAX_SPLIT_BLOCKS: usize = 32;

/// The maximum number of rows for which the right operand is not packed.
const MAX_UNPACKED_RIGHT_ROWS: usize = 32;
/// The maximum number of columns for which the left operand is not packed.
const MAX_UNPACKED_LEFT_COLUMNS: usize = 2 * NR;
/// The minimum and maximum number of words of the contracted dimension that are multiplied before the next
/// columns, if the right operand is not packed. It is the number of memory lines that are read in parallel.
const STRIP_STEP: [usize; 2] = [16, 128];
/// The maximum number of words that these lines should span. A larger span touches too many pages.
const MAX_STRIP_SPAN_WORDS: usize = 1 << 16;
/// The maximum number of words of a right operand that stays in the first-level cache.
const MAX_L1_WORDS: usize = 1 << 13;
/// The minimum and maximum number of columns of a task if the right operand is not packed.
const STRIP_COLUMNS: [usize; 2] = [2 * NR, 8 * NR];
/// The number of strips that makes enough tasks.
const TARGET_STRIPS: usize = 8;

/// Computes `m` by `n` sums over `k` elements in parallel. `biased` means that the left panels contain signed
/// bytes plus 128.
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
    // SAFETY: guaranteed by the caller.
    unsafe {
        let blocks = m.div_ceil(BLOCK_ROWS).saturating_mul(n.div_ceil(NR));
        if product.words >= 2 * MIN_PART_WORDS && blocks <= MAX_SPLIT_BLOCKS && !biased {
            product.by_parts(ctx, m, n, left, right)
        } else if let Some(columns) = side_by_side(right).filter(|_| m <= MAX_UNPACKED_RIGHT_ROWS) {
            product.by_strips(ctx, [m, n], left, columns)
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
    // SAFETY: guaranteed by the caller; panels are packed before they are read.
    unsafe {
        let (a, _kept) = product.rows(left, [0, m], n)?;
        if let Some(columns) = side_by_side(right).filter(|_| m <= 2 * MAX_UNPACKED_RIGHT_ROWS || n <= NR) {
            for j in (0..n).step_by(STRIP_COLUMNS[1]) {
                product.strip([0, j], [m, STRIP_COLUMNS[1].min(n - j)], a, columns)?;
            }
            return Ok(());
        }
        let b = packed(1, product.words, NR)?;
        for j in (0..n).step_by(NR) {
            right.pack::<NR>(j, 0, product.words, b.pointer());
            product.column_panel([0, j], [m, NR.min(n - j)], a, b.pointer())?;
        }
    }
    Ok(())
}

/// Returns the right operand in the form that kernels read, if its columns are adjacent in memory.
fn side_by_side(right: &impl Panels) -> Option<Direct> {
    right.direct().filter(|d| d.outer == 1)
}

impl<K: Kernel<Sum: Number>, S: Sink> Product<'_, K, S> {
    /// Returns rows `first..first + m` of the left operand for a product with `n` columns, and the packed
    /// panels if there are any.
    ///
    /// # Safety
    /// As for [`product`].
    unsafe fn rows(
        &self,
        left: &impl Panels,
        [first, m]: [usize; 2],
        n: usize,
    ) -> Result<(Left, Option<Scratch>), Error> {
        let near = |d: &Direct| d.word == 1 || (d.outer == 1 && m <= MAX_UNPACKED_RIGHT_ROWS);
        if let Some(direct) = left.direct().filter(|d| n <= MAX_UNPACKED_LEFT_COLUMNS && near(d)) {
            return Ok((Left::direct(direct, first), None));
        }
        let panels = m.div_ceil(MR);
        let a = packed(panels, self.words, MR)?;
        let pointer = a.pointer::<u32>();
        for panel in 0..panels {
            // SAFETY: the panel is inside the buffer, and its rows inside the operand.
            unsafe {
                left.pack::<MR>(first + panel * MR, 0, self.words, pointer.add(panel * self.words * MR));
            }
        }
        Ok((Left::packed(pointer, self.words), Some(a)))
    }

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
        if let Some(columns) = side_by_side(right).filter(|_| n <= NR) {
            return ctx.try_for_each(m.div_ceil(BLOCK_ROWS), |block| {
                let (i0, mb) = (block * BLOCK_ROWS, BLOCK_ROWS.min(m - block * BLOCK_ROWS));
                // SAFETY: the rows belong to this task only.
                unsafe {
                    let (left, _kept) = self.rows(left, [i0, mb], n)?;
                    let right = Right::direct(columns, 0);
                    self.block(&Block { at: [i0, 0], size: [mb, n], left, right, step: STEP_WORDS * NR / n })
                }
            });
        }
        let group = (PACKED_WORDS / (words * NR).max(1)).max(1) * NR;
        for first in (0..n).step_by(group) {
            let columns = group.min(n - first);
            let b = packed(columns.div_ceil(NR), words, NR)?;
            // SAFETY: each task packs its own panels.
            let b = (unsafe { Shared::new(b.pointer::<u32>()) }, b);
            ctx.for_each(columns.div_ceil(NR), |panel| {
                // SAFETY: the panel is inside the buffer, and its columns inside the operand.
                unsafe { right.pack::<NR>(first + panel * NR, 0, words, b.0.get().add(panel * words * NR)) };
            });
            let rows = if words * BLOCK_ROWS > 1 << 18 { BLOCK_ROWS / 2 } else { BLOCK_ROWS };
            ctx.try_for_each(m.div_ceil(rows), |block| {
                let i0 = block * rows;
                let mb = rows.min(m - i0);
                // SAFETY: as above; the rows belong to this task only.
                unsafe {
                    let (a, _kept) = self.rows(left, [i0, mb], columns)?;
                    for j in (0..columns).step_by(NR) {
                        let b = b.0.get().add(j / NR * words * NR);
                        self.column_panel([i0, first + j], [mb, NR.min(columns - j)], a, b)?;
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
        // SAFETY: each task packs its own panels.
        let a = (unsafe { Shared::new(a.pointer::<u32>()) }, a);
        let panels_a_task = 8;
        ctx.for_each(m.div_ceil(MR * panels_a_task), |task| {
            for panel in task * panels_a_task..((task + 1) * panels_a_task).min(m.div_ceil(MR)) {
                // SAFETY: the panel is inside the buffer, and its rows inside the operand.
                unsafe { left.pack::<MR>(panel * MR, 0, words, a.0.get().add(panel * words * MR)) };
            }
        });
        let a = Left::packed(a.0.get(), words);
        ctx.try_for_each(n.div_ceil(NR), |panel| {
            let j = panel * NR;
            let b = packed(1, words, NR)?;
            // SAFETY: as above; the columns belong to this task only.
            unsafe {
                right.pack::<NR>(j, 0, words, b.pointer());
                self.column_panel([0, j], [m, NR.min(n - j)], a, b.pointer())
            }
        })
    }

    /// Computes a product with few rows. The right operand, `columns`, is read without packing, in strips.
    /// Each strip is one task.
    ///
    /// # Safety
    /// As for [`product`].
    unsafe fn by_strips(
        &self,
        ctx: &Context,
        [m, n]: [usize; 2],
        left: &impl Panels,
        columns: Direct,
    ) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        let (a, _kept) = unsafe { self.rows(left, [0, m], n)? };
        let width = n.div_ceil(TARGET_STRIPS).next_multiple_of(NR).clamp(STRIP_COLUMNS[0], STRIP_COLUMNS[1]);
        ctx.try_for_each(n.div_ceil(width), |strip| {
            let j = strip * width;
            // SAFETY: the columns belong to this task only.
            unsafe { self.strip([0, j], [m, width.min(n - j)], a, columns) }
        })
    }

    /// Multiplies rows by columns that are adjacent in memory and not packed.
    ///
    /// # Safety
    /// The operands must be readable and the output writable.
    unsafe fn strip(
        &self,
        at: [usize; 2],
        size: [usize; 2],
        left: Left,
        columns: Direct,
    ) -> Result<(), Error> {
        let right = Right::direct(columns, at[1]);
        let line = columns.word.unsigned_abs().max(1);
        let is_dense = line.saturating_mul(self.words) <= MAX_L1_WORDS;
        let step = if is_dense {
            self.words
        } else {
            (MAX_STRIP_SPAN_WORDS / line).clamp(STRIP_STEP[0], STRIP_STEP[1])
        };
        // SAFETY: guaranteed by the caller.
        unsafe { self.block(&Block { at, size, left, right, step }) }
    }

    /// Multiplies rows by one packed column panel of `size[1]` columns, and writes the output at `at`.
    ///
    /// # Safety
    /// The operands must be readable, the panel completely packed, and the output writable.
    unsafe fn column_panel(
        &self,
        at: [usize; 2],
        size: [usize; 2],
        left: Left,
        b: *const u32,
    ) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.block(&Block { at, size, left, right: Right::packed(b), step: STEP_WORDS }) }
    }
}
