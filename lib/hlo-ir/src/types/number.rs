//! Elements of arrays of any element type as numbers.

use crate::{Dims, ElementType, FloatFormat, Literal};
use num_complex::Complex64;

/// The exact value of one element of an array of any element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An element of type `pred`.
    Bool(bool),
    /// An element of a signed integer type.
    Signed(i64),
    /// An element of an unsigned integer type.
    Unsigned(u64),
    /// An element of a real floating-point type. `f64` represents all their values.
    Float(f64),
    /// An element of type `c64` or `c128`.
    Complex(Complex64),
}

impl Number {
    /// Returns the number as `f64`: rounded for integers of more than 53 bits, 0 or 1 for `pred`, `None` for
    /// complex numbers.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Number::Bool(value) => Some(f64::from(u8::from(value))),
            Number::Signed(value) => Some(value as f64),
            Number::Unsigned(value) => Some(value as f64),
            Number::Float(value) => Some(value),
            Number::Complex(_) => None,
        }
    }

    /// Returns the integer, 0 or 1 for `pred`; `None` for other element types.
    pub fn as_integer(self) -> Option<i128> {
        match self {
            Number::Bool(value) => Some(value.into()),
            Number::Signed(value) => Some(value.into()),
            Number::Unsigned(value) => Some(value.into()),
            Number::Float(_) | Number::Complex(_) => None,
        }
    }

    /// Returns the element with these bytes in a literal.
    fn of_bytes(ty: ElementType, bytes: &[u8]) -> Self {
        let mut wide = [0; 8];
        let float = |bytes: &[u8]| {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            FloatFormat::of(ty.real_type()).map_or(f64::NAN, |format| format.decode(u64::from_le_bytes(wide)))
        };
        if ty.is_complex() {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            return Number::Complex(Complex64::new(float(re), float(im)));
        }
        if ty.is_float() {
            return Number::Float(float(bytes));
        }
        wide[..bytes.len()].copy_from_slice(bytes);
        let raw = u64::from_le_bytes(wide);
        let unused = 64 - ty.bit_width();
        if ty.is_pred() {
            Number::Bool(raw != 0)
        } else if ty.is_signed_integer() {
            Number::Signed((raw << unused) as i64 >> unused)
        } else {
            Number::Unsigned(raw << unused >> unused)
        }
    }
}

/// Elements as numbers, for code that does not know the element type.
///
/// # Example
/// ```
/// use hlo_ir::{Literal, Number};
///
/// let matrix = Literal::r2(&[[half::bf16::ONE, half::bf16::INFINITY]]);
/// assert_eq!(matrix.number(&[0, 0]), Some(Number::Float(1.0)));
/// assert_eq!(matrix.number(&[1, 0]), None, "outside");
/// let infinite: Vec<_> = matrix.numbers().filter(|(_, x)| x.as_f64() == Some(f64::INFINITY)).collect();
/// assert_eq!(infinite.len(), 1);
/// assert_eq!(infinite[0].0[..], [0, 1]);
/// ```
impl Literal {
    /// Returns the element at an index; `None` if the index is out of bounds or this is not an array.
    pub fn number(&self, index: &[i64]) -> Option<Number> {
        let ty = self.shape().as_array()?.element_type;
        let at = self.position(index)? * ty.byte_size();
        Some(Number::of_bytes(ty, self.bytes().get(at..at + ty.byte_size())?))
    }

    /// Returns the elements with their indices, in row-major order; none if this is not an array.
    pub fn numbers(&self) -> impl Iterator<Item = (Dims, Number)> {
        let array = self.shape().as_array();
        array.into_iter().flat_map(|array| {
            let ty = array.element_type;
            let elements = self.bytes().chunks_exact(ty.byte_size());
            array.indices().zip(elements.map(move |bytes| Number::of_bytes(ty, bytes)))
        })
    }

    /// Returns the row-major position of an index; `None` if the index is out of bounds or this is not an
    /// array.
    pub(crate) fn position(&self, index: &[i64]) -> Option<usize> {
        let array = self.shape().as_array().filter(|array| array.rank() == index.len())?;
        let inside = index.iter().zip(&array.dims).all(|(i, size)| (0..*size).contains(i));
        let position = || -> i64 { index.iter().zip(array.row_major_strides()).map(|(i, s)| i * s).sum() };
        inside.then(position).and_then(|position| usize::try_from(position).ok())
    }
}
