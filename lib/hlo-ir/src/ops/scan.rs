//! Rules for `scan`, which calls a computation for each index of a dimension of the inputs and passes carries
//! from call to call.

use super::context::{Context, one_or_tuple};
use super::contract::{Called, Contract, fits};
use super::dim::{Dim, array_of, dim, dims};
use super::violation::{Place, Rule};
use crate::attr::ScanAttrs;
use crate::rules::code;
use crate::{ArrayShape, Shape};

const BODY: Contract =
    Contract { attribute: "to_apply", parameters: code::SCAN_PARAMETERS, result: code::SCAN_RESULT };

/// Returns the shape that one step reads of an array: all dimensions except `along`.
fn slice_of(a: &ArrayShape, along: usize) -> Shape {
    let kept = dims(a).enumerate().filter(|&(i, _)| i != along).map(|(_, d)| d);
    array_of(a.element_type, kept).into()
}

/// Returns the shape of `length` outputs of a step, stacked along the dimension `along`; `None` if there is
/// no such dimension.
fn stack_of(step: &ArrayShape, along: usize, length: Dim) -> Option<Shape> {
    let mut sizes: Vec<Dim> = dims(step).collect();
    if along > sizes.len() {
        return None;
    }
    sizes.insert(along, length);
    Some(array_of(step.element_type, sizes).into())
}

/// Checks `scan(inputs…, carries…)`. The computation takes a slice of each input and the carries. It returns
/// a slice of each output and the next carries. The result contains the stacked outputs and the last carries.
pub(super) fn scan(cx: &Context<'_>, attrs: &ScanAttrs) -> Rule {
    let n = cx.operands.len();
    let carries = match usize::try_from(attrs.num_carries) {
        Ok(carries) if carries < n => carries,
        _ => {
            return Err(cx.error(
                code::SCAN_CARRIES,
                format!(
                    "needs an input before its carries, of which there are {} of {n} operands by `num_carries`",
                    attrs.num_carries
                ),
            ).of("num_carries"));
        }
    };
    let (inputs, carried) = cx.operands.split_at(n - carries);
    let first = cx.array(0)?;
    let along = cx.one_dim("dimensions", &attrs.dimensions, first.rank())?;
    let length = dim(first, along as i64);
    let mut arguments = Vec::with_capacity(n);
    for i in 0..inputs.len() {
        let a = cx.array(i)?;
        cx.check_dim("dimensions", along as i64, a.rank())?;
        if !dim(a, along as i64).agrees(length) {
            cx.report(
                cx.operand_error(
                    code::SCAN_LENGTH,
                    i,
                    format!(
                        "needs inputs of one size in dimension {along}, found {} in operand 0 and {} in operand {i}",
                        length.size,
                        dim(a, along as i64).size
                    ),
                )
                .with(Place::Operand(0), format!("this is {first}")),
            );
        }
        arguments.push(slice_of(a, along));
    }
    let arguments: Vec<&Shape> = arguments.iter().chain(carried.iter().copied()).collect();
    let called = cx.check_parameters(BODY, attrs.to_apply, &arguments)?;
    // If the size is dynamic, the outputs of the steps are allocated for its bound.
    let length = if length.is_unbounded() { length } else { Dim::fixed(length.size) };
    results(cx, called, carried, along, length)
}

/// Returns the stacked outputs and the carries for the root of the called computation.
fn results(cx: &Context<'_>, called: Called, carried: &[&Shape], along: usize, length: Dim) -> Rule {
    let shape = &cx.module[called.root].shape;
    let steps = match shape {
        Shape::Tuple(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    let error = |message: String| {
        cx.error(BODY.result, message)
            .of(BODY.attribute)
            .with(Place::Instruction(called.root), format!("this root is {shape}"))
    };
    let Some(outputs) = steps.len().checked_sub(carried.len()) else {
        return Err(error(format!(
            "needs a computation in `to_apply` that gives its {} carries, found {shape}",
            carried.len()
        )));
    };
    let mut parts = Vec::with_capacity(steps.len());
    for (i, step) in steps[..outputs].iter().enumerate() {
        match step.as_array().and_then(|a| stack_of(a, along, length)) {
            Some(stacked) => parts.push(stacked),
            None => {
                return Err(error(format!(
                    "can't stack output {i} of the computation in `to_apply`, {step}, along dimension {along} of `dimensions`"
                )));
            }
        }
    }
    for (i, (next, carry)) in steps[outputs..].iter().zip(carried).enumerate() {
        if called.parameters_fit && !fits(next, carry) {
            cx.report(error(format!(
                "starts carry {i} as {carry}, but the computation in `to_apply` gives {next} as the next one"
            )));
        }
    }
    parts.extend(steps[outputs..].iter().cloned());
    Ok(Some(if shape.is_tuple() { Shape::tuple(parts) } else { one_or_tuple(parts) }))
}
