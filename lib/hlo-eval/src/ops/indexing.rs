//! Slices and updates at indices known at run time: `dynamic-slice`, `dynamic-update-slice`, `gather`.

use super::fast;
use super::moved::{copy, moved, same};
use super::support::{Result, array, dimension, dimensions, result_array, take};
use crate::context::Context;
use crate::element::{Elements, ElementsMut};
use crate::error::EvalError;
use crate::index::{count, indices, pick, position};
use hlo_ir::attr::GatherAttrs;
use hlo_ir::{Dims, Instruction, Literal};
use smallvec::SmallVec;

/// Returns the start of a slice of size `sizes` in an array of size `dims`. The indices are N scalars, or one
/// vector of N. Each is clamped so that the slice is in bounds.
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

/// Semantics, "DynamicSlice": `clamp(start, 0, size - slice)`. A slice that is larger than the array starts
/// at 0; no verified module has one.
fn clamp_start(start: i128, size: i64, slice: i64) -> i64 {
    start.clamp(0, i128::from(size.saturating_sub(slice).max(0))) as i64
}

/// `dynamic-slice` (semantics, "DynamicSlice"): the part of the operand at the start indices, which are
/// clamped so that the slice is in bounds.
pub(super) fn dynamic_slice(
    cx: &mut Context<'_>,
    instr: &Instruction,
    mut operands: Vec<Literal>,
) -> Result<Literal> {
    if operands.is_empty() {
        return Err(EvalError::new("an operand is missing"));
    }
    let operand = operands.remove(0);
    let shape = result_array(instr)?;
    let start_indices = start_indices(&operands, &array(&operand)?.dims, &shape.dims)?;
    moved(cx, shape, operand, |result, operand| {
        for (d, &start) in start_indices.iter().enumerate() {
            operand[d] = start + result[d];
        }
    })
}

/// `dynamic-update-slice` (semantics, "DynamicUpdateSlice"): the operand with the update at the start
/// indices, which are clamped as in `dynamic-slice`. The update happens in place if the operand has no other
/// user.
pub(super) fn dynamic_update_slice(cx: &mut Context<'_>, mut operands: Vec<Literal>) -> Result<Literal> {
    if operands.len() < 2 {
        return Err(EvalError::new("an operand is missing"));
    }
    let indices = operands.split_off(2);
    let [operand, update] = take(operands)?;
    let sizes = array(&update)?.dims.clone();
    let start_indices = start_indices(&indices, &array(&operand)?.dims, &sizes)?;
    let mut result = cx.make_unique(operand)?;
    cx.charge(count(&sizes))?;
    let target = |update: &[i64], result: &mut [i64]| {
        for (d, &start) in start_indices.iter().enumerate() {
            result[d] = start + update[d];
        }
    };
    copy(cx, &sizes, (&update, same), (&mut result, target))?;
    cx.release(update);
    Ok(result)
}

/// The start indices of `gather` and `scatter`, by the index G of the batch dimensions. These are the
/// dimensions of the array of indices except `index_vector_dim`.
pub(super) struct StartIndices {
    /// The sizes of the batch dimensions.
    pub(super) batch_dims: Dims,
    /// The dimension of the array of indices that contains the components of an index vector. It is inserted
    /// into G.
    index_vector_dim: usize,
    /// The operand dimension for each component of an index vector: `start_index_map`, or
    /// `scatter_dims_to_operand_dims`.
    start_index_map: SmallVec<[usize; 6]>,
    /// Operand dimensions whose index is that of a batch dimension, as pairs (operand dimension, batch
    /// dimension).
    batching: SmallVec<[(usize, usize); 6]>,
    operand_rank: usize,
    indices: Literal,
}

impl StartIndices {
    /// Reads the dimension numbers that `gather` and `scatter` share. The parameters have the names of
    /// `gather`.
    pub(super) fn new(
        indices: Literal,
        index_vector_dim: i64,
        start_index_map: &[i64],
        operand_batching_dims: &[i64],
        start_indices_batching_dims: &[i64],
        operand_rank: usize,
    ) -> Result<Self> {
        let shape = array(&indices)?;
        if !shape.element_type.is_integer() {
            return Err(EvalError::new("indices must be integers"));
        }
        // Semantics: an `index_vector_dim` equal to the rank means a trailing dimension of size 1.
        let index_vector_dim = dimension(index_vector_dim, shape.rank() + 1)?;
        let components = shape.dims.get(index_vector_dim).copied().unwrap_or(1); // the implicit dimension
        let mut batch_dims = shape.dims.clone();
        if index_vector_dim < shape.rank() {
            batch_dims.remove(index_vector_dim);
        }
        if components != start_index_map.len() as i64
            || operand_batching_dims.len() != start_indices_batching_dims.len()
        {
            return Err(EvalError::new(format!(
                "index vectors of {components} components for {} dimensions",
                start_index_map.len()
            )));
        }
        let start_indices_batching_dims = dimensions(start_indices_batching_dims, shape.rank())?;
        if start_indices_batching_dims.contains(&index_vector_dim) {
            return Err(EvalError::new("the index vectors' dimension can't be a batching dimension"));
        }
        let batching = dimensions(operand_batching_dims, operand_rank)?
            .into_iter()
            .zip(start_indices_batching_dims)
            .map(|(o, i)| (o, if i > index_vector_dim { i - 1 } else { i }))
            .collect();
        Ok(Self {
            batch_dims,
            index_vector_dim,
            start_index_map: dimensions(start_index_map, operand_rank)?,
            batching,
            operand_rank,
            indices,
        })
    }

    /// Returns the start index S_in in the operand at a batch index G, with its original width. It may be out
    /// of bounds.
    pub(super) fn at(&self, g: &[i64]) -> Result<SmallVec<[i128; 6]>> {
        let dims = &array(&self.indices)?.dims;
        let mut s_in: SmallVec<[i128; 6]> = smallvec::smallvec![0; self.operand_rank];
        // Combine(G, k), which inserts k at `index_vector_dim`.
        let mut combined: Dims = g.into();
        if self.index_vector_dim < dims.len() {
            combined.insert(self.index_vector_dim.min(g.len()), 0);
        }
        for (k, &d) in self.start_index_map.iter().enumerate() {
            // An implicit trailing dimension of size 1 has only component 0, which `combined` already
            // selects.
            if let Some(component) = combined.get_mut(self.index_vector_dim) {
                *component = k as i64;
            }
            let index = self.indices.integer_at(position(&combined, dims)?);
            s_in[d] = index.ok_or_else(|| EvalError::internal("indices that are no integers"))?;
        }
        for &(d, batch) in &self.batching {
            let index =
                g.get(batch).ok_or_else(|| EvalError::internal(format!("no batch dimension {batch}")))?;
            s_in[d] = (*index).into();
        }
        Ok(s_in)
    }
}

/// The dimension numbers of a `gather`, checked.
pub(super) struct GatherDims {
    /// The result's dimensions that are not in `offset_dims`, in order.
    pub(super) batch_dims: SmallVec<[usize; 6]>,
    /// The result's dimensions that are offsets in a slice.
    pub(super) offset_dims: SmallVec<[usize; 6]>,
    /// `remapped_offset_dims`: the operand dimension of each of `offset_dims`. These are neither collapsed
    /// nor batching dimensions.
    pub(super) remapped_offset_dims: SmallVec<[usize; 6]>,
}

/// `gather` (semantics, "Gather"): for each batch index, the slice of size `slice_sizes` at its start index,
/// without the collapsed and batching dimensions. The start index is clamped so that the slice is in bounds,
/// as in `dynamic-slice`. If the slices have no elements, the result is zero (`GatherAttrs::reads_nothing`).
pub(super) fn gather(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &GatherAttrs,
) -> Result<Literal> {
    let [operand, start_indices] = take(operands)?;
    let (sizes, shape) = (array(&operand)?.dims.clone(), result_array(instr)?);
    let start_indices = StartIndices::new(
        start_indices,
        attrs.index_vector_dim,
        &attrs.start_index_map,
        &attrs.operand_batching_dims,
        &attrs.start_indices_batching_dims,
        sizes.len(),
    )?;
    let dims = gather_dims(attrs, sizes.len(), shape.rank(), start_indices.batch_dims.len())?;
    let start = |g: &[i64]| -> Result<Dims> {
        let s_in = start_indices.at(g)?;
        Ok((0..sizes.len()).map(|d| clamp_start(s_in[d], sizes[d], attrs.slice_sizes[d])).collect())
    };
    let mut result = cx.allocate(shape)?;
    if attrs.reads_nothing() {
        cx.release(operand);
        return Ok(result);
    }
    if cx.definitions_only() {
        let (operand, mut result) = (Elements::of(&operand)?, ElementsMut::of(&mut result)?);
        for out in indices(&shape.dims) {
            let g = pick(&out, &dims.batch_dims);
            // In = Oin + Sin.
            let mut operand_index = start(&g)?;
            for (&offset_dim, &d) in dims.offset_dims.iter().zip(&dims.remapped_offset_dims) {
                operand_index[d] += out[offset_dim];
            }
            result.set(&out, operand.at(&operand_index)?)?;
        }
    } else {
        let batches = (&start_indices.batch_dims[..], start);
        fast::gather::gather(&dims, &attrs.slice_sizes, &operand, batches, &mut result)?;
    }
    cx.release(operand);
    Ok(result)
}

fn gather_dims(attrs: &GatherAttrs, operand: usize, result: usize, batch: usize) -> Result<GatherDims> {
    let offset_dims = dimensions(&attrs.offset_dims, result)?;
    let dropped = |d: usize| {
        let d = d as i64;
        attrs.collapsed_slice_dims.contains(&d) || attrs.operand_batching_dims.contains(&d)
    };
    let dims = GatherDims {
        batch_dims: (0..result).filter(|d| !offset_dims.contains(d)).collect(),
        remapped_offset_dims: (0..operand).filter(|&d| !dropped(d)).collect(),
        offset_dims,
    };
    let fits = attrs.slice_sizes.len() == operand
        && dims.remapped_offset_dims.len() == dims.offset_dims.len()
        && dims.batch_dims.len() == batch;
    if !fits {
        return Err(EvalError::new("the dimension numbers of the gather do not fit its shapes"));
    }
    Ok(dims)
}
