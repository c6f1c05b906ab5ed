//! Slices and updates at indices known at run time: `dynamic-slice`, `dynamic-update-slice`, `gather`.

use super::data_movement::gather_walk;
use super::{Result, array, dimension, dimensions, result_array, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{Walk, advance, copy_bytes, count, row_major_strides};
use hlo_ir::attr::GatherAttrs;
use hlo_ir::{Dims, Instruction, Literal};
use smallvec::SmallVec;

/// The start of a slice of size `sizes` in an array of size `dims`: N scalars, or one vector of N, each clamped
/// so that the slice lies inside.
fn start_indices(indices: &[Literal], dims: &[i64], sizes: &[i64]) -> Result<Dims> {
    let vector = indices.len() == 1 && array(&indices[0])?.rank() == 1;
    if sizes.len() != dims.len() || (!vector && indices.len() != dims.len()) {
        return Err(EvalError::new(format!("{} start indices for rank {}", indices.len(), dims.len())));
    }
    let start = |d: usize| if vector { indices[0].integer_at(d) } else { indices[d].integer_at(0) };
    (0..dims.len())
        .map(|d| {
            let at = start(d).ok_or_else(|| EvalError::new("start indices must be integers"))?;
            Ok(clamp_start(at, dims[d], sizes[d]))
        })
        .collect()
}

/// `start` clamped to `0..=size - slice`.
fn clamp_start(start: i128, size: i64, slice: i64) -> i64 {
    start.clamp(0, i128::from(size.saturating_sub(slice).max(0))) as i64
}

/// The dense walk over `dims`, from `start` on.
fn walk_from(start: &[i64], dims: &[i64]) -> Walk {
    let strides = row_major_strides(dims);
    Walk { offset: start.iter().zip(&strides).map(|(&i, &s)| i * s).sum(), strides }
}

/// `dynamic-slice` (semantics, "DynamicSlice").
pub(super) fn dynamic_slice(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    mut operands: Vec<Literal>,
) -> Result<Literal> {
    if operands.is_empty() {
        return Err(EvalError::new("an operand is missing"));
    }
    let operand = operands.remove(0);
    let shape = result_array(instr)?;
    let dims = &array(&operand)?.dims;
    let start = start_indices(&operands, dims, &shape.dims)?;
    let walk = walk_from(&start, dims);
    gather_walk(ev, shape, operand, &walk)
}

/// `dynamic-update-slice` (semantics, "DynamicUpdateSlice"), in place if nobody else holds the operand.
pub(super) fn dynamic_update_slice(ev: &mut Evaluator<'_>, mut operands: Vec<Literal>) -> Result<Literal> {
    if operands.len() < 2 {
        return Err(EvalError::new("an operand is missing"));
    }
    let indices = operands.split_off(2);
    let [operand, update] = take(operands)?;
    let shape = array(&operand)?.clone();
    let sizes = array(&update)?.dims.clone();
    let start = start_indices(&indices, &shape.dims, &sizes)?;
    let target = walk_from(&start, &shape.dims);
    let mut result = ev.make_unique(operand)?;
    ev.charge(count(&sizes))?;
    let size = shape.element_type.byte_size();
    copy_bytes(size, &sizes, update.bytes(), &Walk::dense(&sizes), result.bytes_mut(), &target)?;
    ev.release(update);
    Ok(result)
}

/// The index vectors of `gather` and `scatter`: for each batch position (the dimensions of the index array
/// without `index_vector_dim`, row-major) the start index in the operand.
pub(super) struct StartIndices {
    /// The sizes of the batch dimensions.
    pub(super) batch_dims: Dims,
    batch_strides: Dims,
    component_stride: usize,
    /// For each component of an index vector, the operand dimension that it offsets.
    component_dims: SmallVec<[usize; 6]>,
    /// Operand dimensions that take their index from a batch dimension: (operand dimension, batch dimension).
    batching: SmallVec<[(usize, usize); 6]>,
    operand_rank: usize,
    indices: Literal,
}

impl StartIndices {
    pub(super) fn new(
        indices: Literal,
        index_vector_dim: i64,
        component_dims: &[i64],
        operand_batching_dims: &[i64],
        indices_batching_dims: &[i64],
        operand_rank: usize,
    ) -> Result<Self> {
        let shape = array(&indices)?;
        if !shape.element_type.is_integer() {
            return Err(EvalError::new("indices must be integers"));
        }
        // A vector dimension one past the last stands for a trailing dimension of size 1.
        let vector_dim = dimension(index_vector_dim, shape.rank() + 1)?;
        let strides = row_major_strides(&shape.dims);
        let components = shape.dims.get(vector_dim).copied().unwrap_or(1);
        let without = |values: &Dims| -> Dims {
            values.iter().enumerate().filter(|(d, _)| *d != vector_dim).map(|(_, &v)| v).collect()
        };
        if components != component_dims.len() as i64
            || operand_batching_dims.len() != indices_batching_dims.len()
        {
            return Err(EvalError::new(format!(
                "index vectors of {components} components for {} dimensions",
                component_dims.len()
            )));
        }
        let batching = dimensions(operand_batching_dims, operand_rank)?
            .into_iter()
            .zip(dimensions(indices_batching_dims, shape.rank())?)
            .map(|(o, i)| (o, if i > vector_dim { i - 1 } else { i }))
            .collect();
        Ok(Self {
            batch_dims: without(&shape.dims),
            batch_strides: without(&strides),
            component_stride: strides.get(vector_dim).copied().unwrap_or(0) as usize,
            component_dims: dimensions(component_dims, operand_rank)?,
            batching,
            operand_rank,
            indices,
        })
    }

    /// The start index at a batch position, as wide as it was given (it may lie anywhere).
    pub(super) fn at(&self, batch: &[i64]) -> Result<SmallVec<[i128; 6]>> {
        let mut start: SmallVec<[i128; 6]> = smallvec::smallvec![0; self.operand_rank];
        let base: i64 = batch.iter().zip(&self.batch_strides).map(|(&i, &s)| i * s).sum();
        for (k, &d) in self.component_dims.iter().enumerate() {
            let value = self.indices.integer_at(base as usize + k * self.component_stride);
            start[d] = value.ok_or_else(|| EvalError::new("an index outside of the index array"))?;
        }
        for &(d, b) in &self.batching {
            start[d] = batch.get(b).copied().unwrap_or(0).into();
        }
        Ok(start)
    }
}

/// `gather` (semantics, "Gather"): for each batch position the slice at its start index, clamped to lie inside,
/// without the collapsed and batching dimensions. Of windows without elements the result is zero.
pub(super) fn gather(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &GatherAttrs,
) -> Result<Literal> {
    let [operand, indices] = take(operands)?;
    let (from, shape) = (array(&operand)?.clone(), result_array(instr)?);
    let rank = from.rank();
    let starts = StartIndices::new(
        indices,
        attrs.index_vector_dim,
        &attrs.start_index_map,
        &attrs.operand_batching_dims,
        &attrs.start_indices_batching_dims,
        rank,
    )?;
    let offset_dims = dimensions(&attrs.offset_dims, shape.rank())?;
    let batch_dims: SmallVec<[usize; 6]> = (0..shape.rank()).filter(|d| !offset_dims.contains(d)).collect();
    let dropped = |d: usize| {
        let d = d as i64;
        attrs.collapsed_slice_dims.contains(&d) || attrs.operand_batching_dims.contains(&d)
    };
    let window: SmallVec<[usize; 6]> = (0..rank).filter(|&d| !dropped(d)).collect();
    if attrs.slice_sizes.len() != rank
        || window.len() != offset_dims.len()
        || batch_dims.len() != starts.batch_dims.len()
    {
        return Err(EvalError::new("the dimension numbers of the gather do not fit its shapes"));
    }
    let (from_strides, to_strides) = (row_major_strides(&from.dims), row_major_strides(&shape.dims));
    let sizes: Dims = window.iter().map(|&d| attrs.slice_sizes[d]).collect();
    let mut source = Walk { offset: 0, strides: window.iter().map(|&d| from_strides[d]).collect() };
    let mut target = Walk { offset: 0, strides: offset_dims.iter().map(|&d| to_strides[d]).collect() };
    let mut result = ev.allocate(shape)?;
    let size = shape.element_type.byte_size();
    let mut batch: Dims = smallvec::smallvec![0; starts.batch_dims.len()];
    let windows = if attrs.reads_nothing() { 0 } else { count(&starts.batch_dims) };
    for _ in 0..windows {
        let start = starts.at(&batch)?;
        source.offset = (0..rank)
            .map(|d| clamp_start(start[d], from.dims[d], attrs.slice_sizes[d]) * from_strides[d])
            .sum();
        target.offset = batch.iter().zip(&batch_dims).map(|(&i, &d)| i * to_strides[d]).sum();
        copy_bytes(size, &sizes, operand.bytes(), &source, result.bytes_mut(), &target)?;
        advance(&mut batch, &starts.batch_dims);
    }
    ev.release(operand);
    Ok(result)
}
