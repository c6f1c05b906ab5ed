//! Operations of CHLO, which consist of other operations, and the composites that stand for them.

use super::linear_algebra::precision;
use crate::dialect::plain_opcode;
use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::import::types::{Quantized, element_of, literal_of};
use crate::tree::{Attribute, Attributes, Operation, TypeKind};
use hlo_ir::attr::{ComparisonDirection, OrTrue, RaggedDotAttrs, ScanAttrs, TopkAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op, Shape};

/// The composites that become HLO operations. For all others, the decomposition is called.
const COMPOSITES: &[&str] =
    &["acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "mulhi", "sinh", "tan", "top_k", "topk"];

/// Returns the CHLO operation of a composite, if HLO has it: `top_k` for `chlo.top_k`.
pub fn known_composite(op: &Operation) -> Option<&'static str> {
    let name = op.attribute("name")?.as_str()?.strip_prefix("chlo.")?;
    COMPOSITES.iter().copied().find(|known| *known == name)
}

/// Checks whether the translation of a composite does not need its decomposition.
pub fn is_known_composite(op: &Operation) -> bool {
    known_composite(op).is_some()
}

impl<'t> Importer<'t> {
    /// Translates a CHLO operation or its composite, with the given attributes.
    pub(super) fn chlo(&mut self, op: &'t Operation, name: &str, attributes: &Attributes) -> Result<()> {
        if let Some(opcode) = plain_opcode(&format!("chlo.{name}")) {
            return self.same_operands(op, opcode.default_op());
        }
        if let Some(name) = name.strip_prefix("broadcast_") {
            return self.broadcasting(op, name);
        }
        match name {
            "top_k" | "topk" => self.top_k(op, attributes),
            "ragged_dot" => self.ragged_dot(op),
            "scan" => self.scan(op),
            "constant" => self.record_constant(op),
            "constant_like" => self.constant_like(op),
            "atan" => {
                let x = self.operand(op, 0)?;
                if let Some(id) = self.complex_atan(x) {
                    return self.set_result(op, id);
                }
                let one = self.number(op, x, 1.0)?;
                self.set_result_op(op, Op::Atan2, &[x, one])
            }
            "conj" => self.conjugate(op),
            "square" => {
                let x = self.operand(op, 0)?;
                if let Some(id) = self.complex_square(x) {
                    return self.set_result(op, id);
                }
                self.set_result_op(op, Op::Multiply, &[x, x])
            }
            "is_inf" | "is_pos_inf" | "is_neg_inf" => self.is_infinite(op, name),
            _ => self.special_function(op, name),
        }
    }

    /// Returns a number as an array with the type and sizes of `like`.
    pub(super) fn number(&mut self, op: &Operation, like: InstrId, value: f64) -> Result<InstrId> {
        let array = self.array(op, like)?;
        let ty = array.element_type;
        let scalar = match ty {
            ElementType::F64 => self.scalar(ty, &value.to_le_bytes()),
            ElementType::F32 => self.scalar(ty, &(value as f32).to_le_bytes()),
            ElementType::C64 => self.scalar(ty, complex_bytes(&(value as f32).to_le_bytes()).as_slice()),
            ElementType::C128 => self.scalar(ty, complex_bytes(&value.to_le_bytes()).as_slice()),
            _ => self.scalar(ElementType::F32, &(value as f32).to_le_bytes()),
        };
        let scalar = scalar.ok_or_else(|| op.failure(format!("{value} is no {ty}")))?;
        let scalar = if self.array(op, scalar)?.element_type == ty {
            scalar
        } else {
            self.add(ArrayShape::new(ty, []), Op::Convert, &[scalar])
        };
        match array.rank() {
            0 => Ok(scalar),
            _ => Ok(self.broadcast(scalar, &array, &[])),
        }
    }

    /// Translates operations of two or three operands of different sizes, which are broadcast to the sizes of
    /// the result.
    fn broadcasting(&mut self, op: &Operation, name: &str) -> Result<()> {
        let operands = self.operands(op)?;
        let result = self.known_array(op)?;
        let dimensions = op.dims_if_any("broadcast_dimensions")?;
        let mut same = Vec::with_capacity(operands.len());
        for &operand in &operands {
            let array = self.array(op, operand)?;
            if array.same_dims(&result) {
                same.push(operand);
                continue;
            }
            let from = result.rank().checked_sub(array.rank());
            let from =
                from.ok_or_else(|| op.failure(format!("{array} has more dimensions than {result}")))?;
            let usual: Dims = (from..result.rank()).map(|d| d as i64).collect();
            let own = dimensions.as_ref().filter(|d| d.len() == array.rank() && from > 0);
            let target = ArrayShape { element_type: array.element_type, ..result.clone() };
            same.push(self.broadcast_to(op, operand, &target, own.unwrap_or(&usual))?);
        }
        let hlo = match name {
            "compare" => self.comparison(op, &same, "chlo", "compare_type")?,
            "select" => Op::Select,
            "next_after" | "polygamma" | "zeta" => return self.special_function_of(op, name, &same),
            _ => {
                let opcode = plain_opcode(&format!("stablehlo.{name}"));
                opcode.ok_or_else(|| op.failure("it is not known"))?.default_op()
            }
        };
        self.set_result_op(op, hlo, &same)
    }

    fn top_k(&mut self, op: &Operation, attributes: &Attributes) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let k = attributes.get("k").and_then(Attribute::as_int);
        let k = k.ok_or_else(|| op.failure("it does not say how many elements (`k`)"))?;
        let largest = attributes.get("largest").and_then(Attribute::as_bool).unwrap_or(true);
        let is_stable = attributes.get("is_stable").and_then(Attribute::as_bool);
        let attrs = TopkAttrs { k, largest: OrTrue(largest), is_stable };
        self.set_results_op(op, Op::TopK(attrs), &[operand])
    }

    fn ragged_dot(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let numbers = op.structure("ragged_dot_dimension_numbers", "chlo.ragged_dot")?;
        let attrs = RaggedDotAttrs {
            lhs_batch_dims: numbers.dims("lhs_batching_dimensions")?,
            lhs_contracting_dims: numbers.dims("lhs_contracting_dimensions")?,
            rhs_batch_dims: numbers.dims("rhs_batching_dimensions")?,
            rhs_contracting_dims: numbers.dims("rhs_contracting_dimensions")?,
            lhs_ragged_dims: numbers.dims("lhs_ragged_dimensions")?,
            rhs_group_dims: numbers.dims("rhs_group_dimensions")?,
            operand_precision: precision(op, "chlo.precision")?,
        };
        self.set_result_op(op, Op::RaggedDot(Box::new(attrs)), &operands)
    }

    /// Translates `scan`. Its results are the outputs followed by the carries.
    fn scan(&mut self, op: &'t Operation) -> Result<()> {
        let to_apply = self.applied(op, 0)?;
        let operands = self.operands(op)?;
        let carries = match op.attribute("operandSegmentSizes").and_then(Attribute::ints) {
            Some(sizes) if sizes.len() == 2 => sizes[1],
            _ => op.fail("it does not say how many operands are inputs (`operandSegmentSizes`)")?,
        };
        let attrs = ScanAttrs {
            dimensions: Dims::from_slice(&[op.int("dimension")?]),
            num_carries: carries,
            is_reverse: op.flag("is_reverse")?,
            is_associative: op.flag("is_associative")?,
            to_apply,
        };
        let shapes = (0..op.results.len()).map(|i| self.declared(op, i)).collect::<Result<Vec<_>>>()?;
        let id = self.add(Shape::tuple(shapes), Op::Scan(attrs), &operands);
        self.set_results_to_elements(op, id)
    }

    /// Translates `constant_like`: a number with the sizes of the operand.
    fn constant_like(&mut self, op: &Operation) -> Result<()> {
        let result = self.known_array(op)?;
        let wrong = |why: String| op.failure(format!("the attribute `value`: {why}"));
        let (ty, bytes) = match op.required("value")? {
            Attribute::Float(number) => (
                element_of(&number.ty, Quantized::Stored).map_err(wrong)?,
                number.bits.to_le_bytes().to_vec(),
            ),
            Attribute::Integer(value, ty) => {
                let is_bit = matches!(**ty, TypeKind::Integer(1, _));
                let value = if is_bit { *value & 1 } else { *value };
                (element_of(ty, Quantized::Stored).map_err(wrong)?, value.to_le_bytes().to_vec())
            }
            Attribute::Bool(value) => (ElementType::Pred, vec![u8::from(*value)]),
            Attribute::Elements(elements) => {
                let literal = literal_of(elements).map_err(wrong)?;
                let ty = literal.shape().as_array().map_or(ElementType::Pred, |a| a.element_type);
                (ty, literal.bytes().to_vec())
            }
            _ => return Err(wrong("it is no number".into())),
        };
        let scalar = bytes.get(..ty.byte_size()).and_then(|bytes| self.scalar(ty, bytes));
        let scalar = scalar.ok_or_else(|| wrong("it is no number".into()))?;
        let id = if result.rank() == 0 { scalar } else { self.broadcast(scalar, &result, &[]) };
        self.set_result(op, id)
    }

    fn conjugate(&mut self, op: &Operation) -> Result<()> {
        let x = self.operand(op, 0)?;
        let id = self.complex_conjugate(x).unwrap_or(x);
        self.set_result(op, id)
    }

    fn is_infinite(&mut self, op: &Operation, name: &str) -> Result<()> {
        let x = self.operand(op, 0)?;
        let x = if name == "is_inf" { self.apply(Op::Abs, &[x]) } else { x };
        let bound = if name == "is_neg_inf" { f64::NEG_INFINITY } else { f64::INFINITY };
        let bound = self.number(op, x, bound)?;
        self.set_result_op(op, Op::compare(ComparisonDirection::Eq), &[x, bound])
    }

    /// Translates a function without an opcode.
    fn special_function(&mut self, op: &Operation, name: &str) -> Result<()> {
        let operands = self.operands(op)?;
        self.special_function_of(op, name, &operands)
    }
}

/// Returns the bytes of a complex number with the given real part.
fn complex_bytes(real: &[u8]) -> Vec<u8> {
    let mut bytes = real.to_vec();
    bytes.resize(2 * real.len(), 0);
    bytes
}
