//! The view of a custom call that a target written in Rust gets.

use half::{bf16, f16};
use num_complex::Complex;

use crate::moves::Move;
use crate::plan::Types;
use crate::{ArrayType, Attributes, CallSite};
use hlo_ir::{ArrayShape, ElementType, Literal, Shape};
use hlo_runtime_core::{Context, Error};

/// A call of a target, with the data of its operands and the memory of its results.
///
/// Arrays are numbered through all operands, and through the elements of the result if it is a tuple. The
/// type's `minor_to_major` gives the order of the elements in memory.
pub struct Call<'a> {
    /// The call site: the target, its calling convention, and its types.
    pub site: &'a CallSite,
    /// The attributes of a typed call; empty for the other conventions.
    pub attributes: &'a Attributes,
    pub(crate) types: &'a Types,
    pub(crate) context: &'a Context,
    /// One address for each array of the types, with as many bytes as the type requires. Nothing else refers
    /// to this memory during the call, and no result overlaps another array.
    pub(crate) operands: &'a [*const u8],
    pub(crate) results: &'a [*mut u8],
}

// SAFETY: a shared reference only reads operands, and nothing writes them.
unsafe impl Sync for Call<'_> {}
// SAFETY: the buffers belong to the caller, who waits for the call.
unsafe impl Send for Call<'_> {}

/// An element type of Rust slices that give access to arrays.
///
/// # Safety
/// Every bit pattern must be a valid value, and `NAME` must be the name of the element type in HLO text.
pub unsafe trait CallElement: Copy + 'static {
    /// The name of the element type in HLO text.
    const NAME: &'static str;
}

macro_rules! elements {
    ($($t:ty = $name:literal,)*) => {
        // SAFETY: each type has the same size and representation as its element type.
        $(unsafe impl CallElement for $t { const NAME: &'static str = $name; })*
    };
}

elements! {
    i8 = "s8", i16 = "s16", i32 = "s32", i64 = "s64", u8 = "u8", u16 = "u16", u32 = "u32", u64 = "u64",
    f16 = "f16", bf16 = "bf16", f32 = "f32", f64 = "f64", Complex<f32> = "c64", Complex<f64> = "c128",
}

impl<'a> Call<'a> {
    /// Returns the type of operand array `number`.
    ///
    /// # Errors
    /// Returns an error if there is no operand with this number.
    pub fn operand_type(&self, number: usize) -> Result<&'a ArrayType, Error> {
        self.types.operands.get(number).ok_or_else(|| Error(format!("there is no operand {number}")))
    }

    /// Returns the type of result array `number`.
    ///
    /// # Errors
    /// Returns an error if there is no result with this number.
    pub fn result_type(&self, number: usize) -> Result<&'a ArrayType, Error> {
        self.types.results.get(number).ok_or_else(|| Error(format!("there is no result {number}")))
    }

    /// Returns the elements of operand array `number`.
    ///
    /// # Errors
    /// Returns an error if there is no operand with this number, if its element type is not `T`, or if its
    /// buffer is not aligned for `T`.
    pub fn operand<T: CallElement>(&self, number: usize) -> Result<&'a [T], Error> {
        check::<T>(self.operand_type(number)?, "operand", number)?;
        let bytes = self.operand_bytes(number)?;
        aligned::<T>(bytes.as_ptr())?;
        // SAFETY: the bytes are aligned, and every bit pattern is a `T`.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) })
    }

    /// Returns the elements of result array `number` for writing.
    ///
    /// # Errors
    /// Returns an error if there is no result with this number, if its element type is not `T`, or if its
    /// buffer is not aligned for `T`.
    pub fn result<T: CallElement>(&mut self, number: usize) -> Result<&mut [T], Error> {
        check::<T>(self.result_type(number)?, "result", number)?;
        let bytes = self.result_bytes(number)?;
        aligned::<T>(bytes.as_ptr())?;
        // SAFETY: as in `operand`.
        Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / size_of::<T>()) })
    }

    /// Returns a row-major copy of operand array `number`.
    ///
    /// # Errors
    /// Returns an error if there is no operand with this number, or if there is not enough memory for the
    /// copy.
    pub fn operand_literal(&self, number: usize) -> Result<Literal, Error> {
        let ty = self.operand_type(number)?;
        let element = ElementType::from_name(&ty.element)
            .ok_or_else(|| Error(format!("internal error: there are no elements of type {}", ty.element)))?;
        let shape = Shape::Array(ArrayShape::new(element, ty.dims.iter().map(|&d| d as i64)));
        let mut value = Literal::try_zeros(&shape)
            .ok_or_else(|| Error(format!("there is no memory for a copy of {ty}")))?;
        let row_major = ArrayType { minor_to_major: (0..ty.dims.len()).rev().collect(), ..ty.clone() };
        Move::new(ty, &row_major).run(self.operand_bytes(number)?, value.bytes_mut());
        Ok(value)
    }

    /// Returns the bytes of operand array `number`.
    ///
    /// # Errors
    /// Returns an error if there is no operand with this number.
    pub fn operand_bytes(&self, number: usize) -> Result<&'a [u8], Error> {
        let len = self.operand_type(number)?.byte_size();
        // SAFETY: guaranteed by the description of `operands`.
        Ok(unsafe { std::slice::from_raw_parts(self.operands[number], len) })
    }

    /// Returns the bytes of result array `number` for writing.
    ///
    /// # Errors
    /// Returns an error if there is no result with this number.
    pub fn result_bytes(&mut self, number: usize) -> Result<&mut [u8], Error> {
        let len = self.result_type(number)?.byte_size();
        // SAFETY: guaranteed by the description of `results`; only one of them is borrowed at a time.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.results[number], len) })
    }

    /// Returns the addresses of the operand arrays. Each has as many bytes as its type requires.
    pub fn operand_addresses(&self) -> &'a [*const u8] {
        self.operands
    }

    /// Returns the addresses of the result arrays. Each has as many bytes as its type requires. Nothing else
    /// refers to this memory during the call, and no result overlaps another array.
    pub fn result_addresses(&self) -> &'a [*mut u8] {
        self.results
    }

    /// Copies an operand to the result that shares its memory, and returns the address of the result. Returns
    /// `None` if the two have different sizes.
    pub fn share(&mut self, result: usize, operand: usize) -> Option<*mut u8> {
        let from = self.operand_bytes(operand).ok()?;
        let to = self.result_bytes(result).ok().filter(|to| to.len() == from.len())?;
        to.copy_from_slice(from);
        Some(to.as_mut_ptr())
    }

    /// Calls `body` for each number in `0..count`, on the threads of the run and in no particular order.
    ///
    /// # Errors
    /// Returns the error of the lowest number for which `body` fails.
    pub fn for_each(
        &self,
        count: usize,
        body: impl Fn(usize) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        self.context.try_for_each(count, body)
    }
}

fn check<T: CallElement>(ty: &ArrayType, what: &str, number: usize) -> Result<(), Error> {
    if ty.element == T::NAME {
        Ok(())
    } else {
        Err(Error(format!("{what} {number} must be of type {}, it is {ty}", T::NAME)))
    }
}

fn aligned<T>(address: *const u8) -> Result<(), Error> {
    if address.addr().is_multiple_of(align_of::<T>()) {
        Ok(())
    } else {
        Err(Error("a buffer is not aligned".into()))
    }
}
