//! Maxima and minima of floats in reductions, computed with integers in the same order.
//!
//! The operation itself propagates NaN and orders -0 below +0. It takes six dependent instructions. Flipping
//! the bits below the sign of negative floats makes the order of their bits as integers equal to the order of
//! the floats. NaN is mapped to the last integer in the direction of the extremum. Each step of the reduction
//! then has only one dependent instruction.

use super::scalar;
use crate::builder::{Binary, Builder, V};
use crate::math::{F, I};
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, Module};

/// A reduction that computes the maximum or minimum of floats.
#[derive(Clone, Copy)]
pub struct Extremum {
    /// Whether the reduction computes the maximum.
    greatest: bool,
    /// The type of the integers.
    pub integers: ElementType,
}

impl Extremum {
    /// Returns the extremum that a computation of two floats computes, or `None` for any other computation.
    pub fn of(module: &Module, computation: ComputationId) -> Option<Self> {
        let (op, ty) = scalar::single_binary_op(module, computation).filter(|(_, ty)| ty.is_float())?;
        let greatest = match op {
            ElementwiseOp::Maximum => true,
            ElementwiseOp::Minimum => false,
            _ => return None,
        };
        // Narrower types are represented in f32.
        let integers = if ty == ElementType::F64 { ElementType::S64 } else { ElementType::S32 };
        Some(Self { greatest, integers })
    }

    /// Converts a float to its integer.
    pub fn integer<'c>(self, b: &Builder<'c>, value: V<'c>) -> V<'c> {
        let value = F::new(b, value);
        let ordered = self.flipped(value.bits());
        // The last integer in the direction of the extremum. Its bits are those of a NaN.
        let beyond = ordered.lit(if self.greatest { self.max_integer() } else { -1 - self.max_integer() });
        value.is_nan().select_int(beyond, ordered).v
    }

    /// Converts an integer to its float.
    pub fn float<'c>(self, b: &Builder<'c>, integer: V<'c>) -> V<'c> {
        let ty = if self.integers == ElementType::S64 { b.f64() } else { b.f32() };
        let value = self.flipped(I::new(b, integer)).as_float(ty);
        value.is_nan().select(value.lit(f64::NAN), value).v
    }

    /// Returns the maximum or minimum of two integers.
    pub fn combine<'c>(self, b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
        b.binary(if self.greatest { Binary::Smax } else { Binary::Smin }, x, y)
    }

    /// Converts the bits of a float to an integer in the order of floats, and back.
    fn flipped<'a, 'c>(self, bits: I<'a, 'c>) -> I<'a, 'c> {
        let sign = bits.sar(i64::from(self.integers.bit_width()) - 1);
        bits ^ (sign & bits.lit(self.max_integer()))
    }

    /// Returns the maximum integer.
    fn max_integer(self) -> i64 {
        if self.integers == ElementType::S64 { i64::MAX } else { i64::from(i32::MAX) }
    }
}
