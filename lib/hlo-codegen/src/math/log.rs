//! The logarithm and functions based on it: `log`, `log(1 + x)`, the inverse hyperbolic functions.
//!
//! x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). In `f32`, log(1 + f) = f - f²/2 + f³ Q(f). In
//! `f64` with s = f / (2 + f), log(1 + f) = f - (f²/2 - s (f²/2 + s² R(s²))), the form of Sun's fdlibm. Q and
//! R are minimax polynomials (Remez algorithm, 160 bits). ln 2 is split as in fdlibm, so that k times its
//! high part is exact.

use super::exp::rounder;
use super::{F, I};

const LOG_F32: [f64; 9] = [
    0.333333105,
    -0.249999866,
    0.20002231,
    -0.166692629,
    0.142185777,
    -0.123840712,
    0.11873354,
    -0.117917039,
    0.0691676512,
];
const LOG_F64: [f64; 7] = [
    0.6666666666666735,
    0.3999999999941326,
    0.2857142874273478,
    0.22222198534502088,
    0.181835664852287,
    0.15313991714017786,
    0.1479657272297553,
];

/// Returns ln 2 in two parts. The first has so few bits that its product with an exponent is exact.
pub(super) fn ln2(like: F<'_, '_>) -> (f64, f64) {
    like.pick(
        (6.931_381_225_6e-1, 9.058_000_614_5e-6),
        (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10),
    )
}

/// Emits k and f of `x = 2^k (1 + f)`. `x` must be normal and positive, or 0.
pub(super) fn split<'a, 'c>(x: F<'a, 'c>) -> (I<'a, 'c>, F<'a, 'c>) {
    let mantissa = i64::from(x.mantissa_bits());
    let bits = x.bits();
    let k = (bits - x.pick(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd)).sar(mantissa);
    let m = (bits - (k << mantissa)).as_float(x.ty());
    (k, m - 1.0)
}

/// Emits a small integer as a float of the type of `like`.
pub(super) fn small_int_to_float<'a, 'c>(k: I<'a, 'c>, like: F<'a, 'c>) -> F<'a, 'c> {
    let magic = rounder(like);
    (k + magic.bits()).as_float(like.ty()) - magic
}

/// Emits k ln 2 + log(1 + f + tail), for a `tail` much smaller than `f`.
fn combine<'a, 'c>(k: F<'a, 'c>, f: F<'a, 'c>, tail: Option<F<'a, 'c>>) -> F<'a, 'c> {
    let (ln2_high, ln2_low) = ln2(f);
    let high = k * ln2_high;
    // high + f exactly, as a sum and its rounding error: |f| < |high| unless high is 0.
    let sum = high + f;
    let error = (high - sum) + f;
    let error = tail.map_or(error, |t| error + t);
    let low = k.fma(f.lit(ln2_low), error);
    if f.is_f64() {
        let s = f / (f + 2.0);
        let z = s * s;
        let half_square = f * f * 0.5;
        let r = z * z.poly(&LOG_F64);
        sum + (s.fma(half_square + r, low) - half_square)
    } else {
        let q = f.poly(&LOG_F32).fma(f, f.lit(-0.5));
        sum + (f * f).fma(q, low)
    }
}

/// Emits `r` with the special cases of `x`: infinity and NaN return themselves, 0 returns minus infinity,
/// negative numbers return NaN.
fn with_specials<'a, 'c>(x: F<'a, 'c>, r: F<'a, 'c>, argument: F<'a, 'c>) -> F<'a, 'c> {
    let r = argument.lt(f64::INFINITY).select(r, argument);
    let r = x.lt(0.0).select(x.lit(f64::NAN), r);
    x.eq(0.0).select(x.lit(f64::NEG_INFINITY), r)
}

/// Emits the natural logarithm.
pub fn log<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let (k, f) = split_any(x);
    with_specials(x, combine(k, f, None), x)
}

/// Like [`split`], but also for subnormal numbers, and with `k` as a float.
pub(super) fn split_any<'a, 'c>(x: F<'a, 'c>) -> (F<'a, 'c>, F<'a, 'c>) {
    let shift = i64::from(x.mantissa_bits()) + 2;
    let tiny = x.lt(x.pick(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let normal = tiny.select(x * 2f64.powi(shift as i32), x);
    let (k, f) = split(normal);
    let k = small_int_to_float(k, x);
    (tiny.select(k - shift as f64, k), f)
}

/// Emits log(1 + x), without cancellation near 0.
pub fn log1p<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    // u + d = 1 + x exactly.
    let u = x + 1.0;
    let one = u - x;
    let d = (x - (u - one)) + (x.lit(1.0) - one);
    let (k, f) = split(u);
    // d is scaled like u. If k is greater than the bias, d is too small to matter, and it is scaled by 0.
    let bias = x.bias();
    let far = k.cmp(crate::builder::IntPredicate::Sgt, k.lit(bias));
    let exponent = far.select_int(k.lit(0), k.lit(bias) - k);
    let c = d * (exponent << i64::from(x.mantissa_bits())).as_float(x.ty());
    let sum = f + c;
    let tail = (f - sum) + c;
    let r = with_specials(u, combine(small_int_to_float(k, x), sum, Some(tail)), x);
    x.eq(0.0).select(x, r)
}

/// Emits the inverse of sinh: log1p(a + a² / (1 + sqrt(a² + 1))) for a = |x|, or log a + ln 2 for large a.
pub fn asinh<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let a = x.abs();
    let (limit, large, a1) = large(a);
    let square = a1 * a1;
    let near = log1p(a1 + square / ((square + 1.0).sqrt() + 1.0));
    let far = log(large.select(a, a.lit(limit))) + std::f64::consts::LN_2;
    large.select(far, near).copysign(x)
}

/// Returns a limit, whether the non-negative `a` is at least the limit, and `a` or, if it is large, 1. Beyond
/// the limit, a² + 1 rounds to a².
fn large<'a, 'c>(a: F<'a, 'c>) -> (f64, super::P<'a, 'c>, F<'a, 'c>) {
    let limit = a.pick(2f64.powi(14), 2f64.powi(28));
    let large = !a.cmp(crate::builder::FloatPredicate::Ult, a.lit(limit));
    (limit, large, large.select(a.lit(1.0), a))
}

/// Emits the inverse of cosh. It is NaN below 1.
pub fn acosh<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let (limit, large, x1) = large(x);
    let t = x1 - 1.0;
    let near = log1p(t + (t * (t + 2.0)).sqrt());
    let far = log(large.select(x, x.lit(limit))) + std::f64::consts::LN_2;
    let r = large.select(far, near);
    x.lt(1.0).select(x.lit(f64::NAN), r)
}

/// Emits the inverse of tanh: log1p(2a / (1 - a)) / 2 for a = |x|. It is NaN for a > 1.
pub fn atanh<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let a = x.abs();
    let r = log1p((a + a) / (a.lit(1.0) - a)) * 0.5;
    a.gt(1.0).select(x.lit(f64::NAN), r).copysign(x)
}
