//! Operations on real floats, as held (`f32` or `f64`): the result still wants rounding to a narrower type.

use crate::math::F;

/// `remainder`: exact, with the sign of `x`; NaN for an infinite `x` or a zero `y`.
///
/// The machine has no such instruction and a loop of unknown length would not vectorise: C's `fmod`.
pub fn remainder<'a, 'c>(x: F<'a, 'c>, y: F<'a, 'c>) -> F<'a, 'c> {
    x.remainder(y)
}

/// `sign`: -1, -0, 0, 1 or NaN.
pub fn sign<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let keep = x.eq(0.0) | x.is_nan();
    keep.select(x, x.lit(1.0).copysign(x))
}

/// `round-nearest-afz`: halves away from zero.
pub fn round_away<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    // The greatest number below one half, with the sign of x, added before truncating: exact for every x, which
    // one half is not (0.49999997 + 0.5 is 1).
    let half = x.lit(x.pick(0.5 - 2f64.powi(-25), 0.5 - 2f64.powi(-54)));
    (x + half.copysign(x)).trunc()
}

/// `maximum` or `minimum`; NaN if either operand is NaN, and -0 below +0.
pub fn extremum<'a, 'c>(x: F<'a, 'c>, y: F<'a, 'c>, greater: bool) -> F<'a, 'c> {
    if greater { x.maximum(y) } else { x.minimum(y) }
}

/// `clamp`; NaN if any operand is NaN.
pub fn clamp<'a, 'c>(low: F<'a, 'c>, x: F<'a, 'c>, high: F<'a, 'c>) -> F<'a, 'c> {
    x.maximum(low).minimum(high)
}
