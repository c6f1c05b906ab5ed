//! Elementwise operations.

use super::attributes::{accuracy, i32, word};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::value::Value;
use crate::dialect::elementwise_name;
use hlo_ir::attr::{CompareAttrs, ComparisonType, ReducePrecisionAttrs};
use hlo_ir::{ElementType, ElementwiseOp, InstrId};

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
        let Some(op) = instruction.op.elementwise() else { return self.reject(id, "is not elementwise") };
        let Some(name) = elementwise_name(op.opcode()) else {
            return match op {
                ElementwiseOp::StochasticConvert => self
                    .reject_without_form(id, "`stochastic_convert_decomposer` makes it operations on bits"),
                _ => self.reject(id, "is no operation of StableHLO or CHLO"),
            };
        };
        let new = Draft::new(name, self.leaves(id)?);
        let new = match op {
            ElementwiseOp::Compare(a) => self.compare(id, a, new)?,
            ElementwiseOp::ReducePrecision(ReducePrecisionAttrs { exponent_bits, mantissa_bits }) => {
                new.with("exponent_bits", i32(*exponent_bits)).with("mantissa_bits", i32(*mantissa_bits))
            }
            _ => new.with_optional(
                "result_accuracy",
                instruction.common.as_deref().and_then(|c| accuracy(c.result_accuracy)),
            ),
        };
        self.add_for(id, new)
    }

    fn compare(&self, id: InstrId, attrs: &CompareAttrs, new: Draft) -> Outcome<Draft> {
        let CompareAttrs { direction, comparison_type: written } = attrs;
        let ty = self.operand_array(id, 0)?.element_type;
        let order = comparison_type(*written, ty);
        Ok(new
            .with("comparison_direction", word("stablehlo.comparison_direction", direction.text()))
            .with("compare_type", word("stablehlo.comparison_type", order)))
    }
}
