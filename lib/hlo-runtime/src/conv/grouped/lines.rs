//! Lines of elements of many groups at once: from memory of any layout to vectors of groups and back.

use crate::element::{ElementCode, Number};
use crate::gemm::transpose_words;

/// Elements in memory: those of a line, and the same line of each group.
#[derive(Clone, Copy)]
pub(super) struct Strided {
    pub(super) code: ElementCode,
    /// Bytes from one element of a line to the next.
    pub(super) step: isize,
    /// Bytes from one group's line to the next group's.
    pub(super) group: isize,
    /// The number of groups, at most as many as there are lanes.
    pub(super) groups: usize,
}

/// True if an element of type `code` is a word of 32 bits that is the same in memory and as a `T`.
fn is_word<T>(code: ElementCode) -> bool {
    size_of::<T>() == 4 && matches!(code, ElementCode::F32 | ElementCode::S32 | ElementCode::U32)
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

/// `to[i * to_step + group] = from[i, group]` for `i < n`, with zeros for groups up to `L`.
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
        if s.groups < L {
            for i in 0..n {
                (s.groups..L).for_each(|group| to.add(i * to_step + group).write(T::ZERO));
            }
        }
        if is_word::<T>(s.code) && s.group == 4 {
            for i in 0..n {
                let from = from.wrapping_offset(i as isize * s.step).cast::<T>();
                let to = to.add(i * to_step);
                if s.groups == L {
                    to.cast::<[T; L]>().write(from.cast::<[T; L]>().read_unaligned());
                } else {
                    std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), 4 * s.groups);
                }
            }
        } else if is_word::<T>(s.code) && s.step == 4 {
            transpose_words(from, s.group, s.groups, n, to.cast(), to_step);
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
    let word = is_word::<T>(s.code);
    // SAFETY: the caller's promise.
    unsafe {
        if word && s.group == 4 {
            for i in 0..n {
                let to = to.wrapping_offset(i as isize * s.step);
                std::ptr::copy_nonoverlapping(from.add(i * from_step).cast::<u8>(), to, 4 * s.groups);
            }
        } else if word && s.step == 4 && s.group > 0 && to.cast::<u32>().is_aligned() {
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
