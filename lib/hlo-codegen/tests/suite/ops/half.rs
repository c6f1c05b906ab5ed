//! Tests of functions of `f16` and `bf16` for every bit pattern: the result is the rounded `f32` result.

use super::Compiled;
use hlo_codegen::internals::Format;
use hlo_ir::{ElementType, Op};

#[test]
fn functions_of_half_precision_are_nearly_correctly_rounded() {
    type Reference = fn(f64) -> f64;
    let functions: [(Op, Reference); 14] = [
        (Op::Exponential, f64::exp),
        (Op::ExponentialMinusOne, f64::exp_m1),
        (Op::Log, f64::ln),
        (Op::LogPlusOne, f64::ln_1p),
        (Op::Tanh, f64::tanh),
        (Op::Erf, libm::erf),
        (Op::Sine, f64::sin),
        (Op::Cosine, f64::cos),
        (Op::Tan, f64::tan),
        (Op::Sqrt, f64::sqrt),
        (Op::Rsqrt, |x| 1.0 / x.sqrt()),
        (Op::Cbrt, f64::cbrt),
        (Op::RoundNearestEven, f64::round_ties_even),
        (Op::Negate, |x| -x),
    ];
    let patterns: Vec<u16> = (0..=u16::MAX).collect();
    for ty in [ElementType::F16, ElementType::Bf16] {
        let format = Format::of(ty).expect("a narrow format");
        let value = |bits: u16| f64::from(format.decode_constant(u32::from(bits)));
        for (op, reference) in &functions {
            let got: Vec<u16> = Compiled::new(op.clone(), ty, &[ty]).on(&[&patterns]);
            for (&x, &y) in patterns.iter().zip(&got) {
                let want = reference(value(x));
                if want.is_nan() {
                    assert!(value(y).is_nan(), "{} {ty} of {:e}", op.name(), value(x));
                    continue;
                }
                // The result may be slightly more than half a unit off, because the f32 result has an error
                // of its own.
                let near = |other: u16| {
                    let other = value(other);
                    other.is_finite() && (other - want).abs() < (value(y) - want).abs() * (1.0 - 1e-3)
                };
                let worse = value(y).is_finite()
                    && (near(y.wrapping_add(1)) || near(y.wrapping_sub(1)))
                    && (y & 0x7fff) != 0;
                assert!(!worse, "{} {ty} of {:e}: {:e}, want {want:e}", op.name(), value(x), value(y));
            }
        }
    }
}

#[test]
fn sums_of_half_precision_round_once() {
    let x: Vec<u16> = (0..=u16::MAX).collect();
    let y: Vec<u16> = x.iter().map(|v| v.wrapping_mul(40503)).collect();
    let got: Vec<u16> = Compiled::new(Op::Add, ElementType::Bf16, &[ElementType::Bf16; 2]).on(&[&x, &y]);
    for i in 0..x.len() {
        let wide = |v: u16| f32::from_bits(u32::from(v) << 16);
        let sum = wide(x[i]) + wide(y[i]);
        if sum.is_nan() {
            assert!(wide(got[i]).is_nan());
            continue;
        }
        let bits = sum.to_bits();
        let want = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16;
        assert_eq!(got[i], want, "{} + {}", wide(x[i]), wide(y[i]));
    }
}
