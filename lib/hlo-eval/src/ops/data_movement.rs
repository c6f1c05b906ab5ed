//! Operations that move elements without changing them: all of them one walk over source and target.

use super::{Result, array, dimension, dimensions, result_array, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{Walk, copy_bytes, count, row_major_strides};
use crate::kernel::{Kernel, elements, elements_mut, with_storage};
use crate::ops::convert;
use hlo_ir::attr::{BroadcastAttrs, PadAttrs, SliceAttrs};
use hlo_ir::{ArrayShape, Dims, ElementType, Instruction, Literal, Shape};

/// The result whose element at index `i` is the operand's at `source(i)`.
pub(super) fn gather_walk(
    ev: &mut Evaluator<'_>,
    shape: &ArrayShape,
    operand: Literal,
    source: &Walk,
) -> Result<Literal> {
    let mut result = ev.allocate(shape)?;
    let size = shape.element_type.byte_size();
    copy_bytes(size, &shape.dims, operand.bytes(), source, result.bytes_mut(), &Walk::dense(&shape.dims))?;
    ev.release(operand);
    Ok(result)
}

/// `broadcast` (semantics, "BroadcastInDim"): operand dimension `i` becomes result dimension `dimensions[i]`;
/// an operand dimension of size 1 is repeated.
pub(super) fn broadcast(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &BroadcastAttrs,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let shape = result_array(instr)?;
    let from = array(&operand)?;
    if attrs.dimensions.len() != from.rank() {
        return Err(EvalError::new(format!(
            "{} dimensions for rank {}",
            attrs.dimensions.len(),
            from.rank()
        )));
    }
    let mut strides: Dims = smallvec::smallvec![0; shape.rank()];
    let from_strides = row_major_strides(&from.dims);
    for (i, d) in dimensions(&attrs.dimensions, shape.rank())?.into_iter().enumerate() {
        if from.dims[i] != 1 {
            strides[d] = from_strides[i];
        }
    }
    gather_walk(ev, shape, operand, &Walk { offset: 0, strides })
}

/// `reshape` (semantics, "Reshape"): the same elements in row-major order under other dimensions.
pub(super) fn reshape(instr: &Instruction, operands: Vec<Literal>) -> Result<Literal> {
    let [operand] = take(operands)?;
    let (from, to) = (array(&operand)?, result_array(instr)?);
    if from.element_type != to.element_type || from.element_count() != to.element_count() {
        return Err(EvalError::new(format!("{} can't be reshaped to {}", operand.shape(), instr.shape)));
    }
    Ok(operand.with_shape(instr.shape.clone()))
}

/// `bitcast`: the operand's memory, in its layout, read as the result's shape in its layout.
pub(super) fn bitcast(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    // The layout is the operand instruction's: a value from outside may have been given in another.
    let mut from = array(&operand)?.clone();
    if let Some(declared) = instr.operands.first().and_then(|&o| ev.module[o].shape.as_array()) {
        from.layout = declared.layout.clone();
    }
    let to = result_array(instr)?;
    if from.byte_size() != to.byte_size() {
        return Err(EvalError::new(format!("{} and {} differ in size", operand.shape(), instr.shape)));
    }
    let physical_order =
        |s: &ArrayShape| -> Dims { s.minor_to_major().iter().rev().map(|&d| d as i64).collect() };
    let permuted =
        |s: &ArrayShape| -> Dims { physical_order(s).iter().map(|&d| s.dims[d as usize]).collect() };
    // The operand's elements in memory order.
    let memory = if from.is_row_major() {
        operand
    } else {
        let logical = row_major_strides(&from.dims);
        let strides = physical_order(&from).iter().map(|&d| logical[d as usize]).collect();
        let flat = ArrayShape::new(from.element_type, permuted(&from));
        gather_walk(ev, &flat, operand, &Walk { offset: 0, strides })?
    };
    if to.is_row_major() {
        return Ok(memory.with_shape(instr.shape.clone()));
    }
    // The result's element at a logical index is at the layout's strides in memory.
    let memory = memory.with_shape(Shape::array(to.element_type, permuted(to)));
    gather_walk(ev, to, memory, &Walk { offset: 0, strides: to.strides() })
}

/// `transpose` (semantics, "Transpose"): result dimension `i` is operand dimension `permutation[i]`.
pub(super) fn transpose(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    permutation: &[i64],
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let from = array(&operand)?;
    let from_strides = row_major_strides(&from.dims);
    let strides = dimensions(permutation, from.rank())?.into_iter().map(|d| from_strides[d]).collect();
    gather_walk(ev, result_array(instr)?, operand, &Walk { offset: 0, strides })
}

/// `reverse` (semantics, "Rev"): index `i` of a reversed dimension of size N becomes N - 1 - i.
pub(super) fn reverse(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    reversed: &[i64],
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let from = array(&operand)?;
    let mut walk = Walk::dense(&from.dims);
    for d in dimensions(reversed, from.rank())? {
        walk.offset += (from.dims[d] - 1) * walk.strides[d];
        walk.strides[d] = -walk.strides[d];
    }
    gather_walk(ev, result_array(instr)?, operand, &walk)
}

/// `slice` (semantics, "Slice").
pub(super) fn slice(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &SliceAttrs,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let from = array(&operand)?;
    if attrs.slice.len() != from.rank() {
        return Err(EvalError::new(format!("{} ranges for rank {}", attrs.slice.len(), from.rank())));
    }
    let mut walk = Walk::dense(&from.dims);
    for (range, stride) in attrs.slice.iter().zip(&mut walk.strides) {
        walk.offset += range.start * *stride;
        *stride *= range.stride;
    }
    gather_walk(ev, result_array(instr)?, operand, &walk)
}

/// `concatenate` (semantics, "Concatenate").
pub(super) fn concatenate(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    along: i64,
) -> Result<Literal> {
    let shape = result_array(instr)?;
    let along = dimension(along, shape.rank())?;
    let mut result = ev.allocate(shape)?;
    let mut target = Walk::dense(&shape.dims);
    for operand in operands {
        let dims = array(&operand)?.dims.clone();
        let size = shape.element_type.byte_size();
        copy_bytes(size, &dims, operand.bytes(), &Walk::dense(&dims), result.bytes_mut(), &target)?;
        target.offset += dims.get(along).copied().unwrap_or(0) * target.strides[along];
        ev.release(operand);
    }
    Ok(result)
}

/// `pad` (semantics, "Pad"): interior padding first, then the edges, where negative padding removes elements.
pub(super) fn pad(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &PadAttrs,
) -> Result<Literal> {
    let [operand, value] = take(operands)?;
    let shape = result_array(instr)?;
    let from = array(&operand)?;
    if attrs.padding.len() != from.rank() || shape.rank() != from.rank() {
        return Err(EvalError::new(format!("{} paddings for rank {}", attrs.padding.len(), from.rank())));
    }
    let everywhere = Walk { offset: 0, strides: smallvec::smallvec![0; shape.rank()] };
    let mut result = gather_walk(ev, shape, value, &everywhere)?;
    // The operand elements that land inside, as a box: index i goes to low + i·(interior + 1).
    let (mut source, mut target) = (Walk::dense(&from.dims), Walk::dense(&shape.dims));
    let mut kept = Dims::new();
    for (d, padding) in attrs.padding.iter().enumerate() {
        let step = padding.interior.max(0).saturating_add(1);
        let below = padding.low.min(0).saturating_neg();
        let first = below / step + i64::from(below % step != 0);
        // One past the last i with low + i·step < size.
        let room = shape.dims[d].saturating_sub(padding.low);
        let end = if room <= 0 { 0 } else { ((room - 1) / step + 1).min(from.dims[d]) };
        kept.push((end - first).max(0));
        if end <= first {
            continue; // no element is copied, the walks do not matter
        }
        source.offset += first * source.strides[d];
        target.offset += (padding.low + first * step) * target.strides[d];
        target.strides[d] = target.strides[d].saturating_mul(step);
    }
    let size = shape.element_type.byte_size();
    copy_bytes(size, &kept, operand.bytes(), &source, result.bytes_mut(), &target)?;
    ev.release(operand);
    Ok(result)
}

/// `iota` (semantics, "Iota"): 0, 1, … along a dimension, converted to the element type.
pub(super) fn iota(ev: &mut Evaluator<'_>, instr: &Instruction, along: i64) -> Result<Literal> {
    /// How many numbers are converted at once.
    const CHUNK: usize = 256;
    let shape = result_array(instr)?;
    let along = dimension(along, shape.rank())?;
    let (ty, bytes) = (shape.element_type, shape.element_type.byte_size());
    let mut result = ev.allocate(shape)?;
    if shape.element_count() == 0 {
        return Ok(result);
    }
    let size = shape.dims[along] as usize;
    let inner = count(&shape.dims[along + 1..]);
    let convert: Kernel = convert::kernel(ElementType::S64, ty);
    let (mut counters, mut values) = ([0i64; CHUNK], [0u128; CHUNK]);
    for first in (0..size).step_by(CHUNK) {
        let n = CHUNK.min(size - first);
        counters.iter_mut().zip(first as i64..).for_each(|(c, i)| *c = i);
        let values = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut values)[..n * bytes];
        convert(&[bytemuck::cast_slice(&counters[..n])], values);
        for line in result.bytes_mut().chunks_exact_mut(size * inner * bytes) {
            let line = &mut line[first * inner * bytes..][..n * inner * bytes];
            with_storage!(bytes, T => {
                let targets = elements_mut::<T>(line).chunks_exact_mut(inner);
                targets.zip(elements::<T>(values)).for_each(|(to, &value)| to.fill(value));
            });
        }
    }
    Ok(result)
}
