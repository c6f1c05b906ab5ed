//! Rules of communication between devices. Result shapes must be written: some depend on the number of
//! devices. What relates them to the operands is checked.

use super::context::{Context, one_or_tuple};
use super::dim::{dim, dims};
use super::violation::{Place, Rule, Violation};
use crate::attr::{AllGatherAttrs, AllReduceAttrs, AllToAllAttrs, ReduceScatterAttrs};
use crate::rules::code;
use crate::{ArrayShape, ComputationId, Shape};

/// The operands' shapes: one as it is, several as a tuple.
fn operands(cx: &Context<'_>) -> Shape {
    one_or_tuple(cx.operands.iter().map(|&s| s.clone()).collect())
}

/// Opcodes whose result has the operands' shapes.
pub(super) fn same_as_operands(cx: &Context<'_>) -> Rule {
    cx.check_written(&operands(cx))?;
    Ok(None)
}

/// `collective-permute`: the operand's shape. With further operands, which say where in a buffer the values
/// go, the written shape stands.
pub(super) fn permute(cx: &Context<'_>) -> Rule {
    if cx.operands.len() == 1 { same_as_operands(cx) } else { Ok(None) }
}

/// `all-reduce`: the operands' shapes, reduced by a function on scalars of their type.
pub(super) fn all_reduce(cx: &Context<'_>, attrs: &AllReduceAttrs) -> Rule {
    check_reducer(cx, attrs.to_apply)?;
    same_as_operands(cx)
}

/// The function takes two scalars and gives one. Operands of several types share one function, so its type is
/// checked only where there is one operand.
fn check_reducer(cx: &Context<'_>, to_apply: ComputationId) -> Result<(), Violation> {
    for i in 0..cx.operands.len() {
        cx.array(i)?;
    }
    let callee = cx.callee("to_apply", to_apply)?;
    if callee.parameters.len() == 2 {
        return Ok(());
    }
    Err(cx
        .error(
            code::CALLEE_SIGNATURE,
            format!("needs a computation of 2 parameters in `to_apply`, found {}", callee.parameters.len()),
        )
        .with(Place::Instruction(callee.root), "its root"))
}

/// The parts of operands and result that belong together: checks that there are as many.
fn pairs<'a>(cx: &Context<'a>) -> Result<Vec<(usize, &'a ArrayShape, &'a ArrayShape)>, Violation> {
    let Some(written) = cx.written else { return Ok(Vec::new()) };
    let parts = match written {
        Shape::Tuple(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    if parts.len() != cx.operands.len() {
        return Err(cx.written_error(format!("of {} operands does not give {written}", cx.operands.len())));
    }
    let mut out = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        let operand = cx.array(i)?;
        match part.as_array() {
            Some(p) if p.element_type == operand.element_type && p.rank() == operand.rank() => {
                out.push((i, operand, p));
            }
            _ => {
                return Err(cx
                    .written_error(format!("of {operand} does not give {part}"))
                    .with(Place::Operand(i), format!("this is {operand}")));
            }
        }
    }
    Ok(out)
}

/// Checks that operands and results differ at most along dimension `along`, where the larger one is a
/// multiple of the smaller.
fn check_along(cx: &Context<'_>, along: &[i64], grows: bool) -> Result<(), Violation> {
    for (i, operand, result) in pairs(cx)? {
        let d = cx.one_dim("dimensions", along, operand.rank())?;
        let others = dims(operand).zip(dims(result)).enumerate().all(|(j, (a, b))| j == d || a.agrees(b));
        let (a, b) = (dim(operand, d as i64), dim(result, d as i64));
        let (small, large) = if grows { (a, b) } else { (b, a) };
        let multiple = match (small.known(), large.known()) {
            (Some(0), Some(l)) => l == 0,
            (Some(s), Some(l)) => s > 0 && l % s == 0,
            _ => true,
        };
        if !others || !multiple {
            return Err(cx
                .written_error(format!("along dimension {d} of {operand} does not give {result}"))
                .with(Place::Operand(i), format!("this is {operand}")));
        }
    }
    Ok(())
}

/// `all-gather`: the operands of all devices, one after the other along a dimension.
pub(super) fn all_gather(cx: &Context<'_>, attrs: &AllGatherAttrs) -> Rule {
    check_along(cx, &attrs.dimensions, true)?;
    Ok(None)
}

/// `reduce-scatter`: a part of the reduced operand along a dimension.
pub(super) fn reduce_scatter(cx: &Context<'_>, attrs: &ReduceScatterAttrs) -> Rule {
    check_reducer(cx, attrs.to_apply)?;
    check_along(cx, &attrs.dimensions, false)?;
    Ok(None)
}

/// `all-to-all`: with a dimension, one array of the operand's shape; without, as many as there are operands.
pub(super) fn all_to_all(cx: &Context<'_>, attrs: &AllToAllAttrs) -> Rule {
    if !attrs.dimensions.is_empty() {
        cx.one_dim("dimensions", &attrs.dimensions, cx.array(0)?.rank())?;
    }
    same_as_operands(cx)
}
