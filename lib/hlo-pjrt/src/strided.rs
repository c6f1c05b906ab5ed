//! Arrays in the caller's memory, with arbitrary strides.

use crate::fault::{Fault, Result};
use crate::sys::MemoryLayout;
use hlo_ir::Dims;

/// The arrangement of an array's elements in the caller's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strided {
    /// The sizes of the dimensions.
    pub dims: Vec<usize>,
    /// The stride of each dimension, in bytes.
    pub strides: Vec<isize>,
    /// Size of an element in bytes.
    pub element_bytes: usize,
}

impl Strided {
    /// Creates a row-major arrangement.
    ///
    /// # Errors
    /// A size is negative, or the array does not fit in the address space.
    pub fn row_major(dims: &[i64], element_bytes: usize) -> Result<Self> {
        let order: Vec<usize> = (0..dims.len()).rev().collect();
        Self::in_order(dims, element_bytes, &order)
    }

    /// Creates a dense arrangement with the given order of dimensions, the fastest varying one first.
    ///
    /// # Errors
    /// A size is negative, the array does not fit in the address space, or the order is not a permutation of
    /// its dimensions.
    pub fn in_order(dims: &[i64], element_bytes: usize, minor_to_major: &[usize]) -> Result<Self> {
        let sizes = sizes(dims, element_bytes)?;
        let mut sorted = minor_to_major.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..sizes.len()) {
            return Err(Fault::invalid(format!(
                "{minor_to_major:?} is no order of {} dimensions",
                sizes.len()
            )));
        }
        let mut strides = vec![0; sizes.len()];
        let mut next = element_bytes.cast_signed();
        for &d in minor_to_major {
            strides[d] = next;
            // The check above rejects overflow, treating sizes of 0 as 1. With a size of 0 there are no
            // elements.
            next = next.saturating_mul(sizes[d].cast_signed().max(1));
        }
        Ok(Self { dims: sizes, strides, element_bytes })
    }

    /// Creates an arrangement with the caller's strides, or a row-major one if there are no strides.
    ///
    /// # Errors
    /// A size is negative, the array does not fit in the address space, or the number of strides differs from
    /// the number of dimensions.
    pub fn at(dims: &[i64], element_bytes: usize, byte_strides: &[i64]) -> Result<Self> {
        if byte_strides.is_empty() {
            return Self::row_major(dims, element_bytes);
        }
        if byte_strides.len() != dims.len() {
            let (expected, found) = (dims.len(), byte_strides.len());
            return Err(Fault::invalid(format!("expected {expected} strides, found {found}")));
        }
        let strides = byte_strides.iter().map(|&s| isize::try_from(s));
        let strides = strides.collect::<std::result::Result<_, _>>();
        let strides = strides.map_err(|_| Fault::invalid("a stride does not fit the address space"))?;
        Ok(Self { dims: sizes(dims, element_bytes)?, strides, element_bytes })
    }

    /// Creates the arrangement that the caller's layout describes.
    ///
    /// # Errors
    /// As the other functions, or the layout has tiles.
    pub(crate) fn laid_out(
        dims: &[i64],
        element_bytes: usize,
        layout: Option<&MemoryLayout>,
    ) -> Result<Self> {
        let Some(layout) = layout else { return Self::row_major(dims, element_bytes) };
        match layout.minor_to_major()? {
            Some(order) => {
                let order = order.iter().map(|&d| usize::try_from(d).unwrap_or(usize::MAX));
                Self::in_order(dims, element_bytes, &order.collect::<Vec<_>>())
            }
            // SAFETY: the caller guarantees that a layout of this kind has strides.
            None => Self::at(dims, element_bytes, unsafe { layout.layout.strides }.byte_strides.get()?),
        }
    }

    /// Returns the number of elements.
    pub fn element_count(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns the size of all elements in bytes.
    pub fn byte_size(&self) -> usize {
        self.element_count() * self.element_bytes
    }

    /// Returns the dimensions in the order of their strides, the smallest first.
    pub fn order(&self) -> Dims {
        let mut order: Vec<usize> = (0..self.dims.len()).rev().collect();
        order.sort_by_key(|&d| self.strides[d].unsigned_abs());
        order.into_iter().map(|d| d as i64).collect()
    }

    /// Returns whether the elements are dense in this order of dimensions, the fastest varying one first.
    pub fn is_dense_in_order(&self, minor_to_major: &[i64]) -> bool {
        let mut next = self.element_bytes.cast_signed();
        let ordered = minor_to_major.iter().all(|&d| {
            let d = usize::try_from(d).ok();
            let Some((&size, &stride)) = d.and_then(|d| self.dims.get(d).zip(self.strides.get(d))) else {
                return false;
            };
            let fits = size == 1 || stride == next;
            next = next.saturating_mul(size.cast_signed());
            fits
        });
        minor_to_major.len() == self.dims.len() && (ordered || self.element_count() == 0)
    }

    /// Returns the offsets of the first byte and of the end of the elements, relative to the first element.
    pub fn extent(&self) -> Option<(isize, isize)> {
        if self.element_count() == 0 {
            return Some((0, 0));
        }
        let (mut low, mut high) = (0isize, self.element_bytes.cast_signed());
        for (&size, &stride) in self.dims.iter().zip(&self.strides) {
            let far = stride.checked_mul(size.cast_signed() - 1)?;
            low = low.checked_add(far.min(0))?;
            high = high.checked_add(far.max(0))?;
        }
        Some((low, high))
    }

    /// Copies the elements into a row-major array.
    ///
    /// # Safety
    /// The elements must be readable from `from` on according to the strides. As many bytes as they take must
    /// be writable from `to` on.
    pub unsafe fn gather(&self, from: *const u8, to: *mut u8) {
        let mut at = 0;
        // SAFETY: guaranteed by the caller.
        self.each(&mut |offset, bytes| unsafe {
            std::ptr::copy_nonoverlapping(from.offset(offset), to.add(at), bytes);
            at += bytes;
        });
    }

    /// Copies row-major elements into this arrangement.
    ///
    /// # Safety
    /// As many bytes as the elements take must be readable from `from` on. The elements must be writable from
    /// `to` on according to the strides.
    pub unsafe fn scatter(&self, from: *const u8, to: *mut u8) {
        let mut at = 0;
        // SAFETY: guaranteed by the caller.
        self.each(&mut |offset, bytes| unsafe {
            std::ptr::copy_nonoverlapping(from.add(at), to.offset(offset), bytes);
            at += bytes;
        });
    }

    /// Calls `piece` for contiguous pieces of the array in row-major order, with the offset and the size of
    /// each in bytes.
    fn each(&self, piece: &mut impl FnMut(isize, usize)) {
        if self.element_count() == 0 {
            return;
        }
        // Trailing dense dimensions form one piece.
        let mut bytes = self.element_bytes;
        let mut outer = self.dims.len();
        while outer > 0 && (self.dims[outer - 1] == 1 || self.strides[outer - 1] == bytes.cast_signed()) {
            outer -= 1;
            bytes *= self.dims[outer];
        }
        let mut index = vec![0usize; outer];
        let mut offset = 0isize;
        loop {
            piece(offset, bytes);
            let mut d = outer;
            loop {
                if d == 0 {
                    return;
                }
                d -= 1;
                index[d] += 1;
                offset += self.strides[d];
                if index[d] < self.dims[d] {
                    break;
                }
                offset -= self.strides[d] * self.dims[d].cast_signed();
                index[d] = 0;
            }
        }
    }
}

/// Checks and converts the sizes of an array, which must fit in the address space.
fn sizes(dims: &[i64], element_bytes: usize) -> Result<Vec<usize>> {
    let mut extent = element_bytes;
    let mut sizes = Vec::with_capacity(dims.len());
    for &size in dims {
        let size = usize::try_from(size).map_err(|_| Fault::invalid(format!("there is no size {size}")))?;
        extent = extent.saturating_mul(size.max(1));
        sizes.push(size);
    }
    match isize::try_from(extent) {
        Ok(_) => Ok(sizes),
        Err(_) => Err(Fault::invalid(format!("an array of sizes {dims:?} does not fit the address space"))),
    }
}
