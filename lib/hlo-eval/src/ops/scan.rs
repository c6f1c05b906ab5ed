//! `scan`: applies a function along a dimension of the inputs and passes carries from step to step.

use super::moved::{copy, same};
use super::support::{Result, array, dimension};
use crate::context::Context;
use crate::error::EvalError;
use crate::index::extent;
use hlo_ir::attr::ScanAttrs;
use hlo_ir::{ArrayShape, Instruction, Literal, Shape};
use std::cmp::Ordering;

/// The operands are the inputs, then the carries. Each step receives the carries and the elements of the
/// inputs at one position of the dimension. It returns the elements of the outputs at that position and the
/// next carries. The result contains the outputs and the last carries. With `is_reverse` the steps run from
/// the last position to the first.
pub(super) fn scan(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ScanAttrs,
) -> Result<Literal> {
    let wrong = || EvalError::new("the operands and results of the scan do not fit its function");
    let carries = usize::try_from(attrs.num_carries).map_err(|_| wrong())?;
    let mut inputs = operands;
    let mut carried = inputs.split_off(inputs.len().checked_sub(carries).ok_or_else(wrong)?);
    let dims = array(inputs.first().ok_or_else(wrong)?)?.dims.clone();
    let along = dimension(*attrs.dimensions.first().ok_or_else(wrong)?, dims.len())?;
    let length = extent(dims[along])?;
    if inputs.iter().any(|i| i.shape().as_array().is_none_or(|a| a.dims.get(along) != Some(&dims[along]))) {
        return Err(wrong());
    }
    let mut results = outputs(cx, instr, carries)?;
    for n in 0..length {
        let position = if attrs.is_reverse { length - 1 - n } else { n };
        let mut arguments = Vec::with_capacity(inputs.len() + carries);
        for input in &inputs {
            let shape = slice_shape(array(input)?, along)?;
            let mut slice = cx.allocate(&shape)?;
            copy(cx, &shape.dims, (input, at(along, position)), (&mut slice, same))?;
            arguments.push(slice);
        }
        arguments.append(&mut carried);
        let returned = cx.call(attrs.to_apply, arguments)?;
        let mut values =
            if returned.shape().is_tuple() { returned.tuple_elements().to_vec() } else { vec![returned] };
        if values.len() != results.len() + carries {
            return Err(wrong());
        }
        carried = values.split_off(results.len());
        for (result, value) in results.iter_mut().zip(values) {
            if n == 0 {
                // Sizes that are known only at run time are those of the first step.
                *result = sized(cx, std::mem::replace(result, Literal::token()), array(&value)?, along)?;
            }
            let shape = slice_shape(array(result)?, along)?;
            if !array(&value)?.compatible(&shape) {
                return Err(wrong());
            }
            copy(cx, &shape.dims, (&value, same), (result, at(along, position)))?;
            cx.release(value);
        }
    }
    inputs.into_iter().for_each(|i| cx.release(i));
    results.append(&mut carried);
    if instr.shape.is_tuple() { Ok(Literal::tuple(results)) } else { results.pop().ok_or_else(wrong) }
}

/// Returns an output array with the sizes of a step's output, except along the dimension of steps.
fn sized(cx: &mut Context<'_>, result: Literal, step: &ArrayShape, along: usize) -> Result<Literal> {
    let mut shape = array(&result)?.clone();
    let others: Vec<usize> = (0..shape.rank()).filter(|&d| d != along).collect();
    if others.len() != step.rank() {
        return Err(EvalError::internal(format!("a step of {step} for {shape}")));
    }
    for (d, &size) in others.into_iter().zip(&step.dims) {
        shape.dims[d] = size.min(shape.dims[d]);
    }
    if shape.dims == array(&result)?.dims {
        return Ok(result);
    }
    cx.release(result);
    cx.allocate(&shape)
}

/// Allocates the outputs: the parts of the result without the carries.
fn outputs(cx: &mut Context<'_>, instr: &Instruction, carries: usize) -> Result<Vec<Literal>> {
    let parts = match &instr.shape {
        Shape::Tuple(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    let count = parts.len().checked_sub(carries);
    let count = count.ok_or_else(|| EvalError::new("a scan with fewer results than carries"))?;
    let array = |s: &Shape| s.as_array().cloned().ok_or_else(|| EvalError::new(format!("{s} is no array")));
    parts[..count].iter().map(|s| cx.allocate(&array(s)?)).collect()
}

/// Returns the shape that a step receives of an array: all dimensions except `along`.
fn slice_shape(shape: &ArrayShape, along: usize) -> Result<ArrayShape> {
    dimension(along as i64, shape.rank())?;
    let kept = (0..shape.rank()).filter(|&d| d != along).map(|d| shape.dims[d]);
    Ok(ArrayShape::new(shape.element_type, kept))
}

/// Returns the map from an index in a step's slice to the index in the array at a position of the dimension
/// `along`.
fn at(along: usize, position: usize) -> impl Fn(&[i64], &mut [i64]) {
    move |slice, index| {
        for (d, i) in index.iter_mut().enumerate() {
            *i = match d.cmp(&along) {
                Ordering::Less => slice[d],
                Ordering::Equal => position as i64,
                Ordering::Greater => slice[d - 1],
            };
        }
    }
}
