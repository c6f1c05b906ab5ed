//! Element-wise operations: selects the function for each opcode and type.
//!
//! Semantics: "Element-wise unary functions", "Element-wise binary arithmetic operations", "Element-wise
//! comparison operations", "Select", "Clamp", "ConvertElementType", "ReducePrecision".

use super::complex::{self, complex_binary, complex_unary};
use super::{convert, float, integer};
use crate::kernel::{Kernel, computes_in_f32, in_lanes, ternary, with_storage};
use hlo_ir::attr::ComparisonType;
use hlo_ir::{ElementType, ElementwiseOp as E};

/// Returns the kernel of an element-wise operation on the given element types. Fails if the operation is not
/// defined on them.
pub(crate) fn kernel(op: E<'_>, operands: &[ElementType], result: ElementType) -> Result<Kernel, String> {
    let &t = operands.first().ok_or_else(|| format!("{} of nothing is not defined", op.opcode().name()))?;
    let narrow = operands.iter().any(|&t| computes_in_f32(t)) || computes_in_f32(result);
    let of_bits = matches!(op, E::Convert | E::ReducePrecision(_) | E::StochasticConvert | E::Select)
        || matches!(op, E::Compare(a) if a.comparison_type == ComparisonType::TotalOrder);
    if narrow && !of_bits {
        // Computes in `f32` and rounds once.
        let wide = |t: ElementType| if computes_in_f32(t) { ElementType::F32 } else { t };
        let wide_operands: Vec<ElementType> = operands.iter().map(|&t| wide(t)).collect();
        return Ok(in_lanes(operands, result, kernel(op, &wide_operands, wide(result))?));
    }
    element_function(op, t, operands, result).ok_or_else(|| {
        let names: Vec<&str> = operands.iter().map(|t| t.name()).collect();
        format!("{} of {} is not defined", op.opcode().name(), names.join(", "))
    })
}

/// Returns the kernel of an operation in the types that it computes in. `t` is the type of the first operand.
/// Returns `None` if the operation is not defined on these types.
fn element_function(
    op: E<'_>,
    t: ElementType,
    operands: &[ElementType],
    result: ElementType,
) -> Option<Kernel> {
    match op {
        E::Abs if t.is_complex() => complex::to_real(t, complex::abs),
        E::Abs => integer::abs(t).or_else(|| float::unary_exact(t, f32::abs, f64::abs)),
        E::Acos => math(t, libm::acos, complex::acos),
        E::Acosh => math(t, float::acosh, complex::acosh),
        E::Asin => math(t, libm::asin, complex::asin),
        E::Asinh => math(t, libm::asinh, complex::asinh),
        E::Atanh => math(t, libm::atanh, complex::atanh),
        E::Cbrt => math(t, libm::cbrt, complex::cbrt),
        E::Ceil => float::unary_exact(t, f32::ceil, f64::ceil),
        E::Cosine => math(t, libm::cos, complex::cos),
        E::Cosh => math(t, libm::cosh, complex::cosh),
        E::CountLeadingZeros => integer::count_leading_zeros(t),
        E::Erf => float::unary_math(t, libm::erf),
        E::Exponential => math(t, libm::exp, complex::exp),
        E::ExponentialMinusOne => math(t, libm::expm1, complex::expm1),
        E::Floor => float::unary_exact(t, f32::floor, f64::floor),
        E::Imag if t.is_complex() => complex::part(t, 1),
        E::Imag => float::unary_exact(t, |_| 0.0, |_| 0.0),
        E::IsFinite => float::is_finite(t),
        E::Log => math(t, libm::log, complex::log),
        E::LogPlusOne => math(t, libm::log1p, complex::log1p),
        E::Logistic => math(t, float::logistic, complex::logistic),
        E::Negate => integer::negate(t)
            .or_else(|| float::unary_exact(t, |x| -x, |x| -x))
            .or_else(|| complex_unary(t, |z| -z)),
        E::Not => integer::not(t),
        E::PopulationCount => integer::population_count(t),
        E::Real if t.is_complex() => complex::part(t, 0),
        E::Real => float::unary_exact(t, |x| x, |x| x),
        E::RoundNearestAfz => float::unary_exact(t, f32::round, f64::round),
        E::RoundNearestEven => float::unary_exact(t, f32::round_ties_even, f64::round_ties_even),
        E::Rsqrt => math(t, float::rsqrt, complex::rsqrt),
        E::Sign => integer::sign(t)
            .or_else(|| float::unary_math(t, float::sign))
            .or_else(|| complex_unary(t, complex::sign)),
        E::Sine => math(t, libm::sin, complex::sin),
        E::Sinh => math(t, libm::sinh, complex::sinh),
        E::Sqrt => float::unary_exact(t, f32::sqrt, f64::sqrt).or_else(|| complex_unary(t, complex::sqrt)),
        E::Tan => math(t, libm::tan, complex::tan),
        E::Tanh => math(t, libm::tanh, complex::tanh),
        E::Convert => Some(convert::kernel(t, result)),
        E::ReducePrecision(a) => float::reduce_precision(t, a.exponent_bits, a.mantissa_bits),
        E::Add => integer::add(t)
            .or_else(|| float::binary_exact(t, |a, b| a + b, |a, b| a + b))
            .or_else(|| complex_binary(t, |a, b| a + b)),
        E::And => integer::and(t),
        E::Atan2 => float::binary_math(t, libm::atan2).or_else(|| complex_binary(t, complex::atan2)),
        E::Compare(a) => match integer::compare(t, a.direction, a.comparison_type) {
            Some(k) => Some(k),
            None if t.is_complex() => complex::compare(t, a.direction),
            None => float::compare(t, a.direction, a.comparison_type),
        },
        E::Complex => complex::from_parts(t),
        E::Divide => integer::divide(t)
            .or_else(|| float::binary_exact(t, |a, b| a / b, |a, b| a / b))
            .or_else(|| complex_binary(t, complex::div)),
        E::Maximum => {
            integer::maximum(t).or_else(|| float::maximum(t)).or_else(|| complex_binary(t, complex::maximum))
        }
        E::Minimum => {
            integer::minimum(t).or_else(|| float::minimum(t)).or_else(|| complex_binary(t, complex::minimum))
        }
        E::Mulhi => integer::multiply_high(t),
        E::Multiply => integer::multiply(t)
            .or_else(|| float::binary_exact(t, |a, b| a * b, |a, b| a * b))
            .or_else(|| complex::multiply(t)),
        E::Or => integer::or(t),
        E::Power => integer::power(t)
            .or_else(|| float::binary_math(t, libm::pow))
            .or_else(|| complex_binary(t, complex::pow)),
        E::Remainder => integer::remainder(t).or_else(|| float::binary_exact(t, |a, b| a % b, |a, b| a % b)),
        E::ShiftLeft => integer::shift_left(t),
        E::ShiftRightArithmetic => integer::shift_right_arithmetic(t),
        E::ShiftRightLogical => integer::shift_right_logical(t),
        E::StochasticConvert => convert::stochastic(operands, result),
        E::Subtract => integer::subtract(t)
            .or_else(|| float::binary_exact(t, |a, b| a - b, |a, b| a - b))
            .or_else(|| complex_binary(t, |a, b| a - b)),
        E::Xor => integer::xor(t),
        E::Clamp => integer::clamp(t).or_else(|| float::clamp(t)).or_else(|| complex::clamp(t)),
        E::Select => match operands {
            [ElementType::Pred, a, b] if a == b => {
                with_storage!(a.byte_size(), T => ternary(|p: u8, a: T, b: T| if p != 0 { a } else { b }))
            }
            _ => None,
        },
    }
}

/// Returns the kernel of a transcendental function of real and complex numbers.
fn math(t: ElementType, real: fn(f64) -> f64, complex: fn(complex::C) -> complex::C) -> Option<Kernel> {
    if t.is_complex() { complex_unary(t, complex) } else { float::unary_math(t, real) }
}
