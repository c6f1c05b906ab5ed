//! Planes of elements: from memory of any layout to packed lines and back.

use crate::element::{ElementCode, Number};
use crate::gemm::{Format, transpose_words};

/// Elements in memory: those of a line, and the same line of each group (or feature, or position).
#[derive(Clone, Copy)]
pub(super) struct Strided {
    pub(super) code: ElementCode,
    /// Bytes from one element of a line to the next.
    pub(super) step: isize,
    /// Bytes from one group's line to the next group's.
    pub(super) group: isize,
    /// The number of groups.
    pub(super) groups: usize,
}

/// True if an element of type `code` is the same in memory and as a `T`, given that `T` is what such elements
/// accumulate in.
pub(super) fn is_same<T>(code: ElementCode) -> bool {
    use ElementCode::{C64, C128, F32, F64, S32, S64, U32, U64};
    size_of::<T>() == code.byte_size() && matches!(code, F32 | S32 | U32 | F64 | S64 | U64 | C64 | C128)
}

/// Calls `f` with the code, in copies of its own for the types that matter.
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

/// Copies bytes, a short line without a call.
///
/// # Safety
/// They must be readable, and `to` writable.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    const VECTOR: usize = 64;
    let whole = if bytes <= 8 * VECTOR { bytes / VECTOR * VECTOR } else { 0 };
    // SAFETY: the caller's promise.
    unsafe {
        for at in (0..whole).step_by(VECTOR) {
            to.add(at).cast::<[u8; VECTOR]>().write(from.wrapping_add(at).cast::<[u8; VECTOR]>().read());
        }
        if whole < bytes {
            std::ptr::copy_nonoverlapping(from.wrapping_add(whole), to.add(whole), bytes - whole);
        }
    }
}

/// As [`pack`], in vectors of `L` groups with zeros for those that there are fewer of.
///
/// # Safety
/// The elements must be readable, and `to` writable for `n` vectors of `L`.
pub(super) unsafe fn gather<T: Number, const L: usize>(
    s: Strided,
    from: *const u8,
    n: usize,
    to: *mut T,
    to_step: usize,
) {
    // SAFETY: the caller's promise.
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

/// `to[i * to_step + group] = from[i, group]` for `i < n`.
///
/// # Safety
/// The elements must be readable, and `to` writable.
pub(super) unsafe fn pack<T: Number>(s: Strided, from: *const u8, n: usize, to: *mut T, to_step: usize) {
    let size = size_of::<T>();
    // SAFETY: the caller's promise.
    unsafe {
        if is_same::<T>(s.code) && s.group == size as isize {
            if s.groups == to_step && s.step == (size * to_step) as isize {
                return std::ptr::copy_nonoverlapping(from, to.cast(), size * n * to_step);
            }
            for i in 0..n {
                copy(from.wrapping_offset(i as isize * s.step), to.add(i * to_step).cast(), size * s.groups);
            }
        } else if is_same::<T>(s.code) && size == 4 && s.step == 4 {
            transpose_words(from, s.group, s.groups, n, to.cast(), to_step);
        } else if let (ElementCode::F16, 2, Some(format)) = (s.code, s.group, Format::f32(s.code)) {
            for i in 0..if size == 4 { n } else { 0 } {
                let from = from.wrapping_offset(i as isize * s.step);
                format.fetch(from, 2, s.groups, to.add(i * to_step).cast());
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

/// `to[i, group] = from[i * from_step + group]` for `i < n`.
///
/// # Safety
/// The elements must be writable, and `from` readable for `n` vectors.
pub(super) unsafe fn scatter<T: Number>(s: Strided, from: *const T, from_step: usize, n: usize, to: *mut u8) {
    let (same, size) = (is_same::<T>(s.code), size_of::<T>());
    // SAFETY: the caller's promise.
    unsafe {
        if same && s.group == size as isize {
            for i in 0..n {
                let to = to.wrapping_offset(i as isize * s.step);
                copy(from.add(i * from_step).cast(), to, size * s.groups);
            }
        } else if same && size == 4 && s.step == 4 && s.group > 0 && to.cast::<u32>().is_aligned() {
            let stride = s.group as usize / 4;
            transpose_words(from.cast(), 4 * from_step as isize, n, s.groups, to.cast(), stride);
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
