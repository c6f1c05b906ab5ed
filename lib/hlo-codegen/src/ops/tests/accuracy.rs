//! The error of each mathematical function in units in the last place. docs/numerics.md states the bounds.

use super::{Compiled, Random};
use hlo_ir::{ElementType, Op};

/// Sample points: `count` random bit patterns, the numbers of ordinary size more densely, and special values.
pub(super) fn points_f32(count: usize) -> Vec<f32> {
    let mut random = Random(1);
    let mut out = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        1e-45,
        -1e-45,
        0.5,
        -0.5,
        2.0,
        -2.0,
        88.72283,
        88.72284,
        -87.33655,
        -103.97,
        -104.0,
        89.0,
        1e5,
        8388608.0,
        16777216.0,
        1e10,
        1e30,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::PI,
        std::f32::consts::FRAC_1_SQRT_2,
        0.92773,
    ];
    for _ in 0..count {
        out.push(f32::from_bits(random.next() as u32));
        let unit = (random.next() >> 40) as f32 / 16777216.0;
        out.push(unit * 2.0 - 1.0);
        out.push(unit * 40.0 - 20.0);
        out.push(unit * 220.0 - 110.0);
        out.push(1.0 + (unit - 0.5) * 0.01);
    }
    out
}

pub(super) fn points_f64(count: usize) -> Vec<f64> {
    let mut random = Random(2);
    let mut out = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        5e-324,
        -5e-324,
        709.78,
        709.79,
        710.4,
        -745.13,
        -745.2,
        1e5,
        1e10,
        1e22,
        1e300,
        134217728.0,
    ];
    for _ in 0..count {
        out.push(f64::from_bits(random.next()));
        let unit = (random.next() >> 11) as f64 / 2f64.powi(53);
        out.push(unit * 2.0 - 1.0);
        out.push(unit * 40.0 - 20.0);
        out.push(unit * 1500.0 - 750.0);
        out.push(1.0 + (unit - 0.5) * 0.01);
        out.push((unit - 0.5) * 2e9);
    }
    out
}

/// The distance of `got` from `want` in units of the last place of an `f32` of `want`'s size; 0 if both are NaN
/// or equal, infinite if just one is NaN, a sign of zero is wrong, or one is infinite and the other far away.
fn error_f32(got: f32, want: f64) -> f64 {
    let rounded = want as f32;
    if got.is_nan() || want.is_nan() {
        return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == rounded {
        return if got == 0.0 && got.is_sign_negative() != rounded.is_sign_negative() {
            f64::INFINITY
        } else if got.is_infinite() {
            0.0
        } else {
            (f64::from(got) - want).abs() / ulp_f32(want)
        };
    }
    let finite = |x: f32| f64::from(x.clamp(f32::MIN, f32::MAX));
    if got.is_infinite() || rounded.is_infinite() {
        let one = got.is_infinite() && finite(got) == finite(rounded);
        return if one || finite(got) == finite(rounded) { 1.0 } else { f64::INFINITY };
    }
    (f64::from(got) - want).abs() / ulp_f32(want)
}

fn ulp_f32(x: f64) -> f64 {
    let exponent = (x.abs().max(f64::from(f32::MIN_POSITIVE))).log2().floor() as i32;
    2f64.powi(exponent - 23)
}

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

/// One function: the opcode, its reference in `f64`, and the bounds for `f32` and `f64`. The `f64` references are
/// themselves off by up to one unit, which the bounds include.
struct Case {
    op: Op,
    reference: fn(f64) -> f64,
    bound_f32: f64,
    bound_f64: f64,
}

fn cases() -> Vec<Case> {
    let case = |op, reference, bound_f32, bound_f64| Case { op, reference, bound_f32, bound_f64 };
    vec![
        case(Op::Exponential, f64::exp, 1.0, 2.0),
        case(Op::ExponentialMinusOne, f64::exp_m1, 1.5, 3.0),
        case(Op::Log, f64::ln, 1.0, 2.0),
        case(Op::LogPlusOne, f64::ln_1p, 1.0, 2.0),
        case(Op::Logistic, logistic, 2.5, 4.0),
        case(Op::Tanh, f64::tanh, 3.0, 4.0),
        case(Op::Erf, libm::erf, 2.0, 3.0),
        case(Op::Sine, f64::sin, 1.0, 2.0),
        case(Op::Cosine, f64::cos, 1.0, 2.0),
        case(Op::Tan, f64::tan, 1.0, 3.0),
        case(Op::Asin, f64::asin, 3.0, 4.0),
        case(Op::Acos, f64::acos, 3.0, 4.0),
        case(Op::Sinh, f64::sinh, 3.0, 4.0),
        case(Op::Cosh, f64::cosh, 2.0, 3.0),
        case(Op::Asinh, libm::asinh, 4.0, 5.0),
        case(Op::Acosh, acosh, 4.0, 5.0),
        case(Op::Atanh, libm::atanh, 4.0, 5.0),
        case(Op::Cbrt, f64::cbrt, 1.0, 2.0),
        case(Op::Rsqrt, |x| 1.0 / x.sqrt(), 1.5, 2.0),
        case(Op::Sqrt, f64::sqrt, 0.5, 0.0),
    ]
}

fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

fn logistic(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

#[test]
fn functions_of_f32_stay_within_their_bounds() {
    let points = points_f32(200_000);
    let mut bad = Vec::new();
    for case in cases() {
        let got: Vec<f32> =
            Compiled::new(case.op.clone(), ElementType::F32, &[ElementType::F32]).on(&[points.as_slice()]);
        let (worst, at) = points
            .iter()
            .zip(&got)
            .map(|(&x, &y)| (error_f32(y, (case.reference)(f64::from(x))), (x, y)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("points");
        println!("f32 {:<24} {worst:6.3} ULP at {:e} -> {:e}", case.op.name(), at.0, at.1);
        if worst > case.bound_f32 {
            bad.push(case.op.name());
        }
    }
    assert!(bad.is_empty(), "beyond their bounds: {bad:?}");
}

#[test]
fn functions_of_f64_stay_within_their_bounds() {
    let points = points_f64(100_000);
    let mut bad = Vec::new();
    for case in cases() {
        let got: Vec<f64> =
            Compiled::new(case.op.clone(), ElementType::F64, &[ElementType::F64]).on(&[points.as_slice()]);
        let (worst, at) = points
            .iter()
            .zip(&got)
            .map(|(&x, &y)| (error_f64(y, (case.reference)(x)), (x, y)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("points");
        println!(
            "f64 {:<24} {worst:6.0} ULP at {:e} -> {:e}, want {:e}",
            case.op.name(),
            at.0,
            at.1,
            (case.reference)(at.0)
        );
        if worst > case.bound_f64 {
            bad.push(case.op.name());
        }
    }
    assert!(bad.is_empty(), "beyond their bounds: {bad:?}");
}

#[test]
fn power_and_atan2_stay_within_their_bounds() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.5,
        -0.5,
        1e-40,
        -1e-40,
        1e30,
        -1e30,
        16777217.0,
        1e10,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut random = Random(3);
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for a in special {
        for b in special {
            xs.push(a);
            ys.push(b);
        }
    }
    for _ in 0..200_000 {
        let unit = |r: u64| (r >> 11) as f64 / 2f64.powi(53);
        let (u, v, w) = (unit(random.next()), unit(random.next()), unit(random.next()));
        xs.push((u * 4.0 - 2.0).exp2());
        ys.push(v * 200.0 - 100.0);
        xs.push((u * 200.0 - 100.0).exp2());
        ys.push((v - 0.5) * 4.0);
        xs.push(1.0 + (u - 0.5) * 1e-3);
        ys.push((v - 0.5) * 1e5);
        xs.push((u - 0.5) * 20.0);
        ys.push((w * 20.0 - 10.0).round());
    }
    type Reference = fn(f64, f64) -> f64;
    let functions: [(Op, Reference, f64, f64); 2] =
        [(Op::Power, f64::powf, 1.0, 2.0), (Op::Atan2, f64::atan2, 3.0, 3.0)];
    for (op, reference, bound_f32, bound_f64) in functions {
        let got: Vec<f64> =
            Compiled::new(op.clone(), ElementType::F64, &[ElementType::F64; 2]).on(&[&xs, &ys]);
        let worst = xs
            .iter()
            .zip(&ys)
            .zip(&got)
            .map(|((&x, &y), &r)| (error_f64(r, reference(x, y)), (x, y, r, reference(x, y))))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("points");
        println!("f64 {} {worst:?}", op.name());
        let (x32, y32): (Vec<f32>, Vec<f32>) =
            (xs.iter().map(|&x| x as f32).collect(), ys.iter().map(|&y| y as f32).collect());
        let got: Vec<f32> =
            Compiled::new(op.clone(), ElementType::F32, &[ElementType::F32; 2]).on(&[&x32, &y32]);
        let worst32 = x32
            .iter()
            .zip(&y32)
            .zip(&got)
            .map(|((&x, &y), &r)| {
                let want = reference(f64::from(x), f64::from(y));
                (error_f32(r, want), (x, y, r, want))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("points");
        println!("f32 {} {worst32:?}", op.name());
        assert!(worst.0 <= bound_f64 && worst32.0 <= bound_f32, "{}", op.name());
    }
}

/// The `f64` numbers that lie closest to a multiple of π/2, and huge ones: reducing them takes more than a
/// thousand bits of π. The values are from 2000-bit arithmetic.
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
