//! Elementwise operations: each element of the result depends on the operands' elements at the same index.

use crate::import::attributes::as_f64;
use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::{Attribute, Operation};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, ReducePrecisionAttrs, ResultAccuracy};
use hlo_ir::build::Build;
use hlo_ir::{ElementType, InstrId, Op, Shape};

/// The kind of the words of [`ComparisonDirection`], without the dialect.
const DIRECTION: &str = "comparison_direction";

/// The words of `stablehlo.comparison_type`.
const COMPARISON_TYPES: [&str; 5] = ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];

impl Importer<'_> {
    pub(super) fn elementwise(&mut self, op: &Operation, hlo: Op) -> Result<()> {
        let operands = self.operands(op)?;
        let complex = operands.iter().all(|&o| self.array_of(o).is_some_and(|a| a.element_type.is_complex()));
        match (&hlo, complex, &operands[..]) {
            (Op::Convert, true, &[x]) => self.convert_complex(op, x)?,
            (Op::Cbrt, true, &[x]) => {
                let third = self.number(op, x, 1.0 / 3.0)?;
                self.set_result_op(op, Op::Power, &[x, third])?;
            }
            (Op::Maximum | Op::Minimum, true, &[a, b]) => self.complex_extremum(op, &hlo, a, b)?,
            _ => self.set_result_op(op, hlo, &operands)?,
        }
        match op.attribute("result_accuracy") {
            Some(attribute) => self.accuracy(op, attribute),
            None => Ok(()),
        }
    }

    /// Translates `convert` from complex numbers. Conversion to a real type takes the real part.
    fn convert_complex(&mut self, op: &Operation, x: InstrId) -> Result<()> {
        let Shape::Array(result) = self.result_shape(op, &Op::Convert, &[x])? else {
            return op.fail("its result is no array");
        };
        let array = self.array(op, x)?;
        let part = array.element_type.real_type();
        if result.element_type.is_complex() {
            return self.set_result_op(op, Op::Convert, &[x]);
        }
        let real = self.add(array.with_element_type(part), Op::Real, &[x]);
        if part == result.element_type {
            self.set_result(op, real)
        } else {
            self.set_result_op(op, Op::Convert, &[real])
        }
    }

    /// Translates `maximum` and `minimum` of complex numbers. They compare real parts first, and then
    /// imaginary parts.
    fn complex_extremum(&mut self, op: &Operation, hlo: &Op, a: InstrId, b: InstrId) -> Result<()> {
        let direction = if *hlo == Op::Maximum { ComparisonDirection::Gt } else { ComparisonDirection::Lt };
        let array = self.array(op, a)?;
        let part = array.with_element_type(array.element_type.real_type());
        let truth = array.with_element_type(ElementType::Pred);
        let [real_a, real_b] = [a, b].map(|x| self.add(part.clone(), Op::Real, &[x]));
        let [imag_a, imag_b] = [a, b].map(|x| self.add(part.clone(), Op::Imag, &[x]));
        let first = self.add(truth.clone(), Op::compare(direction), &[real_a, real_b]);
        let same = self.add(truth.clone(), Op::compare(ComparisonDirection::Eq), &[real_a, real_b]);
        let second = self.add(truth.clone(), Op::compare(direction), &[imag_a, imag_b]);
        let second = self.add(truth.clone(), Op::And, &[same, second]);
        let is_first = self.add(truth, Op::Or, &[first, second]);
        self.set_result_op(op, Op::Select, &[is_first, a, b])
    }

    /// Sets the accuracy of the result.
    fn accuracy(&mut self, op: &Operation, attribute: &Attribute) -> Result<()> {
        let Some(fields) = attribute.fields("stablehlo.result_accuracy") else {
            return op.fail("the attribute `result_accuracy` is not a `stablehlo.result_accuracy`");
        };
        let mode =
            fields.get("mode").and_then(|m| m.word("stablehlo.result_accuracy_mode")).unwrap_or("DEFAULT");
        let number = |name: &str| fields.get(name).and_then(as_f64).unwrap_or(0.0);
        let accuracy = match mode {
            "DEFAULT" => return Ok(()),
            "HIGHEST" => ResultAccuracy::Highest,
            "TOLERANCE" => ResultAccuracy::Tolerance {
                atol: number("atol"),
                rtol: number("rtol"),
                ulps: fields.get("ulps").and_then(Attribute::as_int).unwrap_or(0),
            },
            other => return op.fail(format!("`{other}` is no mode of `result_accuracy`")),
        };
        let id = self.value(op, op.result(0)?)?;
        if self.module[id].opcode().has_accuracy() {
            self.module.common_mut(id).result_accuracy = accuracy;
        }
        Ok(())
    }

    /// Translates `compare`. HLO contains the comparison type only if it is not the usual one for the element
    /// type.
    pub(super) fn compare(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let hlo = self.comparison(op, &operands, "stablehlo", "compare_type")?;
        self.set_result_op(op, hlo, &operands)
    }

    /// Returns the comparison in the attributes of a dialect.
    pub(super) fn comparison(
        &self,
        op: &Operation,
        operands: &[InstrId],
        dialect: &str,
        name: &str,
    ) -> Result<Op> {
        let direction = op.word(DIRECTION, &format!("{dialect}.{DIRECTION}"), ComparisonDirection::WORDS)?;
        let direction = ComparisonDirection::ALL.get(direction).copied().unwrap_or_default();
        let kind = format!("{dialect}.comparison_type");
        let comparison_type = match op.optional_word(name, &kind, &COMPARISON_TYPES)? {
            Some(1) => ComparisonType::Float,
            Some(2) => ComparisonType::TotalOrder,
            Some(3) => ComparisonType::Signed,
            Some(4) => ComparisonType::Unsigned,
            _ => ComparisonType::Default,
        };
        let ty = operands.first().and_then(|&o| self.module[o].shape.as_array()).map(|a| a.element_type);
        // Old programs use these types for floating-point numbers. They mean the default order.
        let is_integers = matches!(comparison_type, ComparisonType::Signed | ComparisonType::Unsigned);
        if is_integers && ty.is_some_and(|ty| ty.is_float() || ty.is_complex()) {
            return Ok(Op::compare(direction));
        }
        let usual = ty.is_some_and(|ty| comparison_type.is_usual_for(ty));
        let comparison_type = if usual { ComparisonType::Default } else { comparison_type };
        Ok(Op::Compare(CompareAttrs { direction, comparison_type }))
    }

    /// Translates `clamp`, whose limits may be scalars.
    pub(super) fn clamp(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        self.set_result_op(op, Op::Clamp, &operands)
    }

    pub(super) fn reduce_precision(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let attrs = ReducePrecisionAttrs {
            exponent_bits: op.int("exponent_bits")?,
            mantissa_bits: op.int("mantissa_bits")?,
        };
        self.set_result_op(op, Op::ReducePrecision(attrs), &[operand])
    }

    /// Adds an elementwise operation whose operands and result have the same shape.
    pub(super) fn apply(&mut self, hlo: Op, operands: &[InstrId]) -> InstrId {
        let shape = operands.first().map_or(hlo_ir::Shape::Token, |&o| self.shape_of(o));
        self.add(shape, hlo, operands)
    }
}
