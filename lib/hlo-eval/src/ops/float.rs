//! Element-wise functions of `f32` and `f64`. Narrower floats are passed as `f32`.
//!
//! `f32` functions that are not exact are computed in `f64` and rounded once.

use super::integer::{comparison_function, ordered};
use crate::kernel::{Kernel, binary, ternary, unary};
use hlo_ir::attr::{ComparisonDirection, ComparisonType};
use hlo_ir::{ElementType, FloatFormat};

/// Returns the kernel of a function that Rust rounds correctly in both types.
pub(super) fn unary_exact(
    t: ElementType,
    single: impl Fn(f32) -> f32 + Send + Sync + 'static,
    double: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Option<Kernel> {
    match t {
        ElementType::F32 => Some(unary(single)),
        ElementType::F64 => Some(unary(double)),
        _ => None,
    }
}

/// Returns the kernel of a function of two numbers that Rust rounds correctly in both types.
pub(super) fn binary_exact(
    t: ElementType,
    single: impl Fn(f32, f32) -> f32 + Send + Sync + 'static,
    double: impl Fn(f64, f64) -> f64 + Send + Sync + 'static,
) -> Option<Kernel> {
    match t {
        ElementType::F32 => Some(binary(single)),
        ElementType::F64 => Some(binary(double)),
        _ => None,
    }
}

/// Returns the kernel of a function that is computed in `f64`.
pub(super) fn unary_math(t: ElementType, f: fn(f64) -> f64) -> Option<Kernel> {
    match t {
        ElementType::F32 => Some(unary(move |x: f32| f(x.into()) as f32)),
        ElementType::F64 => Some(unary(f)),
        _ => None,
    }
}

/// Returns the kernel of a function of two numbers that is computed in `f64`.
pub(super) fn binary_math(t: ElementType, f: fn(f64, f64) -> f64) -> Option<Kernel> {
    match t {
        ElementType::F32 => Some(binary(move |a: f32, b: f32| f(a.into(), b.into()) as f32)),
        ElementType::F64 => Some(binary(f)),
        _ => None,
    }
}

/// 1 / (1 + e⁻ˣ). For negative numbers it is computed as eˣ / (1 + eˣ), which has no overflow in intermediate
/// results.
pub(super) fn logistic(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// 1 / √x: the quotient, corrected by the residual 1 - x·y².
pub(super) fn rsqrt(x: f64) -> f64 {
    let y = 1.0 / x.sqrt();
    if !y.is_normal() {
        return y;
    }
    let product = x * y;
    let residual = libm::fma(-product, y, 1.0) - libm::fma(x, y, -product) * y;
    libm::fma(0.5 * y, residual, y)
}

/// NaN below 1, where libm also returns other values.
pub(super) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// -1, -0, +0 or 1; NaN for NaN.
pub(super) fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { 1f64.copysign(x) }
}

pub(super) fn is_finite(t: ElementType) -> Option<Kernel> {
    match t {
        ElementType::F32 => Some(unary(|x: f32| u8::from(x.is_finite()))),
        ElementType::F64 => Some(unary(|x: f64| u8::from(x.is_finite()))),
        _ => None,
    }
}

/// Declares the IEEE 754 `maximum` and `minimum` for a type: NaN if either is NaN, and -0 below +0.
macro_rules! extrema {
    ($t:ty, $maximum:ident, $minimum:ident) => {
        pub(super) fn $maximum(a: $t, b: $t) -> $t {
            if a.is_nan() || a > b || (a == b && b.is_sign_negative()) { a } else { b }
        }
        pub(super) fn $minimum(a: $t, b: $t) -> $t {
            if a.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b }
        }
    };
}
extrema!(f32, maximum_f32, minimum_f32);
extrema!(f64, maximum_f64, minimum_f64);

pub(super) fn maximum(t: ElementType) -> Option<Kernel> {
    binary_exact(t, maximum_f32, maximum_f64)
}

pub(super) fn minimum(t: ElementType) -> Option<Kernel> {
    binary_exact(t, minimum_f32, minimum_f64)
}

/// `minimum(maximum(x, low), high)`; the operands are low, x, high.
pub(super) fn clamp(t: ElementType) -> Option<Kernel> {
    match t {
        ElementType::F32 => {
            Some(ternary(|low: f32, x: f32, high: f32| minimum_f32(maximum_f32(x, low), high)))
        }
        ElementType::F64 => {
            Some(ternary(|low: f64, x: f64, high: f64| minimum_f64(maximum_f64(x, low), high)))
        }
        _ => None,
    }
}

/// Returns the kernel of a comparison: that of IEEE 754, or the total order -NaN < -inf < … < -0 < +0 < … <
/// inf < NaN.
pub(super) fn compare(
    t: ElementType,
    direction: ComparisonDirection,
    order: ComparisonType,
) -> Option<Kernel> {
    let test = comparison_function(direction);
    match (t, order) {
        (ElementType::F32, ComparisonType::TotalOrder) => {
            Some(binary(move |a: f32, b: f32| u8::from(test(a.total_cmp(&b)))))
        }
        (ElementType::F64, ComparisonType::TotalOrder) => {
            Some(binary(move |a: f64, b: f64| u8::from(test(a.total_cmp(&b)))))
        }
        // Compares the bits, because a wider type would not distinguish all NaNs.
        (_, ComparisonType::TotalOrder) => {
            let format = FloatFormat::of(t)?;
            let key = move |bits: u64| format.total_order(bits);
            Some(match t.byte_size() {
                1 => binary(move |a: u8, b: u8| u8::from(test(key(a.into()).cmp(&key(b.into()))))),
                _ => binary(move |a: u16, b: u16| u8::from(test(key(a.into()).cmp(&key(b.into()))))),
            })
        }
        (ElementType::F32, _) => Some(ordered::<f32>(direction)),
        (ElementType::F64, _) => Some(ordered::<f64>(direction)),
        _ => None,
    }
}

/// `reduce-precision` (semantics, "ReducePrecision"): rounds the fraction to nearest even. As in XLA, a
/// result that is too large becomes infinity, and a result below the smallest normal number becomes zero. NaN
/// stays NaN. More bits than the type has count as all bits of the type.
pub(super) fn reduce_precision(t: ElementType, exponent_bits: i64, mantissa_bits: i64) -> Option<Kernel> {
    if exponent_bits < 1 || mantissa_bits < 0 {
        return None;
    }
    /// Returns the kernel for floats with the given fields. The type is the unsigned integer of their width.
    macro_rules! reduced {
        ($bits:ty, $exponent:literal, $mantissa:literal) => {{
            let exponent_bits = exponent_bits.min($exponent) as u32;
            let dropped = ($mantissa - mantissa_bits.min($mantissa)) as u32;
            let fraction: $bits = (1 << $mantissa) - 1;
            let sign: $bits = 1 << ($exponent + $mantissa);
            let infinity: $bits = !sign & !fraction;
            // The largest exponents of both formats, in the exponent field of the wide format.
            let bias: $bits = (1 << ($exponent - 1)) - 1;
            let reduced_bias: $bits = (1 << (exponent_bits - 1)) - 1;
            let (largest, below) = ((bias + reduced_bias) << $mantissa, (bias - reduced_bias) << $mantissa);
            unary(move |x: $bits| {
                let (negative, magnitude) = (x & sign, x & !sign);
                if magnitude > infinity {
                    return x;
                }
                let mut rounded = magnitude;
                if dropped > 0 {
                    let odd = magnitude >> dropped & 1;
                    rounded = (magnitude + ((1 << (dropped - 1)) - 1) + odd) & !((1 << dropped) - 1);
                }
                let exponent = rounded & infinity;
                if exponent > largest {
                    rounded = infinity;
                } else if exponent_bits < $exponent && exponent <= below {
                    rounded = 0;
                }
                negative | rounded
            })
        }};
    }
    Some(match t {
        ElementType::F16 => reduced!(u16, 5, 10),
        ElementType::Bf16 => reduced!(u16, 8, 7),
        ElementType::F32 => reduced!(u32, 8, 23),
        ElementType::F64 => reduced!(u64, 11, 52),
        _ => return Some(reduced_narrow(FloatFormat::of(t)?, exponent_bits, mantissa_bits)),
    })
}

/// Returns the kernel for a format of at most 8 bits. Infinity and zero become the format's values for them,
/// as in a conversion.
fn reduced_narrow(format: FloatFormat, exponent_bits: i64, mantissa_bits: i64) -> Kernel {
    let exponent_bits = exponent_bits.min(format.exponent_bits.into()) as u32;
    let dropped = format.mantissa_bits - mantissa_bits.min(format.mantissa_bits.into()) as u32;
    let reduced_bias = (1i32 << (exponent_bits - 1)) - 1;
    let (largest, below) = (format.bias + reduced_bias, format.bias - reduced_bias);
    let sign = 1u64 << (format.exponent_bits + format.mantissa_bits);
    unary(move |x: u8| {
        let value = format.decode(x.into());
        if !value.is_finite() {
            return x;
        }
        let magnitude = u64::from(x) & (sign - 1);
        let odd = magnitude >> dropped & 1;
        let rounded = match dropped {
            0 => magnitude,
            _ => (magnitude + (1 << (dropped - 1)) - 1 + odd) >> dropped << dropped,
        };
        let exponent = (rounded >> format.mantissa_bits) as i32;
        let reduced = exponent_bits < format.exponent_bits;
        let result = if rounded > format.max_bits() || (reduced && exponent > largest) {
            format.encode(f64::INFINITY.copysign(value))
        } else if reduced && exponent <= below || rounded == 0 && magnitude != 0 {
            format.encode(0f64.copysign(value))
        } else {
            u64::from(x) & sign | rounded
        };
        result as u8
    })
}
