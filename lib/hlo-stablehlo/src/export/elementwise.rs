//! Elementwise operations.

use super::attributes::{accuracy, i32, word};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::value::Value;
use hlo_ir::attr::{CompareAttrs, ComparisonType};
use hlo_ir::{ElementType, ElementwiseOp, InstrId};

/// Returns the name of the StableHLO or CHLO operation, or `None` if there is none.
fn name(op: ElementwiseOp<'_>) -> Option<&'static str> {
    use ElementwiseOp as E;
    Some(match op {
        E::Abs => "stablehlo.abs",
        E::Acos => "chlo.acos",
        E::Acosh => "chlo.acosh",
        E::Asin => "chlo.asin",
        E::Asinh => "chlo.asinh",
        E::Atanh => "chlo.atanh",
        E::Cbrt => "stablehlo.cbrt",
        E::Ceil => "stablehlo.ceil",
        E::Cosine => "stablehlo.cosine",
        E::Cosh => "chlo.cosh",
        E::CountLeadingZeros => "stablehlo.count_leading_zeros",
        E::Erf => "chlo.erf",
        E::Exponential => "stablehlo.exponential",
        E::ExponentialMinusOne => "stablehlo.exponential_minus_one",
        E::Floor => "stablehlo.floor",
        E::Imag => "stablehlo.imag",
        E::IsFinite => "stablehlo.is_finite",
        E::Log => "stablehlo.log",
        E::LogPlusOne => "stablehlo.log_plus_one",
        E::Logistic => "stablehlo.logistic",
        E::Negate => "stablehlo.negate",
        E::Not => "stablehlo.not",
        E::PopulationCount => "stablehlo.popcnt",
        E::Real => "stablehlo.real",
        E::RoundNearestAfz => "stablehlo.round_nearest_afz",
        E::RoundNearestEven => "stablehlo.round_nearest_even",
        E::Rsqrt => "stablehlo.rsqrt",
        E::Sign => "stablehlo.sign",
        E::Sine => "stablehlo.sine",
        E::Sinh => "chlo.sinh",
        E::Sqrt => "stablehlo.sqrt",
        E::Tan => "stablehlo.tan",
        E::Tanh => "stablehlo.tanh",
        E::Convert => "stablehlo.convert",
        E::ReducePrecision(_) => "stablehlo.reduce_precision",
        E::Add => "stablehlo.add",
        E::And => "stablehlo.and",
        E::Atan2 => "stablehlo.atan2",
        E::Compare(_) => "stablehlo.compare",
        E::Complex => "stablehlo.complex",
        E::Divide => "stablehlo.divide",
        E::Maximum => "stablehlo.maximum",
        E::Minimum => "stablehlo.minimum",
        E::Mulhi => "chlo.mulhi",
        E::Multiply => "stablehlo.multiply",
        E::Or => "stablehlo.or",
        E::Power => "stablehlo.power",
        E::Remainder => "stablehlo.remainder",
        E::ShiftLeft => "stablehlo.shift_left",
        E::ShiftRightArithmetic => "stablehlo.shift_right_arithmetic",
        E::ShiftRightLogical => "stablehlo.shift_right_logical",
        E::Subtract => "stablehlo.subtract",
        E::Xor => "stablehlo.xor",
        E::Clamp => "stablehlo.clamp",
        E::Select => "stablehlo.select",
        _ => return None,
    })
}

/// Returns StableHLO's word for the comparison type of values of the given element type.
fn comparison_type(written: ComparisonType, ty: ElementType) -> &'static str {
    match written {
        ComparisonType::Default if ty.is_float() || ty.is_complex() => "FLOAT",
        ComparisonType::Default if ty.is_signed_integer() => "SIGNED",
        ComparisonType::Default => "UNSIGNED",
        other => other.text(),
    }
}

impl Exporter<'_> {
    /// Adds an operation without attributes, on the leaves of all operands.
    pub(super) fn plain(&mut self, id: InstrId, name: &str) -> Outcome<Value> {
        let new = Draft::new(name, self.leaves(id)?);
        self.add_for(id, new)
    }

    pub(super) fn elementwise(&mut self, id: InstrId) -> Outcome<Value> {
        let instruction = self.instruction(id);
        let Some(op) = instruction.op.elementwise() else { return self.refuse(id, "is not elementwise") };
        let Some(name) = name(op) else {
            return match op {
                ElementwiseOp::StochasticConvert => {
                    self.lacks(id, "`stochastic_convert_decomposer` makes it operations on bits")
                }
                _ => self.refuse(id, "is no operation of StableHLO or CHLO"),
            };
        };
        let new = Draft::new(name, self.leaves(id)?);
        let new = match op {
            ElementwiseOp::Compare(a) => self.compare(id, a, new)?,
            ElementwiseOp::ReducePrecision(a) => {
                new.with("exponent_bits", i32(a.exponent_bits)).with("mantissa_bits", i32(a.mantissa_bits))
            }
            _ => new.with_some(
                "result_accuracy",
                instruction.common.as_deref().and_then(|c| accuracy(c.result_accuracy)),
            ),
        };
        self.add_for(id, new)
    }

    fn compare(&self, id: InstrId, attrs: &CompareAttrs, new: Draft) -> Outcome<Draft> {
        let ty = self.operand_array(id, 0)?.element_type;
        let order = comparison_type(attrs.comparison_type, ty);
        Ok(new
            .with("comparison_direction", word("stablehlo.comparison_direction", attrs.direction.text()))
            .with("compare_type", word("stablehlo.comparison_type", order)))
    }
}
