//! Element-wise operations: which function each opcode is for each type.
//!
//! Semantics: "Element-wise unary functions", "Element-wise binary arithmetic operations", "Element-wise
//! comparison operations", "Select", "Clamp", "ConvertElementType", "ReducePrecision".

use super::complex::{self, complex_binary, complex_unary};
use super::{Result, convert, float, integer, result_array};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::kernel::{Kernel, computes_in_f32, in_lanes, ternary, with_storage};
use hlo_ir::attr::ComparisonType;
use hlo_ir::{ElementType, Instruction, Literal, Op};

/// Runs an element-wise instruction that is not part of a plan, or that has no kernel: then says why.
pub(super) fn evaluate(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    let types = operands
        .iter()
        .map(|o| super::array(o).map(|a| a.element_type))
        .collect::<Result<Vec<ElementType>>>();
    if matches!(instr.op, Op::Select) && types.is_err() {
        return select_tuples(operands);
    }
    let found = kernel(&instr.op, &types?, result_array(instr)?.element_type);
    let kernel = found.ok_or_else(|| EvalError::new("not an element-wise operation"))??;
    let result = apply(ev, &kernel, instr, &operands.iter().collect::<Vec<_>>())?;
    operands.into_iter().for_each(|o| ev.release(o));
    Ok(result)
}

/// `select` between tuples by a scalar predicate (semantics, "Select").
fn select_tuples(operands: Vec<Literal>) -> Result<Literal> {
    let [pred, on_true, on_false] = super::take(operands)?;
    let pred = pred.integer_at(0).ok_or_else(|| EvalError::new("select needs a predicate"))?;
    Ok(if pred != 0 { on_true } else { on_false })
}

/// Applies a kernel to whole arrays. Operands must have the result's number of elements, or one element where
/// the operation allows scalars (`select`, `clamp`).
pub(crate) fn apply(
    ev: &mut Evaluator<'_>,
    kernel: &Kernel,
    instr: &Instruction,
    operands: &[&Literal],
) -> Result<Literal> {
    let shape = result_array(instr)?;
    let scalars_allowed = matches!(instr.op, Op::Select | Op::Clamp);
    for o in operands {
        let operand = super::array(o)?;
        if operand.dims != shape.dims && !(scalars_allowed && operand.rank() == 0) {
            return Err(EvalError::new(format!(
                "an operand of shape {} for a result of {}",
                o.shape(),
                instr.shape
            )));
        }
    }
    let mut result = ev.allocate(shape)?;
    let bytes: smallvec::SmallVec<[&[u8]; 3]> = operands.iter().map(|o| o.bytes()).collect();
    kernel(&bytes, result.bytes_mut());
    Ok(result)
}

/// The kernel of an element-wise operation on the given element types: `None` if the operation is not
/// element-wise, an error if it is not defined on the types.
pub(crate) fn kernel(
    op: &Op,
    operands: &[ElementType],
    result: ElementType,
) -> Option<std::result::Result<Kernel, String>> {
    let t = operands.first().copied().unwrap_or(result);
    let narrow = operands.iter().any(|&t| computes_in_f32(t)) || computes_in_f32(result);
    let of_bits = matches!(op, Op::Convert | Op::ReducePrecision(_) | Op::StochasticConvert | Op::Select)
        || matches!(op, Op::Compare(a) if a.comparison_type == ComparisonType::TotalOrder);
    if narrow && !of_bits {
        // Computes in f32 and rounds once.
        let wide = |t: ElementType| if computes_in_f32(t) { ElementType::F32 } else { t };
        let wide_operands: Vec<ElementType> = operands.iter().map(|&t| wide(t)).collect();
        let inner = kernel(op, &wide_operands, wide(result))?;
        return Some(inner.map(|k| in_lanes(operands, result, k)));
    }
    let made = match op {
        Op::Abs if t.is_complex() => complex::to_real(t, complex::abs),
        Op::Abs => integer::abs(t).or_else(|| float::unary_exact(t, f32::abs, f64::abs)),
        Op::Acos => math(t, libm::acos, complex::acos),
        Op::Acosh => math(t, float::acosh, complex::acosh),
        Op::Asin => math(t, libm::asin, complex::asin),
        Op::Asinh => math(t, libm::asinh, complex::asinh),
        Op::Atanh => math(t, libm::atanh, complex::atanh),
        Op::Cbrt => math(t, libm::cbrt, complex::cbrt),
        Op::Ceil => float::unary_exact(t, f32::ceil, f64::ceil),
        Op::Cosine => math(t, libm::cos, complex::cos),
        Op::Cosh => math(t, libm::cosh, complex::cosh),
        Op::CountLeadingZeros => integer::count_leading_zeros(t),
        Op::Erf => float::unary_math(t, libm::erf),
        Op::Exponential => math(t, libm::exp, complex::exp),
        Op::ExponentialMinusOne => math(t, libm::expm1, complex::expm1),
        Op::Floor => float::unary_exact(t, f32::floor, f64::floor),
        Op::Imag if t.is_complex() => complex::part(t, 1),
        Op::Imag => float::unary_exact(t, |_| 0.0, |_| 0.0),
        Op::IsFinite => float::is_finite(t),
        Op::Log => math(t, libm::log, complex::log),
        Op::LogPlusOne => math(t, libm::log1p, complex::log1p),
        Op::Logistic => math(t, float::logistic, complex::logistic),
        Op::Negate => integer::negate(t)
            .or_else(|| float::unary_exact(t, |x| -x, |x| -x))
            .or_else(|| complex_unary(t, |z| -z)),
        Op::Not => integer::not(t),
        Op::PopulationCount => integer::population_count(t),
        Op::Real if t.is_complex() => complex::part(t, 0),
        Op::Real => float::unary_exact(t, |x| x, |x| x),
        Op::RoundNearestAfz => float::unary_exact(t, f32::round, f64::round),
        Op::RoundNearestEven => float::unary_exact(t, f32::round_ties_even, f64::round_ties_even),
        Op::Rsqrt => math(t, float::rsqrt, complex::rsqrt),
        Op::Sign => integer::sign(t)
            .or_else(|| float::unary_math(t, float::sign))
            .or_else(|| complex_unary(t, complex::sign)),
        Op::Sine => math(t, libm::sin, complex::sin),
        Op::Sinh => math(t, libm::sinh, complex::sinh),
        Op::Sqrt => float::unary_exact(t, f32::sqrt, f64::sqrt).or_else(|| complex_unary(t, complex::sqrt)),
        Op::Tan => math(t, libm::tan, complex::tan),
        Op::Tanh => math(t, libm::tanh, complex::tanh),
        Op::Convert => Some(convert::kernel(t, result)),
        Op::ReducePrecision(a) => float::reduce_precision(t, a.exponent_bits, a.mantissa_bits),
        Op::Add => integer::add(t)
            .or_else(|| float::binary_exact(t, |a, b| a + b, |a, b| a + b))
            .or_else(|| complex_binary(t, |a, b| a + b)),
        Op::And => integer::and(t),
        Op::Atan2 => float::binary_math(t, libm::atan2).or_else(|| complex_binary(t, complex::atan2)),
        Op::Compare(a) => match integer::compare(t, a.direction, a.comparison_type) {
            Some(k) => Some(k),
            None if t.is_complex() => complex::compare(t, a.direction),
            None => float::compare(t, a.direction, a.comparison_type),
        },
        Op::Complex => complex::from_parts(t),
        Op::Divide => integer::divide(t)
            .or_else(|| float::binary_exact(t, |a, b| a / b, |a, b| a / b))
            .or_else(|| complex_binary(t, complex::div)),
        Op::Maximum => {
            integer::maximum(t).or_else(|| float::maximum(t)).or_else(|| complex_binary(t, complex::maximum))
        }
        Op::Minimum => {
            integer::minimum(t).or_else(|| float::minimum(t)).or_else(|| complex_binary(t, complex::minimum))
        }
        Op::Mulhi => integer::multiply_high(t),
        Op::Multiply => integer::multiply(t)
            .or_else(|| float::binary_exact(t, |a, b| a * b, |a, b| a * b))
            .or_else(|| complex::multiply(t)),
        Op::Or => integer::or(t),
        Op::Power => integer::power(t)
            .or_else(|| float::binary_math(t, libm::pow))
            .or_else(|| complex_binary(t, complex::pow)),
        Op::Remainder => integer::remainder(t).or_else(|| float::binary_exact(t, |a, b| a % b, |a, b| a % b)),
        Op::ShiftLeft => integer::shift_left(t),
        Op::ShiftRightArithmetic => integer::shift_right_arithmetic(t),
        Op::ShiftRightLogical => integer::shift_right_logical(t),
        Op::StochasticConvert => convert::stochastic(operands, result),
        Op::Subtract => integer::subtract(t)
            .or_else(|| float::binary_exact(t, |a, b| a - b, |a, b| a - b))
            .or_else(|| complex_binary(t, |a, b| a - b)),
        Op::Xor => integer::xor(t),
        Op::Clamp => integer::clamp(t).or_else(|| float::clamp(t)).or_else(|| complex::clamp(t)),
        Op::Select => match operands {
            [ElementType::Pred, a, b] if a == b => {
                with_storage!(a.byte_size(), T => ternary(|p: u8, a: T, b: T| if p != 0 { a } else { b }))
            }
            _ => None,
        },

        Op::Parameter(_)
        | Op::Constant(_)
        | Op::Tuple
        | Op::GetTupleElement(_)
        | Op::Copy
        | Op::BitcastConvert
        | Op::Bitcast
        | Op::Broadcast(_)
        | Op::Concatenate(_)
        | Op::Iota(_)
        | Op::Pad(_)
        | Op::Reshape(_)
        | Op::Reverse(_)
        | Op::Slice(_)
        | Op::Transpose(_)
        | Op::DynamicReshape
        | Op::DynamicSlice(_)
        | Op::DynamicUpdateSlice
        | Op::Gather(_)
        | Op::GetDimensionSize(_)
        | Op::Scatter(_)
        | Op::SetDimensionSize(_)
        | Op::Map(_)
        | Op::Reduce(_)
        | Op::ReduceWindow(_)
        | Op::Scan(_)
        | Op::SelectAndScatter(_)
        | Op::Sort(_)
        | Op::TopK(_)
        | Op::Cholesky(_)
        | Op::Convolution(_)
        | Op::Dot(_)
        | Op::Fft(_)
        | Op::RaggedDot(_)
        | Op::ScaledDot(_)
        | Op::TriangularSolve(_)
        | Op::BatchNormGrad(_)
        | Op::BatchNormInference(_)
        | Op::BatchNormTraining(_)
        | Op::Rng(_)
        | Op::RngBitGenerator(_)
        | Op::RngGetAndUpdateState(_)
        | Op::Call(_)
        | Op::Conditional(_)
        | Op::Fusion(_)
        | Op::OptBarrier
        | Op::While(_)
        | Op::AddDependency
        | Op::AfterAll
        | Op::AsyncDone(_)
        | Op::AsyncStart(_)
        | Op::AsyncUpdate(_)
        | Op::CopyDone
        | Op::CopyStart(_)
        | Op::CustomCall(_)
        | Op::Domain(_)
        | Op::Infeed(_)
        | Op::Outfeed(_)
        | Op::PartitionId
        | Op::Recv(_)
        | Op::RecvDone(_)
        | Op::ReplicaId
        | Op::Send(_)
        | Op::SendDone(_)
        | Op::AllGather(_)
        | Op::AllGatherDone
        | Op::AllGatherStart(_)
        | Op::AllReduce(_)
        | Op::AllReduceDone
        | Op::AllReduceStart(_)
        | Op::AllToAll(_)
        | Op::CollectiveBroadcast(_)
        | Op::CollectivePermute(_)
        | Op::CollectivePermuteDone
        | Op::CollectivePermuteStart(_)
        | Op::RaggedAllToAll(_)
        | Op::ReduceScatter(_) => return None,
    };
    Some(made.ok_or_else(|| {
        let names: Vec<&str> = operands.iter().map(|t| t.name()).collect();
        format!("{} of {} is not defined", op.name(), names.join(", "))
    }))
}

/// A transcendental function of real and complex numbers.
fn math(t: ElementType, real: fn(f64) -> f64, complex: fn(complex::C) -> complex::C) -> Option<Kernel> {
    if t.is_complex() { complex_unary(t, complex) } else { float::unary_math(t, real) }
}
