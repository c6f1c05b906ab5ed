//! Operations whose sizes are operands. If the result type or constants determine the sizes, they become the
//! operations with sizes as attributes. Bounded dimensions get the computed size.

use super::data_movement::{padding, ranges};
use super::indexing::gather_op;
use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::{Operation, ValueId};
use hlo_ir::attr::{DimensionAttrs, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op};

impl Importer<'_> {
    /// Returns the shape of the only result if each size is known or bounded. Otherwise the sizes must be the
    /// constant `sizes`.
    fn sized_result(&self, op: &Operation, sizes: ValueId) -> Result<ArrayShape> {
        let array = self.result_array(op)?;
        if !array.dims.contains(&ArrayShape::UNBOUNDED) {
            return Ok(array);
        }
        match self.constant_ints(sizes) {
            Some(known) if known.len() == array.rank() => Ok(ArrayShape::new(array.element_type, known)),
            _ => op
                .fail(format!("the sizes of its result, {array}, are neither known nor do they have bounds")),
        }
    }

    /// Returns the numbers of an operand, which must be a constant.
    fn known_ints(&self, op: &Operation, operand: usize, what: &str) -> Result<Vec<i64>> {
        let known = self.constant_ints(op.operand(operand)?);
        known.ok_or_else(|| op.failure(format!("{what} (operand {operand}) is no constant")))
    }

    /// Sets the sizes of the dynamic dimensions of `result` to the elements of `sizes`. Dimensions that are
    /// already dynamic keep their size.
    fn with_sizes(
        &mut self,
        op: &Operation,
        id: InstrId,
        result: &ArrayShape,
        sizes: InstrId,
    ) -> Result<InstrId> {
        let mut id = id;
        for d in (0..result.rank()).filter(|&d| result.is_dynamic_dim(d)) {
            let array = self.array(op, id)?;
            if array.is_dynamic_dim(d) {
                continue;
            }
            let size = self.size_element(op, sizes, d)?;
            let flags: Vec<bool> = (0..array.rank()).map(|i| i == d || array.is_dynamic_dim(i)).collect();
            let dimensions = Dims::from_slice(&[d as i64]);
            let hlo = Op::SetDimensionSize(DimensionAttrs { dimensions });
            id = self.add(array.with_dynamic(flags), hlo, &[id, size]);
        }
        Ok(id)
    }

    /// Returns an element of a vector of integers as a scalar of type `s32`.
    fn size_element(&mut self, op: &Operation, vector: InstrId, index: usize) -> Result<InstrId> {
        let scalar = self.scalar_element(op, vector, index)?;
        let ty = self.array(op, scalar)?.element_type;
        Ok(match ty {
            ElementType::S32 => scalar,
            _ => self.add(ArrayShape::new(ElementType::S32, []), Op::Convert, &[scalar]),
        })
    }

    /// Returns an element of a vector as a scalar.
    fn scalar_element(&mut self, op: &Operation, vector: InstrId, index: usize) -> Result<InstrId> {
        let ty = self.array(op, vector)?.element_type;
        let at = index as i64;
        let range = SliceDim { start: at, limit: at + 1, stride: 1 };
        let one = self.add(ArrayShape::new(ty, [1]), Op::slice(vec![range]), &[vector]);
        Ok(self.add(ArrayShape::new(ty, []), Op::reshape(), &[one]))
    }

    pub(super) fn dynamic_broadcast_in_dim(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let result = self.sized_result(op, op.operand(1)?)?;
        let dimensions = op.dims("broadcast_dimensions")?;
        let bound = ArrayShape { dynamic: Default::default(), ..result.clone() };
        let mut id = self.broadcast_to(op, operand, &bound, &dimensions)?;
        if !result.is_static() {
            let sizes = self.operand(op, 1)?;
            id = self.with_sizes(op, id, &result, sizes)?;
        }
        self.set_result(op, id)
    }

    pub(super) fn dynamic_iota(&mut self, op: &Operation) -> Result<()> {
        let result = self.sized_result(op, op.operand(0)?)?;
        let bound = ArrayShape { dynamic: Default::default(), ..result.clone() };
        let mut id = self.add(bound, Op::iota(op.int("iota_dimension")?), &[]);
        if !result.is_static() {
            let sizes = self.operand(op, 0)?;
            id = self.with_sizes(op, id, &result, sizes)?;
        }
        self.set_result(op, id)
    }

    pub(super) fn dynamic_reshape(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let result = self.sized_result(op, op.operand(1)?)?;
        let id = if result.is_static() {
            self.add(result, Op::reshape(), &[operand])
        } else {
            let sizes = self.operand(op, 1)?;
            let mut operands = vec![operand];
            for d in 0..result.rank() {
                operands.push(self.size_element(op, sizes, d)?);
            }
            self.add(result, Op::DynamicReshape, &operands)
        };
        self.set_result(op, id)
    }

    pub(super) fn dynamic_pad(&mut self, op: &Operation) -> Result<()> {
        let operands = [self.operand(op, 0)?, self.operand(op, 1)?];
        let low = self.known_ints(op, 2, "the padding before")?;
        let high = self.known_ints(op, 3, "the padding behind")?;
        let interior = self.known_ints(op, 4, "the padding between")?;
        self.set_result_op(op, Op::pad(padding(&low, &high, &interior)), &operands)
    }

    pub(super) fn dynamic_gather(&mut self, op: &Operation) -> Result<()> {
        let operands = [self.operand(op, 0)?, self.operand(op, 1)?];
        let sizes = Dims::from_vec(self.known_ints(op, 2, "the sizes of slices")?);
        self.set_result_op(op, gather_op(op, sizes)?, &operands)
    }

    pub(super) fn dynamic_conv(&mut self, op: &Operation) -> Result<()> {
        let operands = [self.operand(op, 0)?, self.operand(op, 1)?];
        let padding = self.known_ints(op, 2, "the padding")?;
        let padding: Vec<(i64, i64)> = padding.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        self.convolution_of(op, &operands, Some(&padding))
    }

    /// Translates `real_dynamic_slice`. With constant indices it becomes a slice. If only the start is
    /// computed, it becomes a dynamic slice.
    pub(super) fn real_dynamic_slice(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let strides = self.known_ints(op, 3, "the strides")?;
        let known = self.constant_ints(op.operand(1)?).zip(self.constant_ints(op.operand(2)?));
        if let Some((starts, limits)) = known {
            return self.set_result_op(op, Op::slice(ranges(&starts, &limits, &strides)), &[operand]);
        }
        let result = self.result_array(op)?;
        if !result.is_static() || strides.iter().any(|&s| s != 1) {
            return op.fail(
                "it has computed limits, and a result whose sizes are not known or strides that are not 1",
            );
        }
        let starts = self.operand(op, 1)?;
        let mut operands = vec![operand];
        for d in 0..result.rank() {
            operands.push(self.scalar_element(op, starts, d)?);
        }
        self.set_result_op(op, Op::dynamic_slice(result.dims.iter().copied()), &operands)
    }
}
