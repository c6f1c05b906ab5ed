//! The exponential function and functions based on it: `exp`, `exp - 1`, logistic, the hyperbolic functions.
//!
//! x = n ln 2 + r with |r| <= ln(2)/2, and e^r - 1 = r + r² Q(r). Q is the minimax polynomial for the
//! relative error (Remez algorithm, 160 bits). n is computed by adding 1.5·2^23 (or 1.5·2^52), which rounds
//! to an integer in the low bits. This avoids a conversion, which would be undefined for NaN.

use super::{F, I};

const EXP_F32: [f64; 6] = [0.5, 0.166666672, 0.041666355, 0.00833327323, 0.00139411027, 0.000199143033];
const EXP_F64: [f64; 11] = [
    0.5,
    0.16666666666666677,
    0.0416666666666667,
    0.008333333333321532,
    0.001388888888886672,
    0.0001984126988640109,
    2.4801587360810283e-05,
    2.7557243911665553e-06,
    2.755724252849391e-07,
    2.5109147388477752e-08,
    2.0924518267455847e-09,
];

/// The `f32` and `f64` numbers whose addition rounds to an integer.
const ROUNDING_CONSTANTS: (f64, f64) = (12582912.0, 6755399441055744.0);

/// Returns the number whose addition rounds to an integer.
pub(super) fn rounder<'a, 'c>(like: F<'a, 'c>) -> F<'a, 'c> {
    like.lit(like.pick(ROUNDING_CONSTANTS.0, ROUNDING_CONSTANTS.1))
}

/// Emits `x * factor` rounded to an integer, as a float and as an integer. The product must be below 2^22
/// (2^51 for `f64`) in magnitude.
pub(super) fn nearest<'a, 'c>(x: F<'a, 'c>, factor: f64) -> (F<'a, 'c>, I<'a, 'c>) {
    let magic = rounder(x);
    let shifted = x.fma(x.lit(factor), magic);
    (shifted - magic, shifted.bits() - magic.bits())
}

/// Emits 2^n for a normal result.
pub(super) fn power_of_two<'a, 'c>(n: I<'a, 'c>, like: F<'a, 'c>) -> F<'a, 'c> {
    ((n + like.bias()) << i64::from(like.mantissa_bits())).as_float(like.ty())
}

/// A power 2^n with `|n|` up to twice the bias. It is stored as an integer whose low bits are `n` plus twice
/// the bias, which is the result of rounding by addition. Because the bias is included, shifts produce the
/// exponents of the factors of 2^n.
#[derive(Clone, Copy)]
struct Power<'a, 'c> {
    bits: I<'a, 'c>,
}

impl<'a, 'c> Power<'a, 'c> {
    /// Emits `x * factor` rounded to an integer, as a float and as the power of two.
    fn nearest(x: F<'a, 'c>, factor: f64) -> (F<'a, 'c>, Self) {
        let magic = Self::magic(x);
        let shifted = x.fma(x.lit(factor), magic);
        (shifted - magic, Self { bits: shifted.bits() })
    }

    /// Returns the number whose addition rounds to an integer. Twice the bias is even, so adding it does not
    /// change the rounding of ties.
    fn magic(like: F<'a, 'c>) -> F<'a, 'c> {
        like.lit(like.pick(ROUNDING_CONSTANTS.0, ROUNDING_CONSTANTS.1) + 2.0 * like.bias() as f64)
    }

    /// Emits `n`.
    fn exponent(self, like: F<'a, 'c>) -> I<'a, 'c> {
        self.bits - Self::magic(like).bits()
    }

    /// Emits 2^(n-1).
    fn halved(self) -> Self {
        Self { bits: self.bits - 1 }
    }

    /// Emits `y * 2^n` with overflow, and with one rounding for subnormals. It multiplies by two factors,
    /// because 2^n itself may be out of range.
    fn scale(self, y: F<'a, 'c>) -> F<'a, 'c> {
        let mantissa = i64::from(y.mantissa_bits());
        let half = (self.bits << (mantissa - 1)) & self.bits.lit(-1 << mantissa);
        let rest = (self.bits << mantissa) - half;
        y * half.as_float(y.ty()) * rest.as_float(y.ty())
    }
}

/// Limits beyond which e^x is 0 or infinite.
const RANGE_F32: (f64, f64) = (-104.0, 88.73);
const RANGE_F64: (f64, f64) = (-746.0, 709.79);

/// Emits `x` limited to the range in which e^x is neither 0 nor infinite. `more` extends the upper limit. NaN
/// is kept.
fn limited<'a, 'c>(x: F<'a, 'c>, more: f64) -> F<'a, 'c> {
    let (low, high) = x.pick(RANGE_F32, RANGE_F64);
    let x = x.gt(high + more).select(x.lit(high + more), x);
    x.lt(low).select(x.lit(low), x)
}

/// Emits e^(x + tail) as `(p, 2^n)`, which represent 2^n (1 + p). `x` is limited, and `tail` is tiny.
fn reduced<'a, 'c>(x: F<'a, 'c>, tail: Option<F<'a, 'c>>) -> (F<'a, 'c>, Power<'a, 'c>) {
    let (n, power) = Power::nearest(x, std::f64::consts::LOG2_E);
    let (high, low) = x.pick(
        (0.693_147_182_464_599_6, -1.904_654_323_148_236e-9),
        (std::f64::consts::LN_2, 2.319_046_813_846_3e-17),
    );
    let r = n.fma(x.lit(-low), n.fma(x.lit(-high), x));
    let r = tail.map_or(r, |t| r + t);
    let q = r.poly(x.pick(&EXP_F32[..], &EXP_F64[..]));
    ((r * r).fma(q, r), power)
}

/// Emits e^x.
pub fn exp<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let (p, power) = reduced(limited(x, 0.0), None);
    power.scale(p + 1.0)
}

/// Emits e^x if it is a normal number, or NaN.
pub(super) fn normal_exp<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let (p, power) = reduced(x, None);
    (p + 1.0) * power_of_two(power.exponent(x), x)
}

/// Emits e^(x + tail).
pub(super) fn exp_with_tail<'a, 'c>(x: F<'a, 'c>, tail: F<'a, 'c>) -> F<'a, 'c> {
    let (p, power) = reduced(limited(x, 0.0), Some(tail));
    power.scale(p + 1.0)
}

/// Emits e^x / 2, which is finite even if e^x slightly overflows.
fn half_exp<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let (p, power) = reduced(limited(x, 1.0), None);
    power.halved().scale(p + 1.0)
}

/// Emits e^x - 1, without cancellation near 0.
pub fn exp_m1<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let (p, power) = reduced(limited(x, 0.0), None);
    // Computes 2^(n-1) (1 + p) - 1/2 and doubles it, because 2^n alone may overflow when the result does not.
    // The lower limit keeps 2^(n-1) normal. The result is -1 there.
    let n = power.exponent(x) - 1;
    let lowest = -x.pick(60, 120);
    let n = n.cmp(crate::builder::IntPredicate::Slt, n.lit(lowest)).select_int(n.lit(lowest), n);
    let s = power_of_two(n, x);
    let r = p.fma(s, s - 0.5) * 2.0;
    // Very near 0 the result is x. Products of subnormal numbers would lose bits.
    x.abs().lt(x.pick(2f64.powi(-25), 2f64.powi(-54))).select(x, r)
}

/// Emits 1 / (1 + e^-x). For very negative x, the results are accurate down to the subnormals.
pub fn logistic<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let e = exp(-x.abs());
    x.lt(0.0).select(e, x.lit(1.0)) / (e + 1.0)
}

/// Emits tanh x = -t / (t + 2) with t = e^(-2|x|) - 1.
pub fn tanh<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let t = exp_m1(x.abs() * -2.0);
    (-t / (t + 2.0)).copysign(x)
}

/// Emits sinh x.
pub fn sinh<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let a = x.abs();
    // Computed from e^a - 1 near 0, and from e^a / 2 beyond.
    let m = exp_m1(a.lt(2.0).select(a, a.lit(0.0)));
    let near = (m + m / (m + 1.0)) * 0.5;
    let h = half_exp(a);
    let far = h - h.lit(0.25) / h;
    let r = a.lt(2.0).select(near, far);
    r.copysign(x)
}

/// Emits cosh x.
pub fn cosh<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let h = half_exp(x.abs());
    h + h.lit(0.25) / h
}
