//! Gradients of operations that move elements, and of reductions.

use super::{Gradients, Step};
use crate::{Computation, ScatterDimensions, Value};
use hlo_ir::attr::{GatherAttrs, PaddingDim, SliceDim};
use hlo_ir::{ArrayShape, Op, Opcode};

impl<'b> Step<'b> {
    /// Returns the gradients of an operation that moves or adds elements with respect to its operands, or
    /// `None` for other operations.
    pub(super) fn of_movement(&self) -> Result<Option<Gradients<'b>>, String> {
        let g = self.gradient;
        let Some(&x) = self.operands.first() else { return Ok(None) };
        let shape = self.array(x);
        Ok(Some(match &self.op {
            Op::Broadcast(a) => vec![Some(self.of_broadcast(&a.dimensions))],
            Op::Reshape(_) => vec![Some(g.reshape(&shape.dims))],
            Op::Transpose(a) => {
                let place = |d: i64| a.dimensions.iter().position(|&p| p == d).map_or(0, |p| p as i64);
                let inverse: Vec<i64> = (0..shape.rank() as i64).map(place).collect();
                vec![Some(g.transpose(&inverse))]
            }
            Op::Reverse(a) => vec![Some(g.rev(&a.dimensions))],
            Op::Slice(a) => vec![Some(self.of_slice(&a.slice, &shape))],
            Op::Pad(a) => self.of_pad(&a.padding, &shape),
            Op::Concatenate(a) => self.of_concatenate(a.dimensions.first().copied().unwrap_or(0)),
            Op::Gather(a) => vec![Some(self.of_gather(a, &shape)), None],
            Op::Reduce(a) if self.operands.len() == 2 => self.of_reduce(a.to_apply, &a.dimensions)?,
            _ => return Ok(None),
        }))
    }

    /// Returns the gradient of a broadcast: the sum over the dimensions that the operand does not have.
    fn of_broadcast(&self, dimensions: &[i64]) -> Value<'b> {
        let rank = self.array(self.gradient).rank() as i64;
        let over: Vec<i64> = (0..rank).filter(|d| !dimensions.contains(d)).collect();
        let sum = self.sum(self.gradient, &over);
        // The remaining dimensions are in the order of the result's dimensions.
        let place = |d: &i64| dimensions.iter().filter(|&other| other < d).count() as i64;
        let order: Vec<i64> = dimensions.iter().map(place).collect();
        if order.is_sorted() { sum } else { sum.transpose(&order) }
    }

    fn of_slice(&self, slice: &[SliceDim], shape: &ArrayShape) -> Value<'b> {
        let sizes = self.array(self.gradient).dims;
        let dim = |((s, &count), &size): ((&SliceDim, &i64), &i64)| {
            if count == 0 {
                return PaddingDim { low: 0, high: size, interior: 0 };
            }
            let last = s.start + (count - 1) * s.stride;
            PaddingDim { low: s.start, high: size - 1 - last, interior: s.stride - 1 }
        };
        let padding: Vec<PaddingDim> = slice.iter().zip(&sizes).zip(&shape.dims).map(dim).collect();
        self.gradient.pad(self.builder.zero(shape.element_type), &padding)
    }

    /// Returns the gradients of a pad. The gradient of the operand is read from the positions of its
    /// elements, and is zero for elements that were cut. The padding value gets the sum of the rest.
    fn of_pad(&self, padding: &[PaddingDim], shape: &ArrayShape) -> Gradients<'b> {
        let g = self.gradient;
        let zero = self.builder.zero(shape.element_type);
        let around = padding.iter().map(|p| PaddingDim { low: -p.low, high: -p.high, interior: 0 });
        let dense = g.pad(zero, &around.collect::<Vec<_>>());
        let starts = vec![0; shape.rank()];
        let strides: Vec<i64> = padding.iter().map(|p| p.interior + 1).collect();
        let of_operand = dense.slice(&starts, &self.array(dense).dims, &strides);
        let all: Vec<i64> = (0..shape.rank() as i64).collect();
        let of_padding = self.sum(g, &all) - self.sum(of_operand, &all);
        vec![Some(of_operand), Some(of_padding)]
    }

    fn of_concatenate(&self, dimension: i64) -> Gradients<'b> {
        let mut start = 0;
        let mut out = Vec::with_capacity(self.operands.len());
        for &operand in &self.operands {
            let size = self.array(operand).dims.get(dimension as usize).copied().unwrap_or(0);
            out.push(Some(self.gradient.slice_in_dim(start, start + size, 1, dimension)));
            start += size;
        }
        out
    }

    /// Returns the gradient of a gather: a scatter that adds the gradient at the indices that were read. The
    /// indices are clamped, as in the gather.
    fn of_gather(&self, a: &GatherAttrs, shape: &ArrayShape) -> Value<'b> {
        let indices = self.operands[1];
        let of_indices = self.array(indices);
        let last = |&d: &i64| shape.dims[d as usize] - a.slice_sizes[d as usize];
        let limits: Vec<i64> = a.start_index_map.iter().map(last).collect();
        let limit = self.builder.constant_r1(&limits).convert(of_indices.element_type);
        let along = a.index_vector_dim;
        let limit = if usize::try_from(along).is_ok_and(|d| d < of_indices.rank()) {
            limit.broadcast_in_dim(&of_indices.dims, &[along])
        } else {
            limit.reshape(&[]).broadcast(&of_indices.dims)
        };
        let inside = indices.max(0).min(limit);
        let dimensions = ScatterDimensions {
            update_window_dims: a.offset_dims.clone(),
            inserted_window_dims: a.collapsed_slice_dims.clone(),
            scatter_dims_to_operand_dims: a.start_index_map.clone(),
            input_batching_dims: a.operand_batching_dims.clone(),
            scatter_indices_batching_dims: a.start_indices_batching_dims.clone(),
            index_vector_dim: a.index_vector_dim,
            ..ScatterDimensions::default()
        };
        let zeros = self.builder.full(shape, 0.0);
        let add = Computation::scalar(Op::Add, shape.element_type);
        zeros.scatter(inside, self.gradient, &add, &dimensions)
    }

    /// Returns the gradients of a reduction. Each element of a sum gets the gradient of the sum. In a maximum
    /// or minimum, only the elements that equal the result get the gradient.
    fn of_reduce(
        &self,
        to_apply: hlo_ir::ComputationId,
        dimensions: &[i64],
    ) -> Result<Gradients<'b>, String> {
        let x = self.operands[0];
        let shape = self.array(x);
        let kept: Vec<i64> = (0..shape.rank() as i64).filter(|d| !dimensions.contains(d)).collect();
        let spread = |value: Value<'b>| value.broadcast_in_dim(&shape.dims, &kept);
        let combiner = {
            let module = self.builder.module();
            let root = &module[module[to_apply].root()];
            let direct = root.operands.len() == 2
                && root.operands.iter().all(|&o| module[o].op.opcode() == Opcode::Parameter)
                && root.operands[0] != root.operands[1];
            direct.then(|| root.op.opcode())
        };
        let gradient = spread(self.gradient);
        match combiner {
            Some(Opcode::Add) => {
                let all: Vec<i64> = (0..kept.len() as i64).collect();
                Ok(vec![Some(gradient), Some(self.sum(self.gradient, &all))])
            }
            Some(Opcode::Maximum | Opcode::Minimum) if !self.is_active[1] => {
                let chosen = x.eq(spread(self.result));
                Ok(vec![Some(chosen.select(gradient, self.like(x, 0.0))), None])
            }
            _ => Err("`reduce` has gradients of sums, maxima and minima only".into()),
        }
    }
}
