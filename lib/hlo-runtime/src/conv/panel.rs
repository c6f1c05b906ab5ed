//! Panels of a product from rows of memory. Adjacent elements, whether of neighboring rows or neighboring
//! terms, are read in vectors.

use std::mem::MaybeUninit;

use crate::gemm::{Format, transpose_words};

/// The number of terms that are gathered before they are transposed.
const CHUNK: usize = 64;
/// The minimum number of terms that are transposed in vectors.
const MIN_VECTOR_TERMS: usize = 8;

/// The rows of a panel, at most 64.
pub(super) struct Panel<const P: usize> {
    rows: [*const u8; P],
    count: usize,
    /// Distance from each row to the next in bytes, if it is the same for all.
    apart: Option<isize>,
}

impl<const P: usize> Panel<P> {
    pub(super) fn new(count: usize, row: impl FnMut(usize) -> *const u8) -> Panel<P> {
        let mut rows = [std::ptr::null(); P];
        rows.iter_mut().take(count).zip((0..count).map(row)).for_each(|(to, row)| *to = row);
        let distance = |w: &[*const u8]| (w[1] as isize).wrapping_sub(w[0] as isize);
        let apart = match &rows[..count] {
            [] | [_] => Some(0),
            rows => Some(distance(&rows[..2])).filter(|&d| rows.windows(2).all(|w| distance(w) == d)),
        };
        Panel { rows, count, apart }
    }

    /// Returns a mask of all rows.
    pub(super) fn all(&self) -> u64 {
        u64::MAX.checked_shr(64 - self.count as u32).unwrap_or(0)
    }

    /// Packs `n` terms as `[term][row]`. The terms start at `offset` bytes and are `step` bytes apart. Rows
    /// that are not in `present` become zeros.
    ///
    /// # Safety
    /// The elements of the rows in `present` must be readable, and `to` must be writable for `n * P` words.
    pub(super) unsafe fn pack(
        &self,
        format: &Format,
        present: u64,
        [offset, step]: [isize; 2],
        n: usize,
        to: *mut u32,
    ) {
        let whole = self.count == P && present == self.all();
        let word = format.is_word();
        // SAFETY: guaranteed by the caller.
        unsafe {
            if present == 0 {
                to.write_bytes(0, n * P);
            } else if self.apart == Some(format.source() as isize) {
                let from = self.rows[0].wrapping_offset(offset);
                if word {
                    pack_neighbors::<P>(from, step, if whole { None } else { Some(present) }, n, to);
                } else {
                    self.fetch_neighbors(format, present, from, step, n, to);
                }
            } else if word && (n < MIN_VECTOR_TERMS || step != 4) {
                for (r, row) in self.rows.iter().enumerate() {
                    let there = present >> r & 1 != 0;
                    for i in 0..n {
                        let from = row.wrapping_offset(offset + i as isize * step).cast::<u32>();
                        to.add(i * P + r).write(if there { from.read_unaligned() } else { 0 });
                    }
                }
            } else if let (true, true, Some(apart)) = (whole, word, self.apart) {
                transpose_words(self.rows[0].wrapping_offset(offset), apart, P, n, to, P);
            } else {
                for start in (0..n).step_by(CHUNK) {
                    let count = CHUNK.min(n - start);
                    let offset = offset + start as isize * step;
                    self.transpose(format, present, [offset, step], count, to.add(start * P));
                }
            }
        }
    }

    /// Packs rows that are adjacent in memory and whose elements are not words.
    ///
    /// # Safety
    /// As for [`Panel::pack`].
    unsafe fn fetch_neighbors(
        &self,
        format: &Format,
        present: u64,
        from: *const u8,
        step: isize,
        n: usize,
        to: *mut u32,
    ) {
        let source = format.source() as isize;
        for i in 0..n {
            let from = from.wrapping_offset(i as isize * step);
            let to = to.wrapping_add(i * P);
            // SAFETY: guaranteed by the caller; only runs of rows in `present` are read.
            unsafe {
                if self.count < P || present != self.all() {
                    to.write_bytes(0, P);
                }
                let (mut row, mut rest) = (0, present);
                while rest != 0 {
                    row += rest.trailing_zeros() as usize;
                    rest = present >> row;
                    let count = rest.trailing_ones() as usize;
                    format.fetch(
                        from.wrapping_offset(row as isize * source),
                        source,
                        count,
                        to.add(row).cast(),
                    );
                    row += count;
                    rest = present.checked_shr(row as u32).unwrap_or(0);
                }
            }
        }
    }

    /// Converts up to [`CHUNK`] terms of each row, then transposes them.
    ///
    /// # Safety
    /// As for [`Panel::pack`].
    unsafe fn transpose(
        &self,
        format: &Format,
        present: u64,
        [offset, step]: [isize; 2],
        n: usize,
        to: *mut u32,
    ) {
        let mut block = [const { MaybeUninit::<[u32; CHUNK]>::uninit() }; P];
        for (r, (line, row)) in block.iter_mut().zip(self.rows).enumerate() {
            // SAFETY: guaranteed by the caller.
            unsafe {
                if present >> r & 1 != 0 {
                    format.fetch(row.wrapping_offset(offset), step, n, line.as_mut_ptr().cast());
                } else {
                    line.as_mut_ptr().write_bytes(0, 1);
                }
            }
        }
        // SAFETY: the first `n` words of each line are written.
        unsafe { transpose_words(block.as_ptr().cast(), 4 * CHUNK as isize, P, n, to, P) };
    }
}

/// Copies `n` vectors of `P` words that are `step` bytes apart. With a mask, copies only its words and sets
/// the others to zero.
///
/// # Safety
/// The words in the mask must be readable, and `to` must be writable for `n * P` words.
unsafe fn pack_neighbors<const P: usize>(
    from: *const u8,
    step: isize,
    mask: Option<u64>,
    n: usize,
    to: *mut u32,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(mask) = mask else {
            for i in 0..n {
                let from = from.wrapping_offset(i as isize * step).cast::<[u32; P]>();
                to.add(i * P).cast::<[u32; P]>().write(from.read_unaligned());
            }
            return;
        };
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            return masked_avx512::<P>(from, step, mask, n, to);
        }
        for i in 0..n {
            let from = from.wrapping_offset(i as isize * step).cast::<u32>();
            for r in 0..P {
                let there = mask >> r & 1 != 0;
                to.add(i * P + r).write(if there { from.wrapping_add(r).read_unaligned() } else { 0 });
            }
        }
    }
}

/// # Safety
/// As for [`pack_neighbors`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn masked_avx512<const P: usize>(from: *const u8, step: isize, mask: u64, n: usize, to: *mut u32) {
    use std::arch::x86_64::*;
    for i in 0..n {
        let from = from.wrapping_offset(i as isize * step).cast::<i32>();
        for r in (0..P).step_by(16) {
            let room = if P - r < 16 { (1 << (P - r)) - 1 } else { u16::MAX };
            // SAFETY: only words in the mask are read, and only words of the vector are written.
            unsafe {
                let words = _mm512_maskz_loadu_epi32((mask >> r) as u16 & room, from.wrapping_add(r));
                _mm512_mask_storeu_epi32(to.add(i * P + r).cast(), room, words);
            }
        }
    }
}
