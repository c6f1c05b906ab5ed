//! The error function.
//!
//! Near 0, erf x = x + x P(x²). For larger |x|, erf x = 1 - e^-q(|x|) with the sign of x. The `f32`
//! coefficients were published by N. Juffa (error below 1 ULP). The `f64` coefficients are minimax
//! polynomials for the absolute error of erf (Remez algorithm, 160 bits), with q centered at 1.

use super::F;
use super::exp::normal_exp;

const NEAR_F32: [f64; 6] =
    [1.28379166e-1, -3.76125336e-1, 1.12819925e-1, -2.67681349e-2, 4.99119423e-3, -5.96761703e-4];
/// -q(t) + t without its constant term, which is multiplied by t.
const FAR_F32: [f64; 6] =
    [-1.28717512e-1, -6.34846687e-1, -1.06777877e-1, 2.42546219e-2, -3.88396438e-3, 3.83197126e-4];
const FAR_F32_LAST: f64 = -1.72853470e-5;

const NEAR_F64: [f64; 12] = [
    0.1283791670955126,
    -0.3761263890318371,
    0.1128379167095267,
    -0.02686617064459835,
    0.0052239776194636794,
    -0.0008548326627356456,
    0.00012055316321366083,
    -1.4925187963085126e-05,
    1.6453519390878434e-06,
    -1.6259570315941834e-07,
    1.3961889034904402e-08,
    -8.289992902945528e-10,
];
const FAR_F64: [f64; 21] = [
    1.8496055099332482,
    2.6389675142347913,
    0.8431072563584852,
    0.04156109804652019,
    -0.010033825434219181,
    0.001977903020965915,
    -0.0002373247131422874,
    -2.6270315248716384e-05,
    2.714081633825439e-05,
    -9.576417855118736e-06,
    2.0166941242821682e-06,
    -9.970650694581909e-08,
    -1.3042796425994312e-07,
    7.108145281288001e-08,
    -2.3253111556143594e-08,
    5.593252132101475e-09,
    -1.0206187843334961e-09,
    1.3859837984673813e-10,
    -1.3243851892803068e-11,
    7.941126913477285e-13,
    -2.243394172439156e-14,
];

/// Emits erf x.
pub fn erf<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let a = x.abs();
    let square = x * x;
    let (near_limit, far_limit) = x.pick((0.927_734_375, 4.0), (0.925, 5.95));
    let limited = a.gt(far_limit).select(x.lit(far_limit), a);
    let exponent = if x.is_f64() {
        -(limited - 1.0).poly(&FAR_F64)
    } else {
        let mut c = FAR_F32.to_vec();
        c.push(FAR_F32_LAST);
        // The term -t is added last, so that only its rounding matters.
        let series = limited.poly(&c);
        series.fma(limited, -limited)
    };
    let far = (x.lit(1.0) - normal_exp(exponent)).copysign(x);
    let near_poly = square.poly(x.pick(&NEAR_F32[..], &NEAR_F64[..]));
    let near = near_poly.fma(x, x);
    a.gt(near_limit).select(far, near)
}
