//! Constants and tuples.

use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::types::type_of;
use super::value::Value;
use crate::tree::{Attribute, Elements, ValueId};
use hlo_ir::attr::ConstantAttrs;
use hlo_ir::{AlignedBytes, InstrId, Literal, LiteralData, Shape};
use std::sync::Arc;

/// Returns all elements of an array. Returns `None` for other literals, and for element types that StableHLO
/// lacks.
pub(super) fn elements_of(literal: &Literal) -> Option<Elements> {
    let LiteralData::Array(bytes) = literal.data() else { return None };
    let ty = type_of(literal.shape()).ok()?;
    Some(Elements { ty, bytes: Arc::clone(bytes), is_splat: false })
}

/// Returns the elements of an array as a splat if all of them are equal, and `None` otherwise.
fn brief_elements_of(literal: &Literal) -> Option<Elements> {
    let mut elements = elements_of(literal)?;
    let size = literal.shape().as_array()?.element_type.byte_size();
    let (first, rest) = elements.bytes.split_at_checked(size)?;
    if rest.chunks_exact(size).all(|element| element == first) {
        elements.bytes = Arc::new(AlignedBytes::from_slice(first));
        elements.is_splat = true;
    }
    Some(elements)
}

impl Exporter<'_> {
    pub(super) fn constant(&mut self, id: InstrId, attrs: &ConstantAttrs) -> Outcome<Value> {
        if attrs.is_elided() {
            return self.reject(id, format!("can't be exported: {}", ConstantAttrs::ELIDED));
        }
        // No array is elided here.
        let ConstantAttrs { literal, elided: _ } = attrs;
        self.literal(id, literal)
    }

    /// Adds a constant. A tuple becomes one constant for each array.
    fn literal(&mut self, id: InstrId, literal: &Literal) -> Outcome<Value> {
        match literal.data() {
            LiteralData::Array(_) => {
                let ty = self.or_unsupported(id, type_of(literal.shape()))?;
                let elements = brief_elements_of(literal).or_else(|| elements_of(literal));
                let elements = elements.map(|e| Attribute::Elements(Arc::new(e)));
                let new = Draft::new("stablehlo.constant", []).with_optional("value", elements);
                Ok(Value::Leaf(self.add_one(new, ty)))
            }
            LiteralData::Tuple(elements) => {
                let elements: Outcome<Vec<Value>> = elements.iter().map(|e| self.literal(id, e)).collect();
                Ok(Value::tuple(elements?))
            }
            LiteralData::Token => Ok(Value::Leaf(self.token())),
        }
    }

    /// Adds a constant list of numbers.
    pub(super) fn numbers(&mut self, values: &[i64]) -> ValueId {
        let dims = [values.len() as i64];
        let ty = crate::tree::Type::tensor(dims, crate::tree::Type::integer(64));
        let new = Draft::new("stablehlo.constant", []).with("value", super::attributes::dense(&dims, values));
        self.add_one(new, ty)
    }

    pub(super) fn tuple(&mut self, id: InstrId) -> Outcome<Value> {
        let elements: Outcome<Vec<Value>> =
            (0..self.instruction(id).operands.len()).map(|i| self.operand(id, i)).collect();
        Ok(Value::tuple(elements?))
    }

    pub(super) fn get_tuple_element(&mut self, id: InstrId, index: i64) -> Outcome<Value> {
        let tuple = self.operand(id, 0)?;
        match usize::try_from(index).ok().and_then(|i| tuple.elements().get(i)) {
            Some(element) => Ok(element.clone()),
            None => self.reject(id, format!("names element {index}, which there is not")),
        }
    }

    /// Returns the value as a single StableHLO value. Creates tuples for users that require them.
    pub(super) fn packed(&mut self, id: InstrId, value: &Value, shape: &Shape) -> Outcome<ValueId> {
        match (value, shape) {
            (Value::Leaf(leaf), _) => Ok(*leaf),
            (Value::Tuple(elements), Shape::Tuple(shapes)) => {
                let mut operands = Vec::new();
                for (element, shape) in elements.iter().zip(shapes) {
                    operands.push(self.packed(id, element, shape)?);
                }
                let ty = self.or_unsupported(id, type_of(shape))?;
                Ok(self.add_one(Draft::new("stablehlo.tuple", operands), ty))
            }
            _ => self.leaves_of(id, value).and_then(|_| self.reject(id, "takes a tuple")),
        }
    }

    /// Splits a StableHLO value of the given shape into leaves.
    pub(super) fn unpacked(&mut self, id: InstrId, value: ValueId, shape: &Shape) -> Outcome<Value> {
        let Shape::Tuple(shapes) = shape else { return Ok(Value::Leaf(value)) };
        let mut elements = Vec::new();
        for (index, shape) in shapes.iter().enumerate() {
            let ty = self.or_unsupported(id, type_of(shape))?;
            let new = Draft::new("stablehlo.get_tuple_element", [value])
                .with("index", super::attributes::i32(index as i64));
            let element = self.add_one(new, ty);
            elements.push(self.unpacked(id, element, shape)?);
        }
        Ok(Value::tuple(elements))
    }

    /// Adds a token without dependencies.
    pub(super) fn token(&mut self) -> ValueId {
        self.add_one(Draft::new("stablehlo.create_token", []), crate::tree::TypeKind::Token.into())
    }
}
