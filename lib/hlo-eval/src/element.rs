//! Elements as bits: reads and writes single elements of arrays of any type.

use crate::error::EvalError;
use crate::index::position;
use crate::kernel::Kernel;
use hlo_ir::{ArrayShape, Dims, Literal};
use smallvec::SmallVec;

/// The bits of one element, little-endian. Unused high bits are zero.
pub(crate) type Scalar = u128;

/// The arguments or results of a computation on scalars.
pub(crate) type Scalars = SmallVec<[Scalar; 4]>;

/// Reads element number `at` from `bytes`. Elements have `size` bytes each.
#[inline]
pub(crate) fn load(bytes: &[u8], size: usize, at: usize) -> Result<Scalar, EvalError> {
    let element = bytes.get(at * size..).and_then(|rest| rest.get(..size));
    let element = element.ok_or_else(|| outside(bytes.len(), size, at))?;
    // The usual sizes are separate cases, because the interpreter spends most of its time here.
    Ok(match *element {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]).into(),
        _ => {
            let mut wide = [0; 16];
            wide.get_mut(..size).ok_or_else(|| outside(bytes.len(), size, at))?.copy_from_slice(element);
            Scalar::from_le_bytes(wide)
        }
    })
}

/// Writes element number `at` in `bytes`. Elements have `size` bytes each.
#[inline]
pub(crate) fn store(bytes: &mut [u8], size: usize, at: usize, value: Scalar) -> Result<(), EvalError> {
    let count = bytes.len();
    let element = bytes.get_mut(at * size..).and_then(|rest| rest.get_mut(..size));
    let element = element.ok_or_else(|| outside(count, size, at))?;
    // The usual sizes are separate cases, as in `load`.
    match element {
        [a] => *a = value as u8,
        [_, _] => element.copy_from_slice(&(value as u16).to_le_bytes()),
        [_, _, _, _] => element.copy_from_slice(&(value as u32).to_le_bytes()),
        [_, _, _, _, _, _, _, _] => element.copy_from_slice(&(value as u64).to_le_bytes()),
        _ => {
            let wide = value.to_le_bytes();
            element.copy_from_slice(wide.get(..size).ok_or_else(|| outside(count, size, at))?);
        }
    }
    Ok(())
}

fn outside(bytes: usize, size: usize, at: usize) -> EvalError {
    EvalError::internal(format!("there is no element {at} of {size} bytes among {bytes} bytes"))
}

/// Read access to the elements of an array, by index.
pub(crate) struct Elements<'a> {
    dims: &'a [i64],
    size: usize,
    bytes: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Returns the elements of an array. Fails if the value is not an array.
    pub(crate) fn of(value: &'a Literal) -> Result<Self, EvalError> {
        let shape = array(value)?;
        Ok(Self { dims: &shape.dims, size: shape.element_type.byte_size(), bytes: value.bytes() })
    }

    /// Returns the element at an index.
    pub(crate) fn at(&self, index: &[i64]) -> Result<Scalar, EvalError> {
        load(self.bytes, self.size, position(index, self.dims)?)
    }
}

/// Write access to the elements of an array, by index.
pub(crate) struct ElementsMut<'a> {
    dims: Dims,
    size: usize,
    bytes: &'a mut [u8],
}

impl<'a> ElementsMut<'a> {
    /// Returns the elements of an array. Fails if the value is not an array.
    pub(crate) fn of(value: &'a mut Literal) -> Result<Self, EvalError> {
        let shape = array(value)?;
        let (dims, size) = (shape.dims.clone(), shape.element_type.byte_size());
        Ok(Self { dims, size, bytes: value.bytes_mut() })
    }

    /// Writes the element at an index.
    pub(crate) fn set(&mut self, index: &[i64], value: Scalar) -> Result<(), EvalError> {
        store(self.bytes, self.size, position(index, &self.dims)?, value)
    }
}

fn array(value: &Literal) -> Result<&ArrayShape, EvalError> {
    let not_an_array = || EvalError::internal(format!("an array was expected, not {}", value.shape()));
    value.shape().as_array().ok_or_else(not_an_array)
}

/// Applies a kernel to one element of each operand, given with its size in bytes. The result has `size`
/// bytes.
pub(crate) fn apply(kernel: &Kernel, operands: &[(Scalar, usize)], size: usize) -> Result<Scalar, EvalError> {
    let mut bytes: SmallVec<[&[u8]; 3]> = SmallVec::new();
    for (bits, size) in operands {
        bytes.push(&bytemuck::bytes_of(bits)[..*size]);
    }
    let mut result: Scalar = 0;
    kernel(&bytes, &mut bytemuck::bytes_of_mut(&mut result)[..size])?;
    Ok(result)
}
