//! Blocks of the output: tiles of sums, computed over parts of the contracted dimension that fit the cache.

use hlo_runtime_core::{ElementCode, Error, Number, Scratch};
use std::mem::MaybeUninit;

use super::kernel::{Kernel, Tile};
use super::pack::Direct;
use super::product::Product;
use super::store::{Sink, store_tile};
use super::{MR, NR};

/// The number of rows whose sums are kept between parts of the contracted dimension.
const SUM_ROWS: usize = 256;

/// The left operand in the form that kernels read.
#[derive(Clone, Copy)]
pub(super) struct Left {
    pub(super) pointer: *const u32,
    /// Distance from one row of a tile to the next, in words.
    pub(super) row: isize,
    /// Distance from one word of a row to the next, in words.
    pub(super) word: isize,
    /// Distance from one group of `MR` rows to the next, in words.
    pub(super) panel: isize,
}

// SAFETY: the operand is only read.
unsafe impl Sync for Left {}

impl Left {
    /// Returns packed panels of `words` words as an operand.
    pub(super) fn packed(pointer: *const u32, words: usize) -> Left {
        Left { pointer, row: 1, word: MR as isize, panel: (words * MR) as isize }
    }

    /// Returns the rows from `first` on without packing.
    pub(super) fn direct(from: Direct, first: usize) -> Left {
        let pointer = from.pointer.wrapping_offset((first as isize).wrapping_mul(from.outer));
        Left { pointer, row: from.outer, word: from.word, panel: from.outer.wrapping_mul(MR as isize) }
    }
}

/// The right operand in the form that kernels read, with adjacent columns.
#[derive(Clone, Copy)]
pub(super) struct Right {
    pub(super) pointer: *const u32,
    /// Distance from one word of a column to the next, in words.
    pub(super) word: isize,
}

impl Right {
    /// Returns one packed panel as an operand.
    pub(super) fn packed(pointer: *const u32) -> Right {
        Right { pointer, word: NR as isize }
    }

    /// Returns the columns from `first` on without packing; they are adjacent in memory.
    pub(super) fn direct(from: Direct, first: usize) -> Right {
        Right { pointer: from.pointer.wrapping_add(first), word: from.word }
    }
}

/// A block of the output and its operands.
pub(super) struct Block {
    /// The first row and column of the block.
    pub(super) at: [usize; 2],
    /// The number of rows and columns. A block of packed operands has at most [`NR`] columns.
    pub(super) size: [usize; 2],
    pub(super) left: Left,
    pub(super) right: Right,
    /// The number of words of the contracted dimension after which sums are written to memory.
    pub(super) step: usize,
}

/// A part of the contracted dimension, with the initial and final locations of its sums.
#[derive(Clone, Copy)]
struct Part<T> {
    /// The first word and the number of words.
    word: usize,
    words: usize,
    is_last: bool,
    /// The initial sums of the first part; null for zero.
    start: *const T,
    /// The sums between parts, and the distance between their rows in elements.
    sums: *mut T,
    width: usize,
}

impl<K: Kernel<Sum: Number>, S: Sink> Product<'_, K, S> {
    /// Computes a block of the output.
    ///
    /// # Safety
    /// The operands must be readable, and the output writable.
    pub(super) unsafe fn block(&self, block: &Block) -> Result<(), Error> {
        let (words, [m, n]) = (self.words, block.size);
        // Parts of nearly equal size.
        let step = words.div_ceil(words.div_ceil(block.step + block.step / 2).max(1)).max(1);
        let width = n.next_multiple_of(NR);
        let kept = if words > step { SUM_ROWS.min(m.next_multiple_of(MR)) * width } else { 0 };
        let sums = Scratch::new::<K::Sum>(kept)?;
        let mut start = [K::Sum::ZERO; NR];
        if self.biased {
            // SAFETY: the right operand is one packed panel.
            unsafe { self.undo_bias(block.right, words, &mut start) };
        }
        let start = if self.biased { start.as_ptr() } else { std::ptr::null() };
        for first in (0..m).step_by(SUM_ROWS) {
            let rows = [first, m.min(first + SUM_ROWS)];
            let mut word = 0;
            loop {
                let count = step.min(words - word);
                let is_last = word + count >= words;
                let part = Part { word, words: count, is_last, start, sums: sums.pointer(), width };
                // SAFETY: guaranteed by the caller; the sums of the rows fit their buffer.
                unsafe { self.part_of_block(block, rows, part) };
                word += count;
                if is_last {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Sets `start[j]` to −128 times the sum of the bytes of column `j`. The kernel itself computes it, as
    /// the product with a row of biases.
    ///
    /// # Safety
    /// `right` must be a packed panel of `words` words.
    unsafe fn undo_bias(&self, right: Right, words: usize, start: &mut [K::Sum; NR]) {
        let (biases, minus_one) = (u32::from_le_bytes([128; 4]), -1i32);
        // SAFETY: guaranteed by the caller; the left operand repeats one word.
        unsafe {
            self.kernel.tile(&Tile {
                words,
                a: &raw const biases,
                a_row: 1,
                a_word: 0,
                b: right.pointer,
                b_word: right.word,
                rows: 1,
                columns: NR,
                init: std::ptr::null(),
                init_stride: 0,
                out: start.as_mut_ptr(),
                out_stride: NR,
            });
        }
        // SAFETY: the pointer refers to an `i32`.
        let minus_one = unsafe { K::Sum::load(ElementCode::S32, (&raw const minus_one).cast()) };
        for sum in start {
            *sum = K::Sum::ZERO.mul_add(*sum, minus_one);
        }
    }

    /// Multiplies the words of one part for some rows.
    ///
    /// # Safety
    /// As for [`Product::block`]; the sums of earlier parts must be in their buffer.
    unsafe fn part_of_block(&self, block: &Block, [first, end]: [usize; 2], part: Part<K::Sum>) {
        let Block { at: [i0, j0], size: [_, n], left, right, .. } = *block;
        let b = right.pointer.wrapping_offset((part.word as isize).wrapping_mul(right.word));
        for j in (0..n).step_by(NR) {
            let columns = NR.min(n - j);
            let direct = self.direct_stride(j0 + j, columns).filter(|_| part.is_last);
            let column = self.sink.column(j0 + j);
            for i in (first..end).step_by(MR) {
                let rows = MR.min(end - i);
                let mut local = MaybeUninit::<[K::Sum; MR * NR]>::uninit();
                let local = local.as_mut_ptr().cast::<K::Sum>();
                let kept = part.sums.wrapping_add((i - first) * part.width + j);
                let (init, init_stride) = match part.word {
                    0 => (part.start, 0),
                    _ => (kept.cast_const(), part.width),
                };
                let (out, out_stride) = match (part.is_last, direct) {
                    (false, _) => (kept, part.width),
                    (true, Some(stride)) => {
                        (self.sink.row(i0 + i).wrapping_offset(column).cast::<K::Sum>(), stride)
                    }
                    (true, None) => (local, NR),
                };
                let a = (i / MR) as isize * left.panel + part.word as isize * left.word;
                // SAFETY: the operands are readable, and the tile is inside the sums, the output or `local`.
                unsafe {
                    self.kernel.tile(&Tile {
                        words: part.words,
                        a: left.pointer.wrapping_offset(a),
                        a_row: left.row,
                        a_word: left.word,
                        b: b.wrapping_add(j),
                        b_word: right.word,
                        rows,
                        columns,
                        init,
                        init_stride,
                        out,
                        out_stride,
                    });
                    if part.is_last && direct.is_none() {
                        store_tile(local.cast_const(), self.sink, [i0 + i, j0 + j], [rows, columns]);
                    }
                }
            }
        }
    }

    /// Returns the row stride of the output if it can store sums without conversion and its `n` columns from
    /// `j` on are adjacent.
    fn direct_stride(&self, j: usize, n: usize) -> Option<usize> {
        let same = match self.sink.code() {
            ElementCode::F32 => K::FLOAT,
            ElementCode::S32 | ElementCode::U32 => !K::FLOAT,
            _ => false,
        };
        let stride = usize::try_from(self.sink.row_stride()?).ok()?;
        let dense = self.sink.column_stride(j, n) == Some(1);
        (same && dense && self.sink.row(0).cast::<u32>().is_aligned()).then_some(stride)
    }
}
