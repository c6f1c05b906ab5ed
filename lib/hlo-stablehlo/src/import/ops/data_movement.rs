//! Operations that move elements.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::Operation;
use hlo_ir::attr::{PaddingDim, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op};

impl Importer<'_> {
    /// Returns the shape of a value that must be an array.
    pub(super) fn array(&self, op: &Operation, id: InstrId) -> Result<ArrayShape> {
        self.array_of(id).ok_or_else(|| op.failure("an operand is no array"))
    }

    /// Returns the shape of the only result, which must be an array.
    pub(super) fn result_array(&self, op: &Operation) -> Result<ArrayShape> {
        match self.declared(op, 0)? {
            hlo_ir::Shape::Array(array) => Ok(array),
            _ => op.fail("its result is no array"),
        }
    }

    /// Returns the shape of the only result, which must be an array of known sizes.
    pub(super) fn known_array(&self, op: &Operation) -> Result<ArrayShape> {
        let array = self.result_array(op)?;
        if array.dims.contains(&ArrayShape::UNBOUNDED) {
            op.fail(format!("the sizes of its result, {array}, are not known"))
        } else {
            Ok(array)
        }
    }

    /// Translates `broadcast` of early versions, which adds dimensions before those of the operand.
    pub(super) fn broadcast_op(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let sizes = op.dims("broadcast_sizes")?;
        let rank = self.array(op, operand)?.rank();
        let dimensions = (0..rank).map(|d| (d + sizes.len()) as i64);
        self.set_result_op(op, Op::broadcast(dimensions), &[operand])
    }

    pub(super) fn broadcast_in_dim(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let dimensions = op.dims("broadcast_dimensions")?;
        let result = self.result_array(op)?;
        let id = self.broadcast_to(op, operand, &result, &dimensions)?;
        self.set_result(op, id)
    }

    /// Broadcasts an array to larger sizes. `dimensions` maps its dimensions to those of the result.
    /// Dimensions of size 1 may be stretched. HLO's broadcast neither stretches nor transposes dimensions, so
    /// the operand is transposed and its stretched dimensions are removed first.
    pub(super) fn broadcast_to(
        &mut self,
        op: &Operation,
        operand: InstrId,
        result: &ArrayShape,
        dimensions: &[i64],
    ) -> Result<InstrId> {
        let array = self.array(op, operand)?;
        let mut order: Vec<usize> = (0..dimensions.len()).collect();
        order.sort_by_key(|&d| dimensions[d]);
        let target = |d: i64| usize::try_from(d).ok().and_then(|d| result.dims.get(d)).copied();
        let valid = dimensions.len() == array.rank()
            && dimensions.iter().all(|&d| target(d).is_some())
            && order.windows(2).all(|pair| dimensions[pair[0]] != dimensions[pair[1]]);
        if !valid {
            return op.fail(format!("{dimensions:?} are no dimensions of {result} for those of {array}"));
        }
        let mut operand = operand;
        let mut array = array;
        let mut dimensions: Vec<i64> = dimensions.to_vec();
        if !order.is_sorted() {
            let permuted = |list: &[i64]| -> Dims { order.iter().map(|&d| list[d]).collect() };
            let flags: Vec<bool> = order.iter().map(|&d| array.is_dynamic_dim(d)).collect();
            let shape = ArrayShape::new(array.element_type, permuted(&array.dims)).with_dynamic(flags);
            operand = self.add(shape.clone(), Op::transpose(order.iter().map(|&d| d as i64)), &[operand]);
            dimensions = permuted(&dimensions).to_vec();
            array = shape;
        }
        let is_stretched =
            |(d, &to): (usize, &i64)| array.dims[d] == 1 && !array.is_dynamic_dim(d) && target(to) != Some(1);
        let stretched: Vec<bool> = dimensions.iter().enumerate().map(is_stretched).collect();
        if stretched.contains(&true) {
            let kept = |d: &usize| !stretched[*d];
            let dims = (0..array.rank()).filter(kept).map(|d| array.dims[d]);
            let flags: Vec<bool> = (0..array.rank()).filter(kept).map(|d| array.is_dynamic_dim(d)).collect();
            let shape = ArrayShape::new(array.element_type, dims).with_dynamic(flags);
            operand = self.add(shape, Op::reshape(), &[operand]);
            dimensions = (0..dimensions.len()).filter(kept).map(|d| dimensions[d]).collect();
        }
        Ok(self.broadcast(operand, &ArrayShape { layout: None, ..result.clone() }, &dimensions))
    }

    pub(super) fn concatenate(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        self.set_result_op(op, Op::concatenate(op.int("dimension")?), &operands)
    }

    pub(super) fn iota_op(&mut self, op: &Operation) -> Result<()> {
        self.set_result_op(op, Op::iota(op.int("iota_dimension")?), &[])
    }

    pub(super) fn pad(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let low = op.dims("edge_padding_low")?;
        let high = op.dims_or("edge_padding_high", low.len(), 0)?;
        let interior = op.dims_or("interior_padding", low.len(), 0)?;
        self.set_result_op(op, Op::pad(padding(&low, &high, &interior)), &operands)
    }

    pub(super) fn reshape(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        self.set_result_op(op, Op::reshape(), &[operand])
    }

    pub(super) fn reverse(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        self.set_result_op(op, Op::reverse(op.dims("dimensions")?), &[operand])
    }

    pub(super) fn slice(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let starts = op.dims("start_indices")?;
        let limits = op.dims_or("limit_indices", starts.len(), 0)?;
        let strides = op.dims_or("strides", starts.len(), 1)?;
        self.set_result_op(op, Op::slice(ranges(&starts, &limits, &strides)), &[operand])
    }

    pub(super) fn transpose(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        self.set_result_op(op, Op::transpose(op.dims("permutation")?), &[operand])
    }
}

/// Combines the amounts of padding by dimension.
pub fn padding(low: &[i64], high: &[i64], interior: &[i64]) -> Vec<PaddingDim> {
    let dims = low.iter().zip(high).zip(interior);
    dims.map(|((&low, &high), &interior)| PaddingDim { low, high, interior }).collect()
}

/// Combines the ranges of a slice by dimension.
pub fn ranges(starts: &[i64], limits: &[i64], strides: &[i64]) -> Vec<SliceDim> {
    let dims = starts.iter().zip(limits).zip(strides);
    dims.map(|((&start, &limit), &stride)| SliceDim { start, limit, stride }).collect()
}
