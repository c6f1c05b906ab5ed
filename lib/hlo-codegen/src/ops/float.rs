//! Operations on real floats in their SSA form (`f32` or `f64`). The caller rounds the results of narrower
//! types.

use crate::math::F;

/// Emits `remainder`: exact, with the sign of `x`. It is NaN for an infinite `x` or a zero `y`.
///
/// It calls C's `fmod`, because the CPU has no such instruction and a loop of unknown length would not be
/// vectorized.
pub fn remainder<'a, 'c>(x: F<'a, 'c>, y: F<'a, 'c>) -> F<'a, 'c> {
    x.remainder(y)
}

/// Emits `sign`: -1, -0, 0, 1 or NaN.
pub fn sign<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let keep = x.eq(0.0) | x.is_nan();
    keep.select(x, x.lit(1.0).copysign(x))
}

/// Emits `round-nearest-afz`, which rounds halves away from zero.
pub fn round_away<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    // Adds the greatest number below one half, with the sign of x, before truncating. This is exact for every
    // x. Adding one half is not (0.49999997 + 0.5 is 1).
    let half = x.lit(x.pick(0.5 - 2f64.powi(-25), 0.5 - 2f64.powi(-54)));
    (x + half.copysign(x)).trunc()
}

/// Emits `maximum` or `minimum`: NaN if either operand is NaN, and -0 below +0.
pub fn extremum<'a, 'c>(x: F<'a, 'c>, y: F<'a, 'c>, greater: bool) -> F<'a, 'c> {
    if greater { x.maximum(y) } else { x.minimum(y) }
}

/// Emits `clamp`: NaN if any operand is NaN.
pub fn clamp<'a, 'c>(low: F<'a, 'c>, x: F<'a, 'c>, high: F<'a, 'c>) -> F<'a, 'c> {
    x.maximum(low).minimum(high)
}
