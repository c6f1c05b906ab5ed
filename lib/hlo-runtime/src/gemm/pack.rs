//! Packing: converts strided operands of any element type to panels of words.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use hlo_runtime_core::{ElementCode, Error, Scratch};

use super::NR;
use super::transpose::transpose_words;

/// An operand of a product that can be packed: the rows of the left operand or the columns of the right one.
pub(crate) trait Panels: Sync {
    /// Writes words `word..word + words` of the panel of `P` rows (or columns) from `first` on, as
    /// `[word][P]`. Words outside the operand are zero.
    ///
    /// # Safety
    /// `to` must be writable for `words * P` words, and the operand readable.
    unsafe fn pack<const P: usize>(&self, first: usize, word: usize, words: usize, to: *mut u32);

    /// Returns the operand in its memory layout, if its elements are already words.
    fn direct(&self) -> Option<Direct> {
        None
    }
}

/// An operand that a kernel can read without packing.
#[derive(Clone, Copy)]
pub(crate) struct Direct {
    pub(crate) pointer: *const u32,
    /// Distance from one row (or column) to the next, in words.
    pub(crate) outer: isize,
    /// Distance from one contracted element to the next, in words.
    pub(crate) word: isize,
}

// SAFETY: the operand is only read.
unsafe impl Sync for Direct {}

/// Allocates `panels` panels of `words` by `width` words.
pub(super) fn packed(panels: usize, words: usize, width: usize) -> Result<Scratch, Error> {
    let total = panels.checked_mul(words).and_then(|w| w.checked_mul(width));
    Scratch::new::<u32>(total.ok_or_else(|| Error("a packed operand does not fit the address space".into()))?)
}

/// Reads `n` elements that are `stride` bytes apart, converts them to the kernel's type, and writes them
/// consecutively.
type Fetch = unsafe fn(from: *const u8, stride: isize, n: usize, to: *mut u8);

/// A two-dimensional strided operand.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) pointer: *const u8,
    /// The number of rows of a left operand, or of columns of a right operand.
    pub(crate) outer: usize,
    /// Distance from one row (or column) to the next, in bytes.
    pub(crate) outer_stride: isize,
    /// The size of the contracted dimension.
    pub(crate) k: usize,
    /// Distance from one contracted element to the next, in bytes.
    pub(crate) k_stride: isize,
    pub(crate) format: Format,
}

// SAFETY: the operand is only read.
unsafe impl Sync for Rows {}

/// The conversion from elements in memory to elements of words.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    fetch: Fetch,
    /// The size of an element in memory, in bytes.
    source: usize,
    /// The size of an element in a word, in bytes: 4, 2 or 1.
    element: usize,
    /// Whether the bits in memory and in the word are the same.
    direct: bool,
}

/// The number of words that are gathered before they are transposed.
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
    /// Packs operands whose contracted elements are adjacent in memory, by transposing words.
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
        // SAFETY: guaranteed by the caller; the temporary block has room for P rows of CHUNK words.
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

    /// Packs operands whose rows are adjacent in memory, by interleaving `per_word` rows of elements.
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
        // Rows of at most four bytes per element. Parts that are never written stay zero.
        let (mut temporary, zero) = ([[0u32; NR]; 4], [0u32; NR]);
        for w in 0..words {
            // SAFETY: guaranteed by the caller; the temporary rows have room for P elements.
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

/// Sets `to[i]` to element `i` of each line, with the first line in the lowest bits.
///
/// # Safety
/// The first `4 / element` lines must have `P` elements each, and `to` must have room for `P` words.
#[inline(always)]
unsafe fn interleave<const P: usize>(lines: [*const u8; 4], element: usize, to: *mut u32) {
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: guaranteed by the caller.
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

/// Converts half precision to single precision, with the processor's instruction if the elements are
/// adjacent.
///
/// # Safety
/// As for [`Fetch`].
unsafe fn f32_from_f16(from: *const u8, stride: isize, n: usize, to: *mut u8) {
    // SAFETY: guaranteed by the caller.
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
                // SAFETY: guaranteed by the caller of `Fetch`.
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
                // SAFETY: guaranteed by the caller of `Fetch`.
                unsafe { fetch::<$source, $element>(from, stride, n, to, $convert) }
            },
            source: size_of::<$source>(),
            element: size_of::<$element>(),
            direct: false,
        }
    };
}

impl Format {
    /// Returns the size of an element in memory, in bytes.
    pub(crate) fn source(&self) -> usize {
        self.source
    }

    /// Returns whether the elements in memory are already words.
    pub(crate) fn is_word(&self) -> bool {
        self.direct && self.element == 4
    }

    /// Reads `n` elements that are `stride` bytes apart, and writes them as elements of words.
    ///
    /// # Safety
    /// The elements must be readable, and `to` writable.
    pub(crate) unsafe fn fetch(&self, from: *const u8, stride: isize, n: usize, to: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.fetch)(from, stride, n, to) }
    }

    /// Returns the conversion to words of one f32, or `None` for types that f32 cannot represent.
    pub(crate) fn f32(code: ElementCode) -> Option<Format> {
        match code {
            ElementCode::F32 => Some(format!(u32 => u32, direct)),
            ElementCode::Bf16 => Some(format!(bf16 => u32, |x| u32::from(x.to_bits()) << 16)),
            ElementCode::F16 => Some(Format { fetch: f32_from_f16, source: 2, element: 4, direct: false }),
            _ => None,
        }
    }

    /// Returns the format of pairs of bf16.
    pub(crate) fn bf16() -> Format {
        format!(u16 => u16, direct)
    }

    /// Returns the format of four unchanged bytes.
    pub(crate) fn bytes() -> Format {
        format!(u8 => u8, direct)
    }

    /// Returns the format of four signed bytes plus 128, which makes them unsigned.
    pub(crate) fn biased_bytes() -> Format {
        format!(u8 => u8, |x| x ^ 0x80)
    }

    /// Returns the conversion to pairs of i16, or `None` for types that i16 cannot represent.
    pub(crate) fn pairs(code: ElementCode) -> Option<Format> {
        match code {
            ElementCode::S16 => Some(format!(u16 => u16, direct)),
            ElementCode::S8 => Some(format!(i8 => i16, i16::from)),
            ElementCode::U8 | ElementCode::Pred => Some(format!(u8 => i16, i16::from)),
            _ => None,
        }
    }

    /// Returns the conversion to words of one i32, modulo 2^32, or `None` for types that are not integers.
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
