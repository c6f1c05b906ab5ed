//! Planes of elements: packs lines from memory of any layout, and writes packed lines back.

use half::f16;
use half::slice::HalfFloatSliceExt;
use hlo_runtime_core::{ElementCode, Number};

use crate::gemm::{Format, bf16_bits, transpose_words};

/// Elements in memory: the elements of a line, for each group (or feature, or position).
#[derive(Clone, Copy)]
pub(super) struct Strided {
    pub(super) code: ElementCode,
    /// Distance from one element of a line to the next, in bytes.
    pub(super) step: isize,
    /// Distance from one group's line to the next group's, in bytes.
    pub(super) group: isize,
    /// The number of groups.
    pub(super) groups: usize,
}

impl Strided {
    /// Treats `n` elements of each line, packed `packed` elements apart, as one element of more lines, if
    /// they are contiguous on both sides. Returns the new lines and their number of elements.
    fn as_one_line(self, n: usize, packed: usize) -> (Strided, usize) {
        if self.groups == 1 && packed == 1 {
            return (Strided { group: self.step, groups: n, step: 0, ..self }, 1);
        }
        if self.groups == packed && self.step == self.group.wrapping_mul(packed as isize) {
            return (Strided { groups: n * packed, step: 0, ..self }, n.min(1));
        }
        (self, n)
    }
}

/// Returns whether an element of type `code` has the same representation in memory and as a `T`, where `T` is
/// the accumulator type of such elements.
pub(super) fn is_same<T>(code: ElementCode) -> bool {
    use ElementCode::{C64, C128, F32, F64, S32, S64, U32, U64};
    size_of::<T>() == code.byte_size() && matches!(code, F32 | S32 | U32 | F64 | S64 | U64 | C64 | C128)
}

/// Returns whether `code` is a half-precision type that accumulates in f32.
fn is_half<T>(code: ElementCode) -> bool {
    size_of::<T>() == 4 && matches!(code, ElementCode::Bf16 | ElementCode::F16)
}

/// The number of elements and of lines that are converted before they are transposed.
const CHUNK: usize = 64;
const LINES: usize = 16;

/// Rounds numbers to half precision.
///
/// # Safety
/// `from` must be readable, and `to` writable, for `n` elements.
pub unsafe fn round(code: ElementCode, from: *const f32, n: usize, to: *mut u8) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if code == ElementCode::F16 {
            for start in (0..n).step_by(CHUNK) {
                let count = CHUNK.min(n - start);
                let mut halves = [f16::ZERO; CHUNK];
                halves[..count].convert_from_f32_slice(std::slice::from_raw_parts(from.add(start), count));
                std::ptr::copy_nonoverlapping(halves.as_ptr().cast(), to.add(2 * start), 2 * count);
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            return round_avx512(from, n, to);
        }
        for i in 0..n {
            to.cast::<u16>().add(i).write_unaligned(bf16_bits(from.add(i).read()));
        }
    }
}

/// Implements [`round`] to bf16 with ties to even. NaNs stay NaNs.
///
/// # Safety
/// As for [`round`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn round_avx512(from: *const f32, n: usize, to: *mut u8) {
    use std::arch::x86_64::*;
    for i in (0..n).step_by(16) {
        let mask = if n - i < 16 { (1 << (n - i)) - 1 } else { u16::MAX };
        // SAFETY: only elements in the mask are read and written.
        unsafe {
            let x = _mm512_maskz_loadu_ps(mask, from.add(i));
            let bits = _mm512_castps_si512(x);
            let high = _mm512_srli_epi32::<16>(bits);
            let even = _mm512_and_si512(high, _mm512_set1_epi32(1));
            let half = _mm512_add_epi32(even, _mm512_set1_epi32(0x7fff));
            let rounded = _mm512_srli_epi32::<16>(_mm512_add_epi32(bits, half));
            let nan = _mm512_or_si512(high, _mm512_set1_epi32(0x40));
            let result = _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x), nan);
            _mm512_mask_cvtepi32_storeu_epi16(to.add(2 * i).cast(), mask, result);
        }
    }
}

/// Calls `f` with `code`. The common types get separate copies of `f`, in which the code is a constant.
#[inline(always)]
fn by_code<R>(code: ElementCode, f: impl Fn(ElementCode) -> R) -> R {
    match code {
        ElementCode::F32 => f(ElementCode::F32),
        ElementCode::Bf16 => f(ElementCode::Bf16),
        ElementCode::F16 => f(ElementCode::F16),
        ElementCode::F64 => f(ElementCode::F64),
        ElementCode::S8 => f(ElementCode::S8),
        _ => f(code),
    }
}

/// Copies bytes. Short lines are copied without a call.
///
/// # Safety
/// `from` must be readable for `bytes` bytes, and `to` writable.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    const VECTOR: usize = 64;
    let whole = if bytes <= 8 * VECTOR { bytes / VECTOR * VECTOR } else { 0 };
    // SAFETY: guaranteed by the caller.
    unsafe {
        for at in (0..whole).step_by(VECTOR) {
            to.add(at).cast::<[u8; VECTOR]>().write(from.wrapping_add(at).cast::<[u8; VECTOR]>().read());
        }
        if whole < bytes {
            std::ptr::copy_nonoverlapping(from.wrapping_add(whole), to.add(whole), bytes - whole);
        }
    }
}

/// As [`pack`], in vectors of `L` groups, with zeros for missing groups.
///
/// # Safety
/// The elements must be readable, and `to` writable for `n` vectors of `L` elements.
pub(super) unsafe fn gather<T: Number, const L: usize>(
    s: Strided,
    from: *const u8,
    n: usize,
    to: *mut T,
    to_step: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if s.groups == L && is_same::<T>(s.code) && s.group == size_of::<T>() as isize {
            for i in 0..n {
                let from = from.wrapping_offset(i as isize * s.step).cast::<[T; L]>();
                to.add(i * to_step).cast::<[T; L]>().write(from.read_unaligned());
            }
            return;
        }
        for i in 0..if s.groups < L { n } else { 0 } {
            (s.groups..L).for_each(|group| to.add(i * to_step + group).write(T::ZERO));
        }
        pack(s, from, n, to, to_step);
    }
}

/// Sets `to[i * to_step + group]` to `from[i, group]` for `i < n`.
///
/// # Safety
/// The elements must be readable, and `to` writable.
pub(super) unsafe fn pack<T: Number>(s: Strided, from: *const u8, n: usize, to: *mut T, to_step: usize) {
    let size = size_of::<T>();
    let (s, n) = s.as_one_line(n, to_step);
    // SAFETY: guaranteed by the caller.
    unsafe {
        if is_same::<T>(s.code) && s.group == size as isize {
            for i in 0..n {
                copy(from.wrapping_offset(i as isize * s.step), to.add(i * to_step).cast(), size * s.groups);
            }
        } else if is_same::<T>(s.code) && size == 4 && s.step == 4 {
            transpose_words(from, s.group, s.groups, n, to.cast(), to_step);
        } else if let Some(format) = Format::f32(s.code).filter(|_| is_half::<T>(s.code)) {
            let to = to.cast::<u32>();
            if s.group == 2 || s.step != 2 {
                for i in 0..n {
                    let from = from.wrapping_offset(i as isize * s.step);
                    format.fetch(from, s.group, s.groups, to.add(i * to_step).cast());
                }
                return;
            }
            let mut block = [[0u32; CHUNK]; LINES];
            for first in (0..s.groups).step_by(LINES) {
                for start in (0..n).step_by(CHUNK) {
                    let (lines, count) = (LINES.min(s.groups - first), CHUNK.min(n - start));
                    for (g, line) in block.iter_mut().enumerate().take(lines) {
                        let offset = (first + g) as isize * s.group + start as isize * 2;
                        format.fetch(from.wrapping_offset(offset), 2, count, line.as_mut_ptr().cast());
                    }
                    let to = to.add(start * to_step + first);
                    transpose_words(block.as_ptr().cast(), 4 * CHUNK as isize, lines, count, to, to_step);
                }
            }
        } else {
            by_code(s.code, |code| {
                for i in 0..n {
                    let from = from.wrapping_offset(i as isize * s.step);
                    for group in 0..s.groups {
                        let value = T::load(code, from.wrapping_offset(group as isize * s.group));
                        to.add(i * to_step + group).write(value);
                    }
                }
            });
        }
    }
}

/// Sets `to[i, group]` to `from[i * from_step + group]` for `i < n`.
///
/// # Safety
/// The elements must be writable, and `from` readable for `n` vectors.
pub(super) unsafe fn scatter<T: Number>(s: Strided, from: *const T, from_step: usize, n: usize, to: *mut u8) {
    let (same, size) = (is_same::<T>(s.code), size_of::<T>());
    let (s, n) = s.as_one_line(n, from_step);
    // SAFETY: guaranteed by the caller.
    unsafe {
        if same && s.group == size as isize {
            for i in 0..n {
                let to = to.wrapping_offset(i as isize * s.step);
                copy(from.add(i * from_step).cast(), to, size * s.groups);
            }
        } else if same && size == 4 && s.step == 4 && s.group > 0 && to.cast::<u32>().is_aligned() {
            let stride = s.group as usize / 4;
            transpose_words(from.cast(), 4 * from_step as isize, n, s.groups, to.cast(), stride);
        } else if is_half::<T>(s.code) && (s.group == 2 || s.step == 2) {
            let from = from.cast::<f32>();
            if s.group == 2 {
                for i in 0..n {
                    round(s.code, from.add(i * from_step), s.groups, to.wrapping_offset(i as isize * s.step));
                }
                return;
            }
            let mut block = [[0f32; CHUNK]; LINES];
            for first in (0..s.groups).step_by(LINES) {
                for start in (0..n).step_by(CHUNK) {
                    let (lines, count) = (LINES.min(s.groups - first), CHUNK.min(n - start));
                    let from = from.add(start * from_step + first);
                    let words = block.as_mut_ptr().cast::<u32>();
                    transpose_words(from.cast(), 4 * from_step as isize, count, lines, words, CHUNK);
                    for (g, line) in block.iter().enumerate().take(lines) {
                        let offset = (first + g) as isize * s.group + start as isize * 2;
                        round(s.code, line.as_ptr(), count, to.wrapping_offset(offset));
                    }
                }
            }
        } else {
            by_code(s.code, |code| {
                for i in 0..n {
                    let to = to.wrapping_offset(i as isize * s.step);
                    for group in 0..s.groups {
                        let value = from.add(i * from_step + group).read();
                        value.store(code, to.wrapping_offset(group as isize * s.group));
                    }
                }
            });
        }
    }
}
