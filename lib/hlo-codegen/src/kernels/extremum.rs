//! Extrema of floats in reductions, by integers in the same order.
//!
//! The operation itself, which propagates NaN and orders -0 below +0, is six instructions that wait for each other. As integers,
//! floats are in that order if the bits below the sign of negative ones are flipped, and NaN is beyond all of them where it is
//! mapped to the last integer: what is carried from element to element then waits for one instruction.

use super::scalar;
use crate::builder::{Binary, Builder, V};
use crate::math::{F, I};
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, Module};

/// What a reduction is that gives the greatest or the least of floats.
#[derive(Clone, Copy)]
pub struct Extremum {
    /// True for the greatest.
    greatest: bool,
    /// The type of the integers.
    pub integers: ElementType,
}

impl Extremum {
    /// The extremum that a computation gives of two floats; `None` for any other computation.
    pub fn of(module: &Module, computation: ComputationId) -> Option<Self> {
        let (op, ty) = scalar::single_binary_op(module, computation).filter(|(_, ty)| ty.is_float())?;
        let greatest = match op {
            ElementwiseOp::Maximum => true,
            ElementwiseOp::Minimum => false,
            _ => return None,
        };
        // Narrower types are held in f32.
        let integers = if ty == ElementType::F64 { ElementType::S64 } else { ElementType::S32 };
        Some(Self { greatest, integers })
    }

    /// The integer of a float.
    pub fn integer<'c>(self, b: &Builder<'c>, value: V<'c>) -> V<'c> {
        let value = F::new(b, value);
        let ordered = self.flipped(value.bits());
        // The last one in the direction that wins; as bits it is a NaN.
        let beyond = ordered.lit(if self.greatest { self.most() } else { -1 - self.most() });
        value.is_nan().select_int(beyond, ordered).v
    }

    /// The float of an integer.
    pub fn float<'c>(self, b: &Builder<'c>, integer: V<'c>) -> V<'c> {
        let ty = if self.integers == ElementType::S64 { b.f64() } else { b.f32() };
        let value = self.flipped(I::new(b, integer)).as_float(ty);
        value.is_nan().select(value.lit(f64::NAN), value).v
    }

    /// Of two integers the one that is the extremum's.
    pub fn combine<'c>(self, b: &Builder<'c>, x: V<'c>, y: V<'c>) -> V<'c> {
        b.binary(if self.greatest { Binary::Smax } else { Binary::Smin }, x, y)
    }

    /// The bits of a float in the order of floats, and back.
    fn flipped<'a, 'c>(self, bits: I<'a, 'c>) -> I<'a, 'c> {
        let sign = bits.sar(i64::from(self.integers.bit_width()) - 1);
        bits ^ (sign & bits.lit(self.most()))
    }

    /// The greatest integer.
    fn most(self) -> i64 {
        if self.integers == ElementType::S64 { i64::MAX } else { i64::from(i32::MAX) }
    }
}
