//! Tests of difficult arguments of functions. `bench/ulp` measures errors in general, and its tests compare
//! them with the table in docs/numerics.md.

use super::Compiled;
use hlo_ir::{ElementType, Op};

/// Returns the number of representable numbers between the two values. It is infinite if one is an unexpected
/// NaN or if a zero has the wrong sign.
fn error_f64(got: f64, want: f64) -> f64 {
    if got.is_nan() || want.is_nan() {
        return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == want {
        return if got == 0.0 && got.is_sign_negative() != want.is_sign_negative() {
            f64::INFINITY
        } else {
            0.0
        };
    }
    if got.is_infinite() != want.is_infinite() {
        let near = got.abs() >= f64::MAX * 0.9999999999999998 && want.abs() >= f64::MAX * 0.9999999999999998;
        return if near { 1.0 } else { f64::INFINITY };
    }
    let key = |x: f64| if x < 0.0 { -((x.to_bits() & !(1 << 63)) as i128) } else { x.to_bits() as i128 };
    (key(got) - key(want)).unsigned_abs() as f64
}

/// Tests the `f64` numbers that are closest to a multiple of π/2, and huge numbers. Their reduction needs
/// more than a thousand bits of π. The values were computed in 2000-bit arithmetic.
#[test]
fn the_hardest_arguments_are_reduced() {
    let x = [
        6381956970095103.0 * 2f64.powi(797),
        1.7976931348623157e308,
        1e300,
        1e22,
        134217728.0,
        134217729.5,
        1.0715086071862673e301,
        -3.3e150,
        5e17,
    ];
    let run = |op: Op| -> Vec<f64> { Compiled::new(op, ElementType::F64, &[ElementType::F64]).on(&[&x]) };
    let want: [[f64; 3]; 9] = [
        [1.0, -4.687165924254628e-19, -2.133485385753704e18],
        [0.004961954789184062, -0.9999876894265599, -0.004962015874444895],
        [-0.8178819121159085, -0.5753861119575491, 1.4214488238747245],
        [-0.8522008497671888, 0.523214785395139, -1.6287782256068988],
        [-0.7634032288019807, 0.6459222168765452, -1.1818810513958367],
        [0.5903031649209893, 0.8071816236041696, 0.7313139294291784],
        [-0.15920170308624243, 0.9872460775989135, -0.16125837995065806],
        [0.9458079239862635, -0.3247266095114388, -2.912628334983883],
        [-0.6639382538238361, 0.7477873996727649, -0.8878703413756083],
    ];
    let (sin, cos, tan) = (run(Op::Sine), run(Op::Cosine), run(Op::Tan));
    for (i, want) in want.iter().enumerate() {
        assert!(error_f64(sin[i], want[0]) <= 1.0, "sin {:e}: {:e}", x[i], sin[i]);
        assert!(error_f64(cos[i], want[1]) <= 1.0, "cos {:e}: {:e}", x[i], cos[i]);
        assert!(error_f64(tan[i], want[2]) <= 2.0, "tan {:e}: {:e}", x[i], tan[i]);
    }
}
