//! From tiles of sums to the output's elements.

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{MR, NR};
use crate::element::{ElementCode, Number};

/// Where a product's results go: `m` rows of `n` elements.
pub(crate) trait Sink: Sync {
    /// The element type.
    fn code(&self) -> ElementCode;
    /// Elements from one column to the next.
    fn column_stride(&self) -> isize;
    /// Elements from one row to the next where that is the same for all rows.
    fn row_stride(&self) -> Option<isize>;
    /// Where row `i` starts.
    fn row(&self, i: usize) -> *mut u8;
}

/// A strided matrix as the output.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) pointer: *mut u8,
    pub(crate) code: ElementCode,
    /// Elements from one row to the next.
    pub(crate) row_stride: isize,
    /// Elements from one column to the next.
    pub(crate) column_stride: isize,
}

// SAFETY: tasks write disjoint elements.
unsafe impl Sync for Output {}

impl Sink for Output {
    fn code(&self) -> ElementCode {
        self.code
    }
    fn column_stride(&self) -> isize {
        self.column_stride
    }
    fn row_stride(&self) -> Option<isize> {
        Some(self.row_stride)
    }
    fn row(&self, i: usize) -> *mut u8 {
        let bytes = (i as isize).wrapping_mul(self.row_stride).wrapping_mul(self.code.byte_size() as isize);
        self.pointer.wrapping_offset(bytes)
    }
}

/// Rounds an f32 to bf16, ties to even; NaNs stay NaNs.
#[inline(always)]
fn bf16_bits(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    if x.is_nan() { ((bits >> 16) | 0x40) as u16 } else { rounded as u16 }
}

/// Stores the first `columns` sums of each of `rows` rows of a tile (`NR` sums apart) at `[i0, j0]`.
///
/// # Safety
/// The tile must be readable and the elements writable.
pub(crate) unsafe fn store_tile<T: Number>(
    tile: *const T,
    sink: &impl Sink,
    [i0, j0]: [usize; 2],
    [rows, columns]: [usize; 2],
) {
    let (code, stride) = (sink.code(), sink.column_stride());
    let size = code.byte_size() as isize;
    for i in 0..rows.min(MR) {
        // SAFETY: the caller's promise.
        unsafe {
            let sums = tile.add(i * NR);
            let to = sink.row(i0 + i).wrapping_offset((j0 as isize).wrapping_mul(stride).wrapping_mul(size));
            match code {
                ElementCode::F32 | ElementCode::S32 | ElementCode::U32
                    if stride == 1 && size_of::<T>() == 4 =>
                {
                    std::ptr::copy_nonoverlapping(sums.cast::<u8>(), to, 4 * columns);
                }
                ElementCode::Bf16 if stride == 1 => {
                    for j in 0..columns {
                        let sum = f32_of(sums.add(j).read());
                        to.cast::<u16>().add(j).write_unaligned(bf16_bits(sum));
                    }
                }
                ElementCode::F16 if stride == 1 => {
                    let mut line = [0f32; NR];
                    for (j, to) in line.iter_mut().enumerate().take(columns) {
                        *to = f32_of(sums.add(j).read());
                    }
                    let mut halves = [f16::ZERO; NR];
                    halves.convert_from_f32_slice(&line);
                    std::ptr::copy_nonoverlapping(halves.as_ptr().cast::<u8>(), to, 2 * columns);
                }
                _ => {
                    for j in 0..columns {
                        let to = to.wrapping_offset((j as isize).wrapping_mul(stride).wrapping_mul(size));
                        sums.add(j).read().store(code, to);
                    }
                }
            }
        }
    }
}

/// The sum as an f32 (it is one wherever the output is a float).
#[inline(always)]
fn f32_of<T: Number>(sum: T) -> f32 {
    let mut value = 0f32;
    // SAFETY: `value` takes an f32.
    unsafe { sum.store(ElementCode::F32, (&raw mut value).cast()) };
    value
}
