//! Stores tiles of sums as elements of the output.

use half::f16;
use half::slice::HalfFloatSliceExt;
use hlo_runtime_core::{ElementCode, Number};

use super::{MR, NR};

/// The destination of a product: `m` rows of `n` elements.
pub(crate) trait Sink: Sync {
    /// Returns the element type.
    fn code(&self) -> ElementCode;
    /// Returns the distance between adjacent columns, in elements, if it is the same for all `n` columns from
    /// `j` on.
    fn column_stride(&self, j: usize, n: usize) -> Option<isize>;
    /// Returns the distance between adjacent rows, in elements, if it is the same for all rows.
    fn row_stride(&self) -> Option<isize>;
    /// Returns the address of the start of row `i`.
    fn row(&self, i: usize) -> *mut u8;
    /// Returns the offset of column `j` from the start of a row, in bytes.
    fn column(&self, j: usize) -> isize;
}

/// An output that is a strided matrix.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) pointer: *mut u8,
    pub(crate) code: ElementCode,
    /// Distance from one row to the next, in elements.
    pub(crate) row_stride: isize,
    /// Distance from one column to the next, in elements.
    pub(crate) column_stride: isize,
}

// SAFETY: tasks write disjoint elements.
unsafe impl Sync for Output {}

impl Sink for Output {
    fn code(&self) -> ElementCode {
        self.code
    }
    fn column_stride(&self, _: usize, _: usize) -> Option<isize> {
        Some(self.column_stride)
    }
    fn row_stride(&self) -> Option<isize> {
        Some(self.row_stride)
    }
    fn row(&self, i: usize) -> *mut u8 {
        let bytes = (i as isize).wrapping_mul(self.row_stride).wrapping_mul(self.code.byte_size() as isize);
        self.pointer.wrapping_offset(bytes)
    }
    fn column(&self, j: usize) -> isize {
        (j as isize).wrapping_mul(self.column_stride).wrapping_mul(self.code.byte_size() as isize)
    }
}

/// Rounds an f32 to bf16, with ties to even. NaNs stay NaNs.
#[inline(always)]
pub(crate) fn bf16_bits(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    if x.is_nan() { ((bits >> 16) | 0x40) as u16 } else { rounded as u16 }
}

/// Stores the first `columns` sums of each of `rows` rows of a tile at `[i0, j0]`. The rows of the tile are
/// `NR` sums apart.
///
/// # Safety
/// The tile must be readable and the elements writable.
pub(crate) unsafe fn store_tile<T: Number>(
    tile: *const T,
    sink: &impl Sink,
    [i0, j0]: [usize; 2],
    [rows, columns]: [usize; 2],
) {
    let (code, stride) = (sink.code(), sink.column_stride(j0, columns));
    let size = code.byte_size() as isize;
    let mut offsets = [sink.column(j0); NR];
    for (j, offset) in offsets.iter_mut().enumerate().take(columns) {
        *offset = match stride {
            Some(stride) => offset.wrapping_add((j as isize).wrapping_mul(stride).wrapping_mul(size)),
            None => sink.column(j0 + j),
        };
    }
    for i in 0..rows.min(MR) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let sums = tile.add(i * NR);
            let row = sink.row(i0 + i);
            let to = row.wrapping_offset(offsets[0]);
            match code {
                ElementCode::F32 | ElementCode::S32 | ElementCode::U32
                    if stride == Some(1) && size_of::<T>() == 4 =>
                {
                    std::ptr::copy_nonoverlapping(sums.cast::<u8>(), to, 4 * columns);
                }
                ElementCode::Bf16 if stride == Some(1) => {
                    for j in 0..columns {
                        let sum = f32_of(sums.add(j).read());
                        to.cast::<u16>().add(j).write_unaligned(bf16_bits(sum));
                    }
                }
                ElementCode::F16 if stride == Some(1) => {
                    let mut line = [0f32; NR];
                    for (j, to) in line.iter_mut().enumerate().take(columns) {
                        *to = f32_of(sums.add(j).read());
                    }
                    let mut halves = [f16::ZERO; NR];
                    halves.convert_from_f32_slice(&line);
                    std::ptr::copy_nonoverlapping(halves.as_ptr().cast::<u8>(), to, 2 * columns);
                }
                _ => {
                    for (j, &offset) in offsets.iter().enumerate().take(columns) {
                        sums.add(j).read().store(code, row.wrapping_offset(offset));
                    }
                }
            }
        }
    }
}

/// Returns the sum as an f32. Sums are always f32 if the output is floating-point.
#[inline(always)]
fn f32_of<T: Number>(sum: T) -> f32 {
    let mut value = 0f32;
    // SAFETY: `value` has room for an f32.
    unsafe { sum.store(ElementCode::F32, (&raw mut value).cast()) };
    value
}
