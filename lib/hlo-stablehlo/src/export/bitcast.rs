//! `bitcast`: reads an array's memory as another array. StableHLO has no memory layouts, so the export
//! expresses the effect for the layouts in the text: a transpose to the order in memory, a reshape, and a
//! transpose back. If the element types differ, a bitcast-convert is inserted between them.

use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::types::array_type;
use super::value::Value;
use crate::tree::ValueId;
use hlo_ir::{ArrayShape, InstrId};
use std::cmp::Ordering;

/// Returns the dimensions from the slowest to the fastest varying one in memory.
fn memory_order(array: &ArrayShape) -> Vec<i64> {
    array.minor_to_major().iter().rev().map(|&d| d as i64).collect()
}

/// Returns the row-major shape with the same order of elements in memory.
fn in_memory(array: &ArrayShape) -> ArrayShape {
    let dims = memory_order(array).into_iter().filter_map(|d| array.dims.get(d as usize).copied());
    ArrayShape::new(array.element_type, dims)
}

fn is_ascending(order: &[i64]) -> bool {
    order.iter().zip(0..).all(|(&d, n)| d == n)
}

impl Exporter<'_> {
    pub(super) fn bitcast(&mut self, id: InstrId) -> Outcome<Value> {
        let operand = self.leaf(id, 0)?;
        let (from, to) = (self.operand_array(id, 0)?, self.array(id)?);
        if !from.is_static() || !to.is_static() {
            return self.reject(id, "reads memory whose size is not known");
        }
        if from.element_size_bits() % 8 != 0 || to.element_size_bits() % 8 != 0 {
            return self.reject(id, "reads memory with several elements in a byte");
        }
        if from.byte_size() != to.byte_size() {
            return self.reject(id, format!("reads {} bytes as {}", from.byte_size(), to.byte_size()));
        }
        let (physical, wanted) = (in_memory(from), in_memory(to));
        let mut value = operand;
        if !is_ascending(&memory_order(from)) {
            let ty = self.or_unsupported(id, array_type(&physical))?;
            value = self.transposed(value, &memory_order(from), ty);
        }
        value = self.reread(id, value, &physical, &wanted)?;
        let order = memory_order(to);
        if !is_ascending(&order) {
            let mut back = vec![0; order.len()];
            for (at, &d) in order.iter().enumerate() {
                back[d as usize] = at as i64;
            }
            let ty = self.type_of(id)?;
            value = self.transposed(value, &back, ty);
        }
        Ok(Value::Leaf(value))
    }

    /// Reads the row-major array `from` as the row-major array `to`.
    fn reread(
        &mut self,
        id: InstrId,
        value: ValueId,
        from: &ArrayShape,
        to: &ArrayShape,
    ) -> Outcome<ValueId> {
        if from.element_type == to.element_type {
            return self.reshaped(id, value, from, to);
        }
        let (narrow, wide) = (from.element_type.byte_size(), to.element_type.byte_size());
        let count = to.element_count() as i64;
        // The shapes before and after the bitcast-convert, which relates elements of one type to elements of
        // the other.
        let (before, after) = match narrow.cmp(&wide) {
            Ordering::Equal => (from.clone(), from.with_element_type(to.element_type)),
            Ordering::Less => (
                ArrayShape::new(from.element_type, [count, (wide / narrow) as i64]),
                ArrayShape::new(to.element_type, [count]),
            ),
            Ordering::Greater => {
                let ratio = (narrow / wide) as i64;
                let mut dims = from.dims.clone();
                dims.push(ratio);
                (from.clone(), ArrayShape::new(to.element_type, dims))
            }
        };
        let value = self.reshaped(id, value, from, &before)?;
        let ty = self.or_unsupported(id, array_type(&after))?;
        let value = self.add_one(Draft::new("stablehlo.bitcast_convert", [value]), ty);
        self.reshaped(id, value, &after, to)
    }

    /// Adds a reshape if the dimensions differ.
    pub(super) fn reshaped(
        &mut self,
        id: InstrId,
        value: ValueId,
        from: &ArrayShape,
        to: &ArrayShape,
    ) -> Outcome<ValueId> {
        if from.dims == to.dims {
            return Ok(value);
        }
        let ty = self.or_unsupported(id, array_type(to))?;
        Ok(self.add_one(Draft::new("stablehlo.reshape", [value]), ty))
    }
}
