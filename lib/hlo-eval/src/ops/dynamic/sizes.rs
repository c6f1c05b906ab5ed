//! `set-dimension-size`, `get-dimension-size` and `dynamic-reshape`.

use crate::context::Context;
use crate::error::EvalError;
use crate::ops::moved::{copy, same};
use crate::ops::structural;
use crate::ops::support::{Result, array, declared_array, dimension, result_array, take};
use hlo_ir::{ArrayShape, Instruction, Literal};

/// `set-dimension-size` (semantics, "SetDimensionSize"): returns the first elements along the dimension. A
/// dimension that becomes larger than the array is filled with zeros.
pub(crate) fn set_dimension_size(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    number: i64,
) -> Result<Literal> {
    let [operand, size] = take(operands)?;
    let bounds = result_array(instr)?;
    let d = dimension(number, bounds.rank())?;
    let wanted = size.integer_at(0).ok_or_else(|| EvalError::new("the size must be an integer"))?;
    let size = i64::try_from(wanted).ok().filter(|n| (0..=bounds.dims[d]).contains(n)).ok_or_else(|| {
        EvalError::new(format!(
            "the size of dimension {d} is set to {wanted}, which is not from 0 to its bound, {}",
            bounds.dims[d]
        ))
    })?;
    let from = array(&operand)?.clone();
    let mut shape =
        ArrayShape { layout: bounds.layout.clone(), ..ArrayShape::new(from.element_type, from.dims.clone()) };
    shape.dims[d] = size;
    if shape.dims == from.dims {
        return structural::relabel(operand, &shape.into());
    }
    let mut result = cx.allocate(&shape)?;
    let mut kept = from.dims.clone();
    kept[d] = kept[d].min(size);
    copy(cx, &kept, (&operand, same), (&mut result, same))?;
    cx.release(operand);
    Ok(result)
}

/// `get-dimension-size` (semantics, "GetDimensionSize"). As in XLA, a dimension that is declared static has
/// its declared size, even if it was computed from a dynamic one.
pub(crate) fn get_dimension_size(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: &[Literal],
    number: i64,
) -> Result<Literal> {
    let real = super::operand_array(operands, 0)?;
    let declared = declared_array(cx.module, instr, 0)?;
    let d = dimension(number, real.rank())?;
    let size = if declared.is_dynamic_dim(d) { real.dims[d] } else { declared.dims[d] };
    let size = i32::try_from(size).map_err(|_| EvalError::new("the size does not fit an s32"))?;
    structural::relabel(Literal::scalar(result_array(instr)?.element_type, size), &instr.shape)
}

/// `dynamic-reshape`: the elements in row-major order, with the sizes in the other operands.
pub(crate) fn dynamic_reshape(instr: &Instruction, mut operands: Vec<Literal>) -> Result<Literal> {
    let bounds = result_array(instr)?;
    if operands.len() != bounds.rank() + 1 {
        return Err(EvalError::new(format!("{} sizes for rank {}", operands.len() - 1, bounds.rank())));
    }
    let sizes = operands.split_off(1);
    let [operand] = take(operands)?;
    let mut shape = bounds.clone();
    shape.dynamic.clear();
    for (d, size) in sizes.iter().enumerate() {
        let bound = bounds.dims[d];
        let wanted = size.integer_at(0).ok_or_else(|| EvalError::new("sizes must be integers"))?;
        let allowed = if bounds.is_dynamic_dim(d) { 0..=bound } else { bound..=bound };
        shape.dims[d] = i64::try_from(wanted).ok().filter(|n| allowed.contains(n)).ok_or_else(|| {
            EvalError::new(format!(
                "the size of dimension {d} is {wanted}, which does not fit {}",
                instr.shape
            ))
        })?;
    }
    let (has, wanted) = (array(&operand)?.element_count(), shape.element_count());
    if has != wanted {
        return Err(EvalError::new(format!(
            "the operand has {has} elements, {}, the sizes are those of {wanted}, {shape}",
            operand.shape()
        )));
    }
    Ok(operand.with_shape(shape.into()))
}
