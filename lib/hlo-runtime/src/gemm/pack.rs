//! Packing: from strided operands of any element type to panels of words.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use hlo_runtime_core::ElementCode;

use super::NR;
use super::transpose::transpose_words;

/// An operand of a product that can be packed: rows of the left one, columns of the right one.
pub(crate) trait Panels: Sync {
    /// Writes the panel of `P` rows (or columns) from `first` on, words `word..word + words`, as `[word][P]`;
    /// what lies outside the operand is zero.
    ///
    /// # Safety
    /// `to` must be writable for `words * P` words, and the operand readable.
    unsafe fn pack<const P: usize>(&self, first: usize, word: usize, words: usize, to: *mut u32);

    /// The operand as it lies in memory, if its elements are words as they are.
    fn direct(&self) -> Option<Direct> {
        None
    }
}

/// An operand that a kernel can read without packing.
#[derive(Clone, Copy)]
pub(crate) struct Direct {
    pub(crate) pointer: *const u32,
    /// Words from one row (or column) to the next.
    pub(crate) outer: isize,
    /// Words from one contracted element to the next.
    pub(crate) word: isize,
}

// SAFETY: the operand is only read.
unsafe impl Sync for Direct {}

/// Reads `n` elements, `stride` bytes apart, converts them to the kernel's type and writes them one after the
/// other.
type Fetch = unsafe fn(from: *const u8, stride: isize, n: usize, to: *mut u8);

/// A two-dimensional strided operand.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) pointer: *const u8,
    /// The number of rows of a left operand, of columns of a right one.
    pub(crate) outer: usize,
    /// Bytes from one of them to the next.
    pub(crate) outer_stride: isize,
    /// The contracted size.
    pub(crate) k: usize,
    /// Bytes from one contracted element to the next.
    pub(crate) k_stride: isize,
    pub(crate) format: Format,
}

// SAFETY: the operand is only read.
unsafe impl Sync for Rows {}

/// How elements in memory become elements of words.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    fetch: Fetch,
    /// Bytes of an element in memory.
    source: usize,
    /// Bytes of an element in a word: 4, 2 or 1.
    element: usize,
    /// True when the bits are the same in memory and in the word.
    direct: bool,
}

/// Words that are gathered before they are transposed.
const CHUNK: usize = 32;

impl Panels for Rows {
    fn direct(&self) -> Option<Direct> {
        let pointer = self.pointer.cast::<u32>();
        let whole = |bytes: isize| bytes % 4 == 0;
        let words = self.format.is_word() && whole(self.outer_stride) && whole(self.k_stride);
        (words && pointer.is_aligned()).then_some(Direct {
            pointer,
            outer: self.outer_stride / 4,
            word: self.k_stride / 4,
        })
    }

    unsafe fn pack<const P: usize>(&self, first: usize, word: usize, words: usize, to: *mut u32) {
        let per_word = 4 / self.format.element;
        let rows = self.outer.saturating_sub(first).min(P);
        let k0 = (word * per_word).min(self.k);
        let elements = (self.k - k0).min(words * per_word);
        // SAFETY: `first` and `k0` are inside the operand, or nothing is read.
        unsafe {
            let from = self
                .pointer
                .wrapping_offset((first as isize).wrapping_mul(self.outer_stride))
                .wrapping_offset((k0 as isize).wrapping_mul(self.k_stride));
            if self.k_stride.unsigned_abs() <= self.outer_stride.unsigned_abs() {
                self.pack_along_k::<P>(from, rows, elements, words, to);
            } else {
                self.pack_along_rows::<P>(from, rows, elements, words, to);
            }
        }
    }
}

impl Rows {
    /// For operands whose contracted elements are neighbours in memory: a transposition of words.
    ///
    /// # Safety
    /// `rows` by `elements` elements must be readable from `from`, and `to` as in [`Panels::pack`].
    unsafe fn pack_along_k<const P: usize>(
        &self,
        from: *const u8,
        rows: usize,
        elements: usize,
        words: usize,
        to: *mut u32,
    ) {
        let Format { fetch, source, element, direct } = self.format;
        let per_word = 4 / element;
        // SAFETY: the caller's promise; the temporary block holds P rows of CHUNK words.
        unsafe {
            let mut done = 0;
            if direct && self.k_stride == source as isize && rows == P {
                done = elements / per_word;
                transpose_words(from, self.outer_stride, P, done, to, P);
            }
            let mut block = [[0u32; CHUNK]; NR];
            while done < words {
                let n = (words - done).min(CHUNK);
                let k = done * per_word;
                let present = elements.saturating_sub(k).min(n * per_word);
                for (r, row) in block.iter_mut().enumerate().take(rows) {
                    if present < n * per_word {
                        row.fill(0);
                    }
                    let from = from
                        .wrapping_offset(r as isize * self.outer_stride)
                        .wrapping_offset(k as isize * self.k_stride);
                    fetch(from, self.k_stride, present, row.as_mut_ptr().cast());
                }
                transpose_words(block.as_ptr().cast(), 4 * CHUNK as isize, P, n, to.add(done * P), P);
                done += n;
            }
        }
    }

    /// For operands whose rows are neighbours in memory: `per_word` rows of elements are interleaved.
    ///
    /// # Safety
    /// As for [`Rows::pack_along_k`].
    unsafe fn pack_along_rows<const P: usize>(
        &self,
        from: *const u8,
        rows: usize,
        elements: usize,
        words: usize,
        to: *mut u32,
    ) {
        let Format { fetch, source, element, direct } = self.format;
        let per_word = 4 / element;
        let in_place = direct && self.outer_stride == source as isize && rows == P;
        // Rows of at most four bytes an element; what is never written stays zero.
        let (mut temporary, zero) = ([[0u32; NR]; 4], [0u32; NR]);
        for w in 0..words {
            // SAFETY: the caller's promise; the temporary rows hold P elements.
            unsafe {
                let mut lines = [zero.as_ptr().cast::<u8>(); 4];
                for (p, line) in lines.iter_mut().enumerate().take(per_word) {
                    let k = w * per_word + p;
                    let from = from.wrapping_offset((k as isize).wrapping_mul(self.k_stride));
                    if k < elements {
                        *line = temporary[p].as_ptr().cast();
                    }
                    if k < elements && in_place {
                        *line = from;
                    } else if k < elements {
                        fetch(from, self.outer_stride, rows, temporary[p].as_mut_ptr().cast());
                    }
                }
                interleave::<P>(lines, element, to.add(w * P));
            }
        }
    }
}

/// `to[i]` = element `i` of each line, the first line lowest.
///
/// # Safety
/// The first `4 / element` lines must hold `P` elements each, and `to` take `P` words.
#[inline(always)]
unsafe fn interleave<const P: usize>(lines: [*const u8; 4], element: usize, to: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match element {
            1 => {
                let [a, b, c, d] = lines.map(|l| l.cast::<[u8; P]>().read_unaligned());
                for i in 0..P {
                    *to.add(i) = u32::from_le_bytes([a[i], b[i], c[i], d[i]]);
                }
            }
            2 => {
                let a = lines[0].cast::<[u16; P]>().read_unaligned();
                let b = lines[1].cast::<[u16; P]>().read_unaligned();
                for i in 0..P {
                    *to.add(i) = u32::from(a[i]) | (u32::from(b[i]) << 16);
                }
            }
            _ => std::ptr::copy_nonoverlapping(lines[0], to.cast::<u8>(), 4 * P),
        }
    }
}

/// Reads, converts and writes elements one by one.
///
/// # Safety
/// The elements must be readable and writable.
#[inline(always)]
unsafe fn fetch<S: Copy, D>(from: *const u8, stride: isize, n: usize, to: *mut u8, f: impl Fn(S) -> D) {
    let to = to.cast::<D>();
    // SAFETY: the caller's promise.
    unsafe {
        if stride == size_of::<S>() as isize {
            for i in 0..n {
                to.add(i).write(f(from.cast::<S>().add(i).read_unaligned()));
            }
        } else {
            for i in 0..n {
                to.add(i).write(f(from.wrapping_offset(i as isize * stride).cast::<S>().read_unaligned()));
            }
        }
    }
}

/// Half precision to single, with the processor's conversion where elements are neighbours.
///
/// # Safety
/// As for [`Fetch`].
unsafe fn f32_from_f16(from: *const u8, stride: isize, n: usize, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        if stride == 2 && from.cast::<f16>().is_aligned() {
            let from = std::slice::from_raw_parts(from.cast::<f16>(), n);
            from.convert_to_f32_slice(std::slice::from_raw_parts_mut(to.cast(), n));
        } else {
            fetch(from, stride, n, to, f16::to_f32);
        }
    }
}

macro_rules! format {
    ($source:ty => $element:ty, direct) => {
        Format {
            fetch: |from, stride, n, to| {
                // SAFETY: the promise of `Fetch`.
                unsafe { fetch::<$source, $element>(from, stride, n, to, |x| x) }
            },
            source: size_of::<$source>(),
            element: size_of::<$element>(),
            direct: true,
        }
    };
    ($source:ty => $element:ty, $convert:expr) => {
        Format {
            fetch: |from, stride, n, to| {
                // SAFETY: the promise of `Fetch`.
                unsafe { fetch::<$source, $element>(from, stride, n, to, $convert) }
            },
            source: size_of::<$source>(),
            element: size_of::<$element>(),
            direct: false,
        }
    };
}

impl Format {
    /// Bytes of an element in memory.
    pub(crate) fn source(&self) -> usize {
        self.source
    }

    /// True when elements in memory are words as they are.
    pub(crate) fn is_word(&self) -> bool {
        self.direct && self.element == 4
    }

    /// Reads `n` elements, `stride` bytes apart, and writes them as elements of words.
    ///
    /// # Safety
    /// The elements must be readable, and `to` writable.
    pub(crate) unsafe fn fetch(&self, from: *const u8, stride: isize, n: usize, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { (self.fetch)(from, stride, n, to) }
    }

    /// To words of one f32; `None` for types that f32 does not hold.
    pub(crate) fn f32(code: ElementCode) -> Option<Format> {
        match code {
            ElementCode::F32 => Some(format!(u32 => u32, direct)),
            ElementCode::Bf16 => Some(format!(bf16 => u32, |x| u32::from(x.to_bits()) << 16)),
            ElementCode::F16 => Some(Format { fetch: f32_from_f16, source: 2, element: 4, direct: false }),
            _ => None,
        }
    }

    /// Pairs of bf16.
    pub(crate) fn bf16() -> Format {
        format!(u16 => u16, direct)
    }

    /// Four bytes, as they are.
    pub(crate) fn bytes() -> Format {
        format!(u8 => u8, direct)
    }

    /// Four signed bytes plus 128, which makes them unsigned.
    pub(crate) fn biased_bytes() -> Format {
        format!(u8 => u8, |x| x ^ 0x80)
    }

    /// Pairs of i16; `None` for types that i16 does not hold.
    pub(crate) fn pairs(code: ElementCode) -> Option<Format> {
        match code {
            ElementCode::S16 => Some(format!(u16 => u16, direct)),
            ElementCode::S8 => Some(format!(i8 => i16, i16::from)),
            ElementCode::U8 | ElementCode::Pred => Some(format!(u8 => i16, i16::from)),
            _ => None,
        }
    }

    /// To words of one i32, modulo 2^32; `None` for types that are not integers.
    pub(crate) fn i32(code: ElementCode) -> Option<Format> {
        match code {
            ElementCode::Pred | ElementCode::U8 => Some(format!(u8 => u32, u32::from)),
            ElementCode::S8 => Some(format!(i8 => i32, i32::from)),
            ElementCode::S16 => Some(format!(i16 => i32, i32::from)),
            ElementCode::U16 => Some(format!(u16 => u32, u32::from)),
            ElementCode::S32 | ElementCode::U32 => Some(format!(u32 => u32, direct)),
            ElementCode::S64 | ElementCode::U64 => Some(format!(u64 => u32, |x| x as u32)),
            _ => None,
        }
    }
}
