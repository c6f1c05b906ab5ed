//! Sine, cosine, tangent and their inverses.
//!
//! The argument is reduced to q π/2 + r with |r| <= π/4. For `f32`, x · 2/π is computed in `f64` as a sum of
//! products of x and 29-bit pieces of 2/π. The products are exact, and whole turns are dropped from them, so
//! that every argument is reduced correctly. For `f64`, three pieces of π/2 suffice up to 2^27, and the
//! method of Payne and Hanek is used beyond. sin and cos of r and the arctangent are minimax polynomials
//! (Remez algorithm, 160 bits).

use super::exp::nearest;
use super::payne_hanek::{self, PI_2_MID, Reduced};
use super::{F, I, P};
use crate::builder::FloatPredicate;
use std::convert::Infallible;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4};

/// The third piece of π/2, below `FRAC_PI_2` and `PI_2_MID`.
const PI_2_LOW: f64 = -1.497_384_904_859_169_8e-33;

/// 2/π in 29-bit pieces: the sum of `TWO_OVER_PI[i]` · 2^(-29 (i + 1)).
const TWO_OVER_PI: [u32; 7] =
    [0x145f306d, 0x19391054, 0x14fe13ab, 0x1d1f534d, 0x1b81b6c5, 0x5664f10, 0x1c820ff2];

/// Reduces an `f32` given as `f64`.
fn reduce_narrow<'a, 'c>(x: F<'a, 'c>) -> Reduced<'a, 'c> {
    // Reduces the products modulo 4 quarter turns, the largest first. The first of them may be large, because
    // |x| < 2^128.
    let pieces: Vec<F<'a, 'c>> = (0..TWO_OVER_PI.len())
        .map(|i| {
            let weight = 2f64.powi(-29 * (i as i32 + 1));
            let p = x * (f64::from(TWO_OVER_PI[i]) * weight);
            if i < 5 { (p * 0.25).round_even().fma(x.lit(-4.0), p) } else { p }
        })
        .collect();
    let total = pieces.iter().skip(1).fold(pieces[0], |sum, &p| sum + p);
    let (n, quarter) = nearest(total, 1.0);
    let rest = pieces.iter().skip(1).fold(pieces[0] - n, |sum, &p| sum + p);
    Reduced { quarter, r: rest * FRAC_PI_2, tail: None }
}

/// Reduces an `f64`.
fn reduce_wide<'a, 'c>(x: F<'a, 'c>) -> Reduced<'a, 'c> {
    let b = x.b;
    let small = !x.abs().cmp(FloatPredicate::Oge, x.lit(2f64.powi(27)));
    let types = [b.f64(), b.f64(), b.i64()];
    let Ok(v) = b.if_else(
        small.v,
        &types,
        || {
            let (n, quarter) = nearest(x, FRAC_2_PI);
            // This is exact: the bits of the product below 2^-53 are those of x.
            let r = n.fma(x.lit(-FRAC_PI_2), x);
            let y = n.fma(x.lit(-PI_2_MID), r);
            let tail = n.fma(x.lit(-PI_2_LOW), n.fma(x.lit(-PI_2_MID), r - y));
            Ok::<_, Infallible>(vec![y.v, tail.v, quarter.v])
        },
        || {
            let big = payne_hanek::reduce(x);
            Ok(vec![big.r.v, big.tail.unwrap_or(x).v, big.quarter.v])
        },
    );
    Reduced { quarter: I::new(b, v[2]), r: F::new(b, v[0]), tail: Some(F::new(b, v[1])) }
}

const SIN_F32: [f64; 4] =
    [-0.16666666641607233, 0.008333329383604683, -0.00019839334088392455, 2.7183042657862765e-06];
const COS_F32: [f64; 4] =
    [0.04166666662279364, -0.001388888375037266, 2.4799519192122326e-05, -2.7210169238826667e-07];
const SIN_F64: [f64; 6] = [
    -0.16666666666666632,
    0.008333333333322413,
    -0.00019841269829807737,
    2.755731369190016e-06,
    -2.505075811311901e-08,
    1.5896795553006916e-10,
];
const COS_F64: [f64; 6] = [
    0.04166666666666905,
    -0.0013888888889276585,
    2.4801587528831466e-05,
    -2.755738042383756e-07,
    2.0884331116885048e-09,
    -1.1787964833511733e-11,
];

/// Emits sin and cos of the argument, in `f64`.
fn sin_cos<'a, 'c>(x: F<'a, 'c>) -> (F<'a, 'c>, F<'a, 'c>) {
    let wide = x.is_f64();
    let reduced = if wide { reduce_wide(x) } else { reduce_narrow(x.to_f64()) };
    let r = reduced.r;
    let z = r * r;
    let (sin, cos) = if let Some(tail) = reduced.tail {
        let half = z * 0.5;
        let one = z.lit(1.0) - half;
        let cos_low = (one.lit(1.0) - one - half) + (z * z).fma(z.poly(&COS_F64), -(r * tail));
        let sin_low = (r * z).fma(z.poly(&SIN_F64), tail * one);
        (r + sin_low, one + cos_low)
    } else {
        let cos = (z * z).fma(z.poly(&COS_F32), z.fma(z.lit(-0.5), z.lit(1.0)));
        ((r * z).fma(z.poly(&SIN_F32), r), cos)
    };
    let swap = (reduced.quarter & 1).ne(0);
    let sin_negative = (reduced.quarter & 2) << 62;
    let cos_negative = ((reduced.quarter + 1) & 2) << 62;
    let signed = |v: F<'a, 'c>, sign: I<'a, 'c>| (v.bits() ^ sign).as_float(v.ty());
    (signed(swap.select(cos, sin), sin_negative), signed(swap.select(sin, cos), cos_negative))
}

/// Emits sin x.
pub fn sin<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let r = sin_cos(x).0.to_type_of(x);
    x.eq(0.0).select(x, r)
}

/// Emits cos x.
pub fn cos<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    sin_cos(x).1.to_type_of(x)
}

/// Emits tan x.
pub fn tan<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let (s, c) = sin_cos(x);
    let r = (s / c).to_type_of(x);
    x.eq(0.0).select(x, r)
}

const ATAN_F32: [f64; 5] = [-0.333333164, 0.199984878, -0.142438263, 0.10595829, -0.0608299226];
const ATAN_F64: [f64; 11] = [
    -0.333333333333332,
    0.19999999999954002,
    -0.14285714280239864,
    0.11111110785683538,
    -0.09090897822828695,
    0.07692061385994449,
    -0.06663117438211642,
    0.05847986873837162,
    -0.05039743649502262,
    0.03807567263567367,
    -0.017919317023331688,
];

/// Emits the angle of the point (x, y), between -π and π, with the signs of zeros as in C.
pub fn atan2<'a, 'c>(y: F<'a, 'c>, x: F<'a, 'c>) -> F<'a, 'c> {
    let (ay, ax) = (y.abs(), x.abs());
    let swap = ay.cmp(FloatPredicate::Ogt, ax);
    let (num, den) = (swap.select(ax, ay), swap.select(ay, ax));
    // Infinity by infinity becomes 1. Zero by zero, and a number by infinity, become zero.
    let both = num.eq(f64::INFINITY) & den.eq(f64::INFINITY);
    let (num, den) = (both.select(x.lit(1.0), num), both.select(x.lit(1.0), den));
    let infinite = den.eq(f64::INFINITY);
    let num = infinite.select(num * 0.0, num);
    let den = (infinite | den.eq(0.0)).select(x.lit(1.0), den);
    // Scales down so that the sums do not overflow.
    let huge = den.gt(x.pick(2f64.powi(120), 2f64.powi(1000)));
    let factor = huge.select(x.lit(x.pick(2f64.powi(-30), 2f64.powi(-100))), x.lit(1.0));
    let (num, den) = (num * factor, den * factor);
    // Beyond tan(π/8), atan t = π/4 + atan((t - 1) / (t + 1)). The sum and the difference include their
    // rounding errors.
    let beyond = num.cmp(FloatPredicate::Ogt, den * 0.414_213_562_373_095);
    let (difference, sum) = (num - den, num + den);
    let zero = x.lit(0.0);
    let n_low = beyond.select(num - (difference + den), zero);
    let d_low = beyond.select(num - (sum - den), zero);
    let (n, d) = (beyond.select(difference, num), beyond.select(sum, den));
    let t = n / d;
    let t_low = (t.fma(-d, n) + t.fma(-d_low, n_low)) / d;
    let z = t * t;
    // atan(t + t_low) is approximately atan t + t_low / (1 + t²).
    let low = (t * z).fma(z.poly(x.pick(&ATAN_F32[..], &ATAN_F64[..])), t_low * z.fma(z - 1.0, x.lit(1.0)));
    // m π/4 ± (t + low), depending on the octant.
    let left: P<'a, 'c> = x.sign_bit();
    let m = beyond.select(x.lit(1.0), zero);
    let m = swap.select(x.lit(2.0) - m, m);
    let m = left.select(x.lit(4.0) - m, m);
    let flip = swap ^ left;
    let (t, low) = (flip.select(-t, t), flip.select(-low, low));
    let (pi_4, pi_4_low) =
        x.pick((0.785_398_185_253_143_3, -2.185_569_414_336_896e-8), (FRAC_PI_4, 3.061_616_997_868_383e-17));
    let whole = m * pi_4;
    let whole_low = m.fma(x.lit(pi_4), -whole);
    let sum = whole + t;
    let sum_low = t - (sum - whole);
    (sum + (sum_low + m.fma(x.lit(pi_4_low), whole_low + low))).copysign(y)
}

/// Emits sqrt(1 - x²), which is NaN if |x| > 1.
fn sqrt_one_minus_square<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    ((x.lit(1.0) - x) * (x + 1.0)).sqrt()
}

/// Emits asin x.
pub fn asin<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    atan2(x, sqrt_one_minus_square(x))
}

/// Emits acos x.
pub fn acos<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    atan2(sqrt_one_minus_square(x), x)
}
