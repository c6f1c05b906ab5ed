//! Emission of maxima and minima of floats in reductions: see [`Extremum`].

use crate::builder::{Binary, Builder, V};
use crate::math::{F, I};
use hlo_ir::ElementType;
use hlo_kernel::Extremum;

/// Converts a float to its integer.
pub fn integer<'c>(b: &Builder<'c>, e: Extremum, value: V<'c>) -> V<'c> {
    let value = F::new(b, value);
    let ordered = flipped(e, value.bits());
    // The last integer in the direction of the extremum. Its bits are those of a NaN.
    let beyond = ordered.lit(if e.greatest { max_integer(e) } else { -1 - max_integer(e) });
    value.is_nan().select_int(beyond, ordered).v
}

/// Converts an integer to its float.
pub fn float<'c>(b: &Builder<'c>, e: Extremum, integer: V<'c>) -> V<'c> {
    let ty = if e.integers == ElementType::S64 { b.f64() } else { b.f32() };
    let value = flipped(e, I::new(b, integer)).as_float(ty);
    value.is_nan().select(value.lit(f64::NAN), value).v
}

/// Returns the maximum or minimum of two integers.
pub fn combine<'c>(b: &Builder<'c>, e: Extremum, x: V<'c>, y: V<'c>) -> V<'c> {
    b.binary(if e.greatest { Binary::Smax } else { Binary::Smin }, x, y)
}

/// Converts the bits of a float to an integer in the order of floats, and back.
fn flipped<'a, 'c>(e: Extremum, bits: I<'a, 'c>) -> I<'a, 'c> {
    let sign = bits.sar(i64::from(e.integers.bit_width()) - 1);
    bits ^ (sign & bits.lit(max_integer(e)))
}

/// Returns the maximum integer.
fn max_integer(e: Extremum) -> i64 {
    if e.integers == ElementType::S64 { i64::MAX } else { i64::from(i32::MAX) }
}
