//! Powers and roots.

use super::exp::{exp, exp_with_tail};
use super::log::{log, split_any};
use super::{F, P};
use crate::builder::FloatPredicate;

/// The coefficients of (log((1 + s) / (1 - s)) - 2s - 2s³/3) / s⁵ as a polynomial in s²: minimax (Remez
/// algorithm, 500 bits).
const ATANH_TAIL: [f64; 7] = [
    0.4000000000000226,
    0.2857142857009691,
    0.22222222520419213,
    0.1818178432206157,
    0.15386759477141704,
    0.1325676624631473,
    0.1319682006081164,
];

/// A sum of two floats, the second smaller than the last place of the first.
type Pair<'a, 'c> = (F<'a, 'c>, F<'a, 'c>);

/// Emits the sum and its rounding error. Requires `|a| >= |b|` or `a` zero.
fn fast_two_sum<'a, 'c>(a: F<'a, 'c>, b: F<'a, 'c>) -> Pair<'a, 'c> {
    let s = a + b;
    (s, (a - s) + b)
}

/// Emits the product and its rounding error.
fn two_product<'a, 'c>(a: F<'a, 'c>, b: F<'a, 'c>) -> Pair<'a, 'c> {
    let p = a * b;
    (p, a.fma(b, -p))
}

/// Emits log x for a positive finite `f64`, with an error of about 2^-65.
fn log_pair<'a, 'c>(x: F<'a, 'c>) -> Pair<'a, 'c> {
    let (k, f) = split_any(x);
    // s = f / (2 + f)
    let g = f + 2.0;
    let g_low = f - (g - 2.0);
    let s = f / g;
    let s_low = (-(s * g_low) - s.fma(g, -f)) / g;
    let (z, z_error) = two_product(s, s);
    let z_low = (s + s).fma(s_low, z_error);
    // 2/3 s³
    let (cube, cube_error) = two_product(s, z);
    let cube_low = cube_error + s.fma(z_low, s_low * z);
    let (third, third_error) = two_product(cube, x.lit(2.0 / 3.0));
    let third_low = third_error + cube.fma(x.lit(3.700_743_415_417_188e-17), cube_low * (2.0 / 3.0));
    let rest = cube * z * z.poly(&ATANH_TAIL);
    // ln 2 as 40 bits and the rest. k times the first is exact.
    let (sum, e1) = fast_two_sum(k * 0.693_147_180_559_208_2, s + s);
    let (sum, e2) = fast_two_sum(sum, third);
    let low = (e1 + e2) + (k.fma(x.lit(7.371_002_565_167_799e-13), s_low + s_low) + (third_low + rest));
    fast_two_sum(sum, low)
}

/// Emits e^(y log |x|) for `f64`, without the special cases.
fn power_of_magnitude<'a, 'c>(x: F<'a, 'c>, y: F<'a, 'c>) -> F<'a, 'c> {
    let (high, low) = log_pair(x);
    let (p, p_error) = two_product(y, high);
    let tail = y.fma(low, p_error);
    let tail = p.abs().lt(1000.0).select(tail, p.lit(0.0));
    exp_with_tail(p, tail)
}

/// Emits x^y with the special cases of IEEE 754's `pow`.
pub fn power<'a, 'c>(x: F<'a, 'c>, y: F<'a, 'c>) -> F<'a, 'c> {
    if !x.is_f64() {
        // In f64 the rounding errors of log and exp are far below f32's last place.
        let (x64, y64) = (x.to_f64(), y.to_f64());
        let magnitude = exp(y64 * log(x64.abs()));
        return special_cases(x64, y64, magnitude).to_f32();
    }
    special_cases(x, y, power_of_magnitude(x.abs(), y))
}

fn special_cases<'a, 'c>(x: F<'a, 'c>, y: F<'a, 'c>, magnitude: F<'a, 'c>) -> F<'a, 'c> {
    let a = x.abs();
    let infinity = x.lit(f64::INFINITY);
    let end: P<'a, 'c> = a.eq(0.0) | a.eq(f64::INFINITY);
    let to_zero = a.eq(0.0) ^ y.lt(0.0);
    let r = end.select(to_zero.select(x.lit(0.0), infinity), magnitude);
    let r = a.eq(1.0).select(x.lit(1.0), r);
    let whole = y.trunc().cmp(FloatPredicate::Oeq, y);
    let half = y * 0.5;
    let odd = whole & half.trunc().cmp(FloatPredicate::Une, half);
    let r = (odd & x.sign_bit()).select(-r, r);
    let undefined = x.lt(0.0) & x.is_finite() & !whole;
    let r = (undefined | x.is_nan() | y.is_nan()).select(x.lit(f64::NAN), r);
    (y.eq(0.0) | x.eq(1.0)).select(x.lit(1.0), r)
}

/// Emits 1 / sqrt(x): the quotient, followed by a Newton step. The residual 1 - x y² is computed as if
/// exactly.
pub fn rsqrt<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let y = x.lit(1.0) / x.sqrt();
    let (h, h_error) = two_product(x, y);
    let residual = h.fma(-y, x.lit(1.0)) - h_error * y;
    let refined = (y * 0.5).fma(residual, y);
    let ordinary = x.gt(0.0) & x.lt(f64::INFINITY);
    ordinary.select(refined, y)
}

/// Emits the cube root. An estimate divides the exponent by three. A polynomial refines it to 23 bits, and a
/// Newton step to 53 bits. The method and the coefficients are those of FreeBSD's `s_cbrt.c`.
pub fn cbrt<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let a = x.abs().to_f64();
    let tiny = a.lt(f64::MIN_POSITIVE);
    let scaled = tiny.select(a * 2f64.powi(54), a);
    // The high word divided by three: a product with 2^32 / 3 rounded up.
    let third = (scaled.bits().shift_right(32) * 0x5555_5556).shift_right(32);
    let t = ((third + 715_094_163) << 32).as_float(a.ty());
    let r = (t * t) * (t / scaled);
    let high = r.poly(&[1.87595182427177, -1.8849797954337717, 1.6214297201053545]);
    let low = r.poly(&[-0.758397934778766, 0.14599619288661245]);
    let t = t * (high + (r * r) * r * low);
    let t = ((t.bits() + 0x8000_0000) & !0x3fff_ffff).as_float(a.ty());
    let s = t * t;
    let r = scaled / s;
    let t = t + t * ((r - t) / (t + t + r));
    let t = tiny.select(t * 2f64.powi(-18), t).to_type_of(x);
    let keep = x.eq(0.0) | !x.is_finite();
    keep.select(x, t.copysign(x))
}
