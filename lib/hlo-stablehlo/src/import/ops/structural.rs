//! Constants and tuples.

use crate::import::failure::Result;
use crate::import::importer::{ImportedValue, Importer};
use crate::import::types::{Quantized, array_of, literal_of};
use crate::tree::{Attribute, Operation};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Literal, Op};

impl<'t> Importer<'t> {
    /// Records a constant. It is created in each computation that uses it.
    pub(super) fn record_constant(&mut self, op: &'t Operation) -> Result<()> {
        self.set_representation(op.result(0)?, ImportedValue::Constant(op));
        Ok(())
    }

    /// Creates a constant in the current computation. If all elements are equal, it is a broadcast scalar,
    /// which takes no memory.
    pub fn constant(&mut self, op: &Operation) -> Result<InstrId> {
        let Attribute::Elements(elements) = op.required("value")? else {
            return op.fail("its value is not an array of numbers");
        };
        let wrong = |why: String| op.failure(format!("its value: {why}"));
        let literal = literal_of(elements).map_err(wrong)?;
        let tensor =
            elements.ty.as_tensor().ok_or_else(|| op.failure("its value is no array of known rank"))?;
        let shape = array_of(tensor, Quantized::Stored).map_err(wrong)?;
        if !shape.is_static() {
            return op.fail("the sizes of a constant are known");
        }
        let id = self.constant_array(&shape, literal, elements.is_splat);
        let id = id.ok_or_else(|| op.failure("its value does not have the bytes of its elements"))?;
        self.annotate(id);
        Ok(id)
    }

    /// Returns an array with the elements of a literal. If `is_splat` is set, the literal's only element
    /// fills it.
    fn constant_array(&mut self, shape: &ArrayShape, literal: Literal, is_splat: bool) -> Option<InstrId> {
        let count = shape.checked_element_count()?;
        let size = shape.element_type.byte_size();
        if count == 0 {
            let nothing = Literal::try_zeros(&shape.clone().into())?;
            return Some(self.add(shape.clone(), Op::constant(nothing), &[]));
        }
        let first = literal.bytes().get(..size)?;
        let all_same = is_splat || literal.bytes().chunks_exact(size).all(|element| element == first);
        match (all_same, count) {
            (true, 2..) => {
                let scalar = Literal::scalar_from_bytes(shape.element_type, first)?;
                let scalar = self.add(ArrayShape::new(shape.element_type, []), Op::constant(scalar), &[]);
                Some(self.broadcast(scalar, shape, &[]))
            }
            _ => {
                let literal =
                    Literal::try_from_bytes(shape.clone().into(), hlo_ir::AlignedBytes::from_slice(first))
                        .filter(|_| is_splat)
                        .or_else(|| (!is_splat).then_some(literal))?;
                Some(self.add(shape.clone(), Op::constant(literal), &[]))
            }
        }
    }

    pub(super) fn tuple_op(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let tuple = self.tuple(&operands);
        self.set_result(op, tuple)
    }

    pub(super) fn get_tuple_element(&mut self, op: &Operation) -> Result<()> {
        let tuple = self.operand(op, 0)?;
        let index = op.int("index")?;
        match usize::try_from(index).ok().and_then(|index| self.element(tuple, index)) {
            Some(element) => self.set_result(op, element),
            None => op.fail(format!("its operand has no element {index}")),
        }
    }
}
