//! A custom call as a target written in Rust sees it.

use half::{bf16, f16};
use num_complex::Complex;

use crate::moves::Move;
use crate::plan::Types;
use crate::{ArrayType, Attributes, CallSite};
use hlo_ir::{ArrayShape, ElementType, Literal, Shape};
use hlo_runtime_core::{Context, Error};

/// A call of a target: the data of its operands and the places of its results.
///
/// Arrays are numbered through all operands, and through the result if that is a tuple. Elements lie in the order
/// that the type's `minor_to_major` says.
pub struct Call<'a> {
    /// What is called.
    pub site: &'a CallSite,
    /// The attributes of a typed call; none for the other conventions.
    pub attributes: &'a Attributes,
    pub(crate) types: &'a Types,
    pub(crate) context: &'a Context,
    /// As many addresses as the types have arrays, each of as many bytes as its type takes, which nothing else refers
    /// to while the call is made; no result overlaps another array.
    pub(crate) operands: &'a [*const u8],
    pub(crate) results: &'a [*mut u8],
}

// SAFETY: through a shared reference operands are read, and nothing writes them.
unsafe impl Sync for Call<'_> {}
// SAFETY: the buffers are the caller's, who waits.
unsafe impl Send for Call<'_> {}

/// The types that an array's elements can be seen as.
///
/// # Safety
/// Every bit pattern must be a value, and `NAME` must be the element type's name in HLO text.
pub unsafe trait CallElement: Copy + 'static {
    /// The element type's name in HLO text.
    const NAME: &'static str;
}

macro_rules! elements {
    ($($t:ty = $name:literal,)*) => {
        // SAFETY: numbers of the same size and form as the element type's.
        $(unsafe impl CallElement for $t { const NAME: &'static str = $name; })*
    };
}

elements! {
    i8 = "s8", i16 = "s16", i32 = "s32", i64 = "s64", u8 = "u8", u16 = "u16", u32 = "u32", u64 = "u64",
    f16 = "f16", bf16 = "bf16", f32 = "f32", f64 = "f64", Complex<f32> = "c64", Complex<f64> = "c128",
}

impl<'a> Call<'a> {
    /// The type of an operand's array.
    ///
    /// # Errors
    /// There is no operand of that number.
    pub fn operand_type(&self, number: usize) -> Result<&'a ArrayType, Error> {
        self.types.operands.get(number).ok_or_else(|| Error(format!("there is no operand {number}")))
    }

    /// The type of a result's array.
    ///
    /// # Errors
    /// There is no result of that number.
    pub fn result_type(&self, number: usize) -> Result<&'a ArrayType, Error> {
        self.types.results.get(number).ok_or_else(|| Error(format!("there is no result {number}")))
    }

    /// An operand's elements.
    ///
    /// # Errors
    /// There is no operand of that number, its elements are not `T`, or its buffer is not aligned for them.
    pub fn operand<T: CallElement>(&self, number: usize) -> Result<&'a [T], Error> {
        check::<T>(self.operand_type(number)?, "operand", number)?;
        let bytes = self.operand_bytes(number)?;
        aligned::<T>(bytes.as_ptr())?;
        // SAFETY: the bytes are aligned and any bits are a `T`.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) })
    }

    /// A result's elements, to be written.
    ///
    /// # Errors
    /// There is no result of that number, its elements are not `T`, or its buffer is not aligned for them.
    pub fn result<T: CallElement>(&mut self, number: usize) -> Result<&mut [T], Error> {
        check::<T>(self.result_type(number)?, "result", number)?;
        let bytes = self.result_bytes(number)?;
        aligned::<T>(bytes.as_ptr())?;
        // SAFETY: as in `operand`.
        Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / size_of::<T>()) })
    }

    /// A copy of an operand's array, row-major.
    ///
    /// # Errors
    /// There is no operand of that number, or no memory for the copy.
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

    /// An operand's bytes.
    ///
    /// # Errors
    /// There is no operand of that number.
    pub fn operand_bytes(&self, number: usize) -> Result<&'a [u8], Error> {
        let len = self.operand_type(number)?.byte_size();
        // SAFETY: the promise of `operands`.
        Ok(unsafe { std::slice::from_raw_parts(self.operands[number], len) })
    }

    /// A result's bytes, to be written.
    ///
    /// # Errors
    /// There is no result of that number.
    pub fn result_bytes(&mut self, number: usize) -> Result<&mut [u8], Error> {
        let len = self.result_type(number)?.byte_size();
        // SAFETY: the promise of `results`; only one of them is borrowed at a time.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.results[number], len) })
    }

    /// The addresses of the operands' arrays, each of as many bytes as its type takes.
    pub fn operand_addresses(&self) -> &'a [*const u8] {
        self.operands
    }

    /// The addresses of the results' arrays, each of as many bytes as its type takes. Nothing else refers to them while
    /// the call is made, and none overlaps another array.
    pub fn result_addresses(&self) -> &'a [*mut u8] {
        self.results
    }

    /// Gives a result the contents of an operand whose memory it shares, and its address; nothing if they are not of
    /// one size.
    pub fn share(&mut self, result: usize, operand: usize) -> Option<*mut u8> {
        let from = self.operand_bytes(operand).ok()?;
        let to = self.result_bytes(result).ok().filter(|to| to.len() == from.len())?;
        to.copy_from_slice(from);
        Some(to.as_mut_ptr())
    }

    /// Calls `body` for each of `0..count`, on the run's threads and in no particular order.
    ///
    /// # Errors
    /// The error of the lowest number for which `body` fails.
    pub fn for_each(
        &self,
        count: usize,
        body: impl Fn(usize) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        self.context.try_for_each(count, body)
    }
}

fn check<T: CallElement>(ty: &ArrayType, what: &str, number: usize) -> Result<(), Error> {
    match ty.element == T::NAME {
        true => Ok(()),
        false => Err(Error(format!("{what} {number} must be of type {}, it is {ty}", T::NAME))),
    }
}

fn aligned<T>(address: *const u8) -> Result<(), Error> {
    match address.addr().is_multiple_of(align_of::<T>()) {
        true => Ok(()),
        false => Err(Error("a buffer is not aligned".into())),
    }
}
