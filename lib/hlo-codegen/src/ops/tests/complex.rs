//! Functions of complex numbers: `c64` against formulas in `f64`.

use super::{Compiled, Random};
use hlo_ir::{ElementType, Op};

type Z = (f64, f64);

fn mul(a: Z, b: Z) -> Z {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn div(a: Z, b: Z) -> Z {
    let n = b.0 * b.0 + b.1 * b.1;
    ((a.0 * b.0 + a.1 * b.1) / n, (a.1 * b.0 - a.0 * b.1) / n)
}

fn exp(z: Z) -> Z {
    (z.0.exp() * z.1.cos(), z.0.exp() * z.1.sin())
}

fn log(z: Z) -> Z {
    let d = (z.0 - 1.0) * (z.0 + 1.0) + z.1 * z.1;
    let re = if d.abs() < 0.5 { d.ln_1p() * 0.5 } else { z.0.hypot(z.1).ln() };
    (re, z.1.atan2(z.0))
}

fn sqrt(z: Z) -> Z {
    let r = z.0.hypot(z.1);
    let t = ((r + z.0.abs()) / 2.0).sqrt();
    let u = z.1.abs() / (2.0 * t);
    if z.0 >= 0.0 { (t, u.copysign(z.1)) } else { (u, t.copysign(z.1)) }
}

fn sinh(z: Z) -> Z {
    (z.0.sinh() * z.1.cos(), z.0.cosh() * z.1.sin())
}

fn cosh(z: Z) -> Z {
    (z.0.cosh() * z.1.cos(), z.0.sinh() * z.1.sin())
}

fn times_i(z: Z) -> Z {
    (-z.1, z.0)
}

fn over_i(z: Z) -> Z {
    (z.1, -z.0)
}

/// The distance relative to the size of `want`.
fn error(got: Z, want: Z) -> f64 {
    let size = want.0.hypot(want.1).max(1e-30);
    (got.0 - want.0).hypot(got.1 - want.1) / size
}

fn points(count: usize, size: f32) -> Vec<[f32; 2]> {
    let mut random = Random(11);
    (0..count).map(|_| [0; 2].map(|_| ((random.next() >> 40) as f32 / 8388608.0 - 1.0) * size)).collect()
}

fn run(op: &Op, inputs: &[&[[f32; 2]]]) -> Vec<Z> {
    let types = vec![ElementType::C64; inputs.len()];
    let flat: Vec<Vec<f32>> = inputs.iter().map(|x| x.concat()).collect();
    let flat: Vec<&[f32]> = flat.iter().map(Vec::as_slice).collect();
    let out: Vec<f32> = Compiled::new(op.clone(), ElementType::C64, &types).on(&flat);
    out.chunks(2).map(|z| (f64::from(z[0]), f64::from(z[1]))).collect()
}

fn wide(z: [f32; 2]) -> Z {
    (f64::from(z[0]), f64::from(z[1]))
}

#[test]
fn functions_of_complex_numbers_are_accurate() {
    type Reference = fn(Z) -> Z;
    let functions: [(Op, Reference); 19] = [
        (Op::Exponential, exp),
        (Op::ExponentialMinusOne, |z| {
            let s = (z.1 / 2.0).sin();
            (z.0.exp_m1() * z.1.cos() - 2.0 * s * s, z.0.exp() * z.1.sin())
        }),
        (Op::Log, log),
        (Op::LogPlusOne, |z| (0.5 * (z.0 * (2.0 + z.0) + z.1 * z.1).ln_1p(), z.1.atan2(1.0 + z.0))),
        (Op::Logistic, |z| {
            div((1.0, 0.0), {
                let e = exp((-z.0, -z.1));
                (1.0 + e.0, e.1)
            })
        }),
        (Op::Sqrt, sqrt),
        (Op::Rsqrt, |z| div((1.0, 0.0), sqrt(z))),
        (Op::Sinh, sinh),
        (Op::Cosh, cosh),
        (Op::Tanh, |z| div(sinh(z), cosh(z))),
        (Op::Sine, |z| over_i(sinh(times_i(z)))),
        (Op::Cosine, |z| cosh(times_i(z))),
        (Op::Tan, |z| over_i(div(sinh(times_i(z)), cosh(times_i(z))))),
        (Op::Sign, |z| (z.0 / z.0.hypot(z.1), z.1 / z.0.hypot(z.1))),
        (Op::Asinh, |z| {
            let s = if z.0 < 0.0 { -1.0 } else { 1.0 };
            let z = (s * z.0, s * z.1);
            let r = mul(sqrt((z.0, z.1 + 1.0)), sqrt((z.0, z.1 - 1.0)));
            let l = log((z.0 + r.0, z.1 + r.1));
            (s * l.0, s * l.1)
        }),
        (Op::Acosh, |z| {
            let r = mul(sqrt((z.0 + 1.0, z.1)), sqrt((z.0 - 1.0, z.1)));
            log((z.0 + r.0, z.1 + r.1))
        }),
        (Op::Atanh, |z| {
            let (a, b) = (log((1.0 + z.0, z.1)), log((1.0 - z.0, -z.1)));
            ((a.0 - b.0) / 2.0, (a.1 - b.1) / 2.0)
        }),
        (Op::Negate, |z| (-z.0, -z.1)),
        (Op::Copy, |z| z),
    ];
    let mut bad = Vec::new();
    for (op, reference) in functions {
        let points = [points(20_000, 1.0), points(20_000, 8.0)].concat();
        let worst = run(&op, &[&points])
            .iter()
            .zip(&points)
            .map(|(&got, &z)| (error(got, reference(wide(z))), z))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("points");
        println!("c64 {:<24} {:.1} eps at {:?}", op.name(), worst.0 / f64::from(f32::EPSILON), worst.1);
        if worst.0 > 16.0 * f64::from(f32::EPSILON) || worst.0.is_nan() {
            bad.push(op.name());
        }
    }
    assert!(bad.is_empty(), "inaccurate: {bad:?}");
}

#[test]
fn quotients_and_powers_of_complex_numbers_are_accurate() {
    let (x, y) = (points(20_000, 4.0), points(20_001, 3.0)[1..].to_vec());
    for (op, reference) in [
        (Op::Multiply, mul as fn(Z, Z) -> Z),
        (Op::Divide, div),
        (Op::Power, |z: Z, w: Z| exp(mul(w, log(z)))),
    ] {
        let worst = run(&op, &[&x, &y])
            .iter()
            .zip(x.iter().zip(&y))
            .map(|(&got, (&a, &b))| error(got, reference(wide(a), wide(b))))
            .fold(0.0, f64::max);
        println!("c64 {:<24} {:.1} eps", op.name(), worst / f64::from(f32::EPSILON));
        assert!(worst <= 64.0 * f64::from(f32::EPSILON), "{}", op.name());
    }
}

#[test]
fn neither_the_absolute_value_nor_a_quotient_overflows_early() {
    let z = [3e38f32, 2e37, 3e-40, 4e-40, f32::INFINITY, f32::NAN, 0.0, 0.0];
    let abs: Vec<f32> = Compiled::new(Op::Abs, ElementType::F32, &[ElementType::C64]).on(&[&z]);
    assert!((abs[0] / 3.0066593e38 - 1.0).abs() < 1e-6, "{}", abs[0]);
    assert!((abs[1] / 5e-40 - 1.0).abs() < 1e-5, "{}", abs[1]);
    assert_eq!((abs[2], abs[3]), (f32::INFINITY, 0.0));
    let x = [3e38f32, 3e38, 1e-38, 0.0, 1.0, 2.0, 0.0, 0.0];
    let y = [3e38f32, 3e38, 1e-38, 1e-38, 0.0, 0.0, 0.0, 0.0];
    let q: Vec<f32> =
        Compiled::new(Op::Divide, ElementType::C64, &[ElementType::C64; 2]).on(&[x.as_slice(), &y]);
    assert_eq!(q[..2], [1.0, 0.0]);
    assert_eq!(q[2..4], [0.5, -0.5]);
    assert_eq!(q[4..6], [f32::INFINITY, f32::INFINITY]);
    assert!(q[6].is_nan() && q[7].is_nan());
}
