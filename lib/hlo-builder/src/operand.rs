//! Operands of operations that are not only values: numbers, and values with dimensions to broadcast along.

use crate::{Builder, Value};
use hlo_ir::diag::Diag;
use hlo_ir::{ElementType, Literal, Shape};
use std::panic::Location;

/// An operand of an elementwise operation. It is one of these:
/// - a value;
/// - a value along some dimensions of the other operand (see [`Value::along`]);
/// - a number, which becomes a constant of the other operand's element type.
///
/// As the left operand of an operator, a number must be an `i64`, `f64` or `bool` literal. Convert other
/// numbers to an `Operand` first.
///
/// # Example
/// ```
/// use hlo_builder::{Builder, Operand};
///
/// let b = Builder::new("numbers");
/// let x = b.constant_r1(&[1.0f32, 4.0]);
/// let alpha = 0.5f32;
/// assert_eq!(b.compute_constant((2.0 * x + 1).sqrt())?.elements::<f32>(), [3f32.sqrt(), 3.0]);
/// assert_eq!(b.compute_constant(Operand::from(alpha) / x)?.elements::<f32>(), [0.5, 0.125]);
/// # Ok::<(), hlo_builder::BuildErrors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Operand<'b>(pub(crate) Kind<'b>);

#[derive(Clone, Debug)]
pub(crate) enum Kind<'b> {
    Value(Value<'b>),
    Along(Value<'b>, Vec<i64>),
    Number(Number),
}

/// A number in the source of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Bool(bool),
    Integer(i128),
    Float(f64),
}

impl<'b> From<Value<'b>> for Operand<'b> {
    fn from(value: Value<'b>) -> Self {
        Self(Kind::Value(value))
    }
}

macro_rules! numbers {
    ($($kind:ident($wide:ty): $($native:ty)*;)*) => {
        $($(
            impl From<$native> for Operand<'_> {
                fn from(number: $native) -> Self {
                    Self(Kind::Number(Number::$kind(<$wide>::from(number))))
                }
            }
        )*)*
    };
}

numbers! {
    Bool(bool): bool;
    Integer(i128): i8 i16 i32 i64 u8 u16 u32 u64;
    Float(f64): f32 f64;
}

impl<'b> Value<'b> {
    /// Returns this value as an operand whose dimension `i` maps to dimension `dimensions[i]` of the other
    /// operand, which has a higher rank: `broadcast_dimensions` of XLA's binary operations.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    ///
    /// let b = Builder::new("rows");
    /// let matrix = b.constant_r2(&[[1i32, 2, 3], [4, 5, 6]]);
    /// let sum = matrix + b.constant_r1(&[7i32, 8, 9]).along(&[1]);
    /// assert_eq!(b.compute_constant(sum)?.elements::<i32>(), [8, 10, 12, 11, 13, 15]);
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    pub fn along(self, dimensions: &[i64]) -> Operand<'b> {
        Operand(Kind::Along(self, dimensions.to_vec()))
    }
}

impl<'b> Operand<'b> {
    /// Returns the value and the dimensions of the other operand that it maps to. A number becomes a constant
    /// of the element type of `like`, the other operand.
    #[track_caller]
    pub(crate) fn beside(self, like: Value<'b>) -> (Value<'b>, Option<Vec<i64>>) {
        match self.0 {
            Kind::Value(value) => (value, None),
            Kind::Along(value, dimensions) => (value, Some(dimensions)),
            Kind::Number(number) => {
                // If the other operand is not an array, the operation reports that.
                match like.shape_if_made() {
                    Some(Shape::Array(a)) => (like.builder.number(number, a.element_type), None),
                    _ => (like.builder.nothing(), None),
                }
            }
        }
    }

    /// Returns the value. A number becomes a constant of `element_type`. Reports an error if the operand has
    /// dimensions, because they have no meaning here.
    #[track_caller]
    pub(crate) fn plain(self, builder: &'b Builder, element_type: Option<ElementType>) -> Value<'b> {
        match (self.0, element_type) {
            (Kind::Value(value), _) => value,
            (Kind::Along(_, dimensions), _) => {
                let message = format!(
                    "only an operand of an elementwise operation of two lies along dimensions of the other one, found \
                     {dimensions:?} of one that is taken as it is"
                );
                builder.fail(Location::caller(), Diag::error(message))
            }
            (Kind::Number(number), Some(element_type)) => builder.number(number, element_type),
            (Kind::Number(_), None) => builder.nothing(),
        }
    }
}

impl Builder {
    /// Returns a scalar constant of an element type.
    #[track_caller]
    pub(crate) fn number(&self, number: Number, element_type: ElementType) -> Value<'_> {
        match literal(number, element_type) {
            Some(value) => self.constant(value),
            None => {
                let number = match number {
                    Number::Bool(x) => x.to_string(),
                    Number::Integer(x) => x.to_string(),
                    Number::Float(x) => format!("{x:?}"),
                };
                self.fail(
                    Location::caller(),
                    Diag::error(format!("{number} is no value of type {element_type}")),
                )
            }
        }
    }
}

/// Converts a number to a scalar of an element type. Rounds to nearest in floating-point types. Returns
/// `None` if the type cannot represent the number.
pub(crate) fn literal(number: Number, element_type: ElementType) -> Option<Literal> {
    let converted = |wide: Literal| hlo_eval::convert(&wide, element_type).ok();
    if element_type.is_pred() {
        return match number {
            Number::Bool(x) => Some(Literal::r0(x)),
            Number::Integer(x @ 0..=1) => Some(Literal::r0(x == 1)),
            Number::Integer(_) | Number::Float(_) => None,
        };
    }
    if element_type.is_integer() {
        let value = match number {
            Number::Bool(_) => return None,
            Number::Integer(x) => x,
            Number::Float(x) if x.fract() == 0.0 && x.abs() < 1e20 => x as i128,
            Number::Float(_) => return None,
        };
        let bits = element_type.bit_width();
        let range = if element_type.is_signed_integer() {
            -(1i128 << (bits - 1))..1i128 << (bits - 1)
        } else {
            0..1i128 << bits
        };
        return if !range.contains(&value) {
            None
        } else if element_type.is_signed_integer() {
            converted(Literal::r0(value as i64))
        } else {
            converted(Literal::r0(value as u64))
        };
    }
    match number {
        Number::Bool(_) => None,
        Number::Integer(x) => match i64::try_from(x) {
            Ok(x) => converted(Literal::r0(x)),
            Err(_) => converted(Literal::r0(x as u64)),
        },
        Number::Float(x) => converted(Literal::r0(x)),
    }
}
