//! Operations that move elements without changing them (semantics, "BroadcastInDim", "Concatenate", "Iota",
//! "Pad", "Reshape", "Rev", "Slice", "Transpose"). Each is defined by the operand index for each index of its
//! result.

use super::moved::{copy, moved, same};
use super::support::{Result, array, declared_array, dimension, dimensions, result_array, take};
use super::{convert, fast};
use crate::context::Context;
use crate::element::{Elements, ElementsMut};
use crate::error::EvalError;
use crate::index::{indices, pick};
use hlo_ir::attr::{BroadcastAttrs, PadAttrs, PaddingDim, SliceAttrs};
use hlo_ir::{ArrayShape, Dims, ElementType, Instruction, Literal, Shape};

/// Fails unless a list with one entry per dimension is as long as the rank.
fn expect_rank(what: &str, count: usize, rank: usize) -> Result<()> {
    if count == rank { Ok(()) } else { Err(EvalError::new(format!("{count} {what} for rank {rank}"))) }
}

/// `broadcast` (semantics, "BroadcastInDim"): operand dimension `i` becomes result dimension
/// `broadcast_dimensions[i]`. An operand dimension of size 1 is repeated.
pub(super) fn broadcast(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &BroadcastAttrs,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let shape = result_array(instr)?;
    let sizes = array(&operand)?.dims.clone();
    expect_rank("dimensions", attrs.dimensions.len(), sizes.len())?;
    let broadcast_dimensions = dimensions(&attrs.dimensions, shape.rank())?;
    moved(cx, shape, operand, |result, operand| {
        for (i, &d) in broadcast_dimensions.iter().enumerate() {
            operand[i] = if sizes[i] == 1 { 0 } else { result[d] };
        }
    })
}

/// `reshape` (semantics, "Reshape"): the same elements in row-major order, with other dimensions.
pub(super) fn reshape(instr: &Instruction, operands: Vec<Literal>) -> Result<Literal> {
    let [operand] = take(operands)?;
    let (from, to) = (array(&operand)?, result_array(instr)?);
    if from.element_type != to.element_type || from.element_count() != to.element_count() {
        return Err(EvalError::new(format!("{} can't be reshaped to {}", operand.shape(), instr.shape)));
    }
    Ok(operand.with_shape(instr.shape.clone()))
}

/// `bitcast`: the memory of the operand in its layout, read with the shape and layout of the result.
pub(super) fn bitcast(cx: &mut Context<'_>, instr: &Instruction, operands: Vec<Literal>) -> Result<Literal> {
    let [operand] = take(operands)?;
    // Uses the layout of the operand's instruction, because an input of the program may have another layout.
    let mut from = array(&operand)?.clone();
    from.layout = declared_array(cx.module, instr, 0)?.layout.clone();
    let to = result_array(instr)?;
    if from.byte_size() != to.byte_size() {
        return Err(EvalError::new(format!("{} and {} differ in size", operand.shape(), instr.shape)));
    }
    /// Returns the dimensions from major to minor in memory.
    fn major_to_minor(shape: &ArrayShape) -> Vec<usize> {
        shape.minor_to_major().iter().rev().copied().collect()
    }
    // The operand's elements in memory order.
    let memory = if from.is_row_major() {
        operand
    } else {
        let order = major_to_minor(&from);
        let in_memory = ArrayShape::new(from.element_type, pick(&from.dims, &order));
        moved(cx, &in_memory, operand, |memory, operand| {
            order.iter().zip(memory).for_each(|(&d, &i)| operand[d] = i);
        })?
    };
    if to.is_row_major() {
        return Ok(memory.with_shape(instr.shape.clone()));
    }
    // The same elements in the memory order of the result.
    let order = major_to_minor(to);
    let memory = memory.with_shape(Shape::array(to.element_type, pick(&to.dims, &order)));
    moved(cx, to, memory, |result, memory| {
        order.iter().zip(memory).for_each(|(&d, i)| *i = result[d]);
    })
}

/// `transpose` (semantics, "Transpose"): result dimension `i` is operand dimension `permutation[i]`.
pub(super) fn transpose(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    permutation: &[i64],
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let shape = result_array(instr)?;
    let rank = array(&operand)?.rank();
    expect_rank("dimensions", permutation.len(), rank)?;
    expect_rank("dimensions", permutation.len(), shape.rank())?;
    let permutation = dimensions(permutation, rank)?;
    moved(cx, shape, operand, |result, operand| {
        permutation.iter().enumerate().for_each(|(i, &d)| operand[d] = result[i]);
    })
}

/// `reverse` (semantics, "Rev"): index `i` of a reversed dimension of size N becomes N - 1 - i.
pub(super) fn reverse(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    reversed: &[i64],
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let shape = result_array(instr)?;
    let sizes = array(&operand)?.dims.clone();
    expect_rank("dimensions", shape.rank(), sizes.len())?;
    let reversed = dimensions(reversed, sizes.len())?;
    moved(cx, shape, operand, |result, operand| {
        for (d, &n) in sizes.iter().enumerate() {
            operand[d] = if reversed.contains(&d) { n - 1 - result[d] } else { result[d] };
        }
    })
}

/// `slice` (semantics, "Slice"): each dimension starts at its start index and advances by its stride.
pub(super) fn slice(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &SliceAttrs,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let shape = result_array(instr)?;
    expect_rank("ranges", attrs.slice.len(), array(&operand)?.rank())?;
    expect_rank("ranges", attrs.slice.len(), shape.rank())?;
    moved(cx, shape, operand, |result, operand| {
        for (d, range) in attrs.slice.iter().enumerate() {
            operand[d] = range.start.saturating_add(result[d].saturating_mul(range.stride));
        }
    })
}

/// `concatenate` (semantics, "Concatenate"): the operands one after the other along a dimension.
pub(super) fn concatenate(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    along: i64,
) -> Result<Literal> {
    let shape = result_array(instr)?;
    let along = dimension(along, shape.rank())?;
    let mut result = cx.allocate(shape)?;
    let mut start = 0;
    for operand in operands {
        let sizes = array(&operand)?.dims.clone();
        expect_rank("dimensions of an operand", sizes.len(), shape.rank())?;
        let target = |operand: &[i64], result: &mut [i64]| {
            same(operand, result);
            result[along] += start;
        };
        copy(cx, &sizes, (&operand, same), (&mut result, target))?;
        start += sizes[along];
        cx.release(operand);
    }
    if start != shape.dims[along] {
        return Err(EvalError::internal(format!("{start} elements are concatenated to {}", instr.shape)));
    }
    Ok(result)
}

/// `pad` (semantics, "Pad"): interior padding first, then the edges, where negative padding removes elements.
/// Element `i` of the operand thus moves to `edge_padding_low + i·(interior_padding + 1)`. All other elements
/// are padding.
pub(super) fn pad(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &PadAttrs,
) -> Result<Literal> {
    let [operand, value] = take(operands)?;
    let shape = result_array(instr)?;
    let sizes = array(&operand)?.dims.clone();
    expect_rank("paddings", attrs.padding.len(), sizes.len())?;
    expect_rank("paddings", attrs.padding.len(), shape.rank())?;
    if array(&value)?.rank() != 0 {
        return Err(EvalError::new(format!("a padding value of shape {}", value.shape())));
    }
    if let Some(p) = attrs.padding.iter().find(|p| p.interior < 0) {
        return Err(EvalError::new(format!("interior padding of {}", p.interior)));
    }
    if !cx.definitions_only() {
        return fast::pad::pad(cx, shape, operand, value, &attrs.padding);
    }
    let mut result = cx.allocate(shape)?;
    {
        let (operand, padding_value) = (Elements::of(&operand)?, Elements::of(&value)?.at(&[])?);
        let mut result = ElementsMut::of(&mut result)?;
        for index in indices(&shape.dims) {
            let place = |(d, p): (usize, &PaddingDim)| -> Option<i64> {
                let (distance, step) = (index[d].checked_sub(p.low)?, p.interior.checked_add(1)?);
                let i = distance / step;
                (distance % step == 0 && (0..sizes[d]).contains(&i)).then_some(i)
            };
            let element = match attrs.padding.iter().enumerate().map(place).collect::<Option<Dims>>() {
                Some(place) => operand.at(&place)?,
                None => padding_value,
            };
            result.set(&index, element)?;
        }
    }
    cx.release(operand);
    Ok(result)
}

/// `iota` (semantics, "Iota"): 0, 1, … along a dimension, converted to the element type.
pub(super) fn iota(cx: &mut Context<'_>, instr: &Instruction, along: i64) -> Result<Literal> {
    let shape = result_array(instr)?;
    let along = dimension(along, shape.rank())?;
    let mut result = cx.allocate(shape)?;
    let convert = convert::kernel(ElementType::S64, shape.element_type);
    if !cx.definitions_only() {
        fast::iota::fill(shape, along, &convert, result.bytes_mut())?;
        return Ok(result);
    }
    let size = shape.element_type.byte_size();
    for (index, element) in indices(&shape.dims).zip(result.bytes_mut().chunks_exact_mut(size)) {
        convert(&[bytemuck::bytes_of(&index[along])], element)?;
    }
    Ok(result)
}
