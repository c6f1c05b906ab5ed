//! Rules for the generic asynchronous operations: a computation runs on the operands between start and done.
//! The start binds all, some or none of the operands, and each update binds more of them.

use super::context::Context;
use super::contract::{Contract, fits};
use super::effects::{Aliased, check_aliases};
use super::violation::{Place, Rule, Violation};
use crate::attr::{AsyncStartAttrs, AsyncUpdateAttrs};
use crate::rules::code;
use crate::{ComputationId, Module, Shape};

const WRAPPED: Contract =
    Contract { attribute: "calls", parameters: code::ASYNC_PARAMETERS, result: code::ASYNC_RESULT };

/// Returns the operands and the result from the state of a chain. Anything else in the state is ignored.
fn state<'s>(cx: &Context<'_>, shape: &'s Shape) -> Result<(&'s [Shape], &'s Shape), Violation> {
    match shape.as_tuple() {
        Some([Shape::Tuple(operands), result, ..]) => Ok((operands, result)),
        _ => Err(cx.error(
            code::ASYNC_FORM,
            format!("needs a state of the form ((operands), result, contexts), found {shape}"),
        )),
    }
}

/// Returns whether `part` can be in a state whose final result is `whole`: they match, or `part` is a tuple
/// of the first elements of `whole`, or `part` is an empty tuple.
pub(crate) fn is_part(part: &Shape, whole: &Shape) -> bool {
    match (part, whole) {
        (Shape::Tuple(part), _) if part.is_empty() => true,
        (Shape::Tuple(part), Shape::Tuple(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(p, w)| is_part(p, w))
        }
        _ => fits(part, whole),
    }
}

/// Returns the complete state of an asynchronous operation according to its computation: all operands, the
/// whole result, and the contexts of `written`.
pub(crate) fn whole_state(module: &Module, calls: ComputationId, written: &Shape) -> Shape {
    let operands = module.parameters(calls).into_iter().map(|p| module[p].shape.clone());
    let mut parts = vec![Shape::Tuple(operands.collect()), module[module[calls].root()].shape.clone()];
    parts.extend(written.as_tuple().unwrap_or_default().iter().skip(2).cloned());
    Shape::tuple(parts)
}

/// Checks `async-start`. The state contains the operands as a tuple, the part of the result that it has room
/// for, and contexts.
pub(super) fn start(cx: &Context<'_>, attrs: &AsyncStartAttrs) -> Rule {
    let called = match attrs.calls {
        Some(calls) => Some(cx.check_first_parameters(WRAPPED, calls, cx.operands)?),
        None => None,
    };
    let Some(written) = cx.written else { return Ok(None) };
    let (operands, result) = state(cx, written)?;
    check_bound(cx, operands, cx.operands.iter().copied());
    let Some((called, calls)) = called.zip(attrs.calls) else { return Ok(None) };
    if !is_part(result, &cx.module[called.root].shape) {
        cx.check_result(WRAPPED, called, result);
    }
    if called.parameters_fit && !attrs.output_to_operand_aliasing.is_empty() {
        // The aliases describe the whole operation, including operands bound later.
        let whole = whole_state(cx.module, calls, written);
        let Some((parameters, _)) = state(cx, &whole).ok() else { return Ok(None) };
        let operands: Vec<&Shape> = parameters.iter().collect();
        let aliased = Aliased { result: &whole, operands: &operands, through_buffers: false };
        check_aliases(cx, &attrs.output_to_operand_aliasing, aliased);
        let of_all = attrs.output_to_operand_aliasing.iter().find(|a| a.output.is_empty());
        if of_all.is_some() {
            let message =
                "names the whole state in `output_to_operand_aliasing`, where a part of it is asked for";
            cx.report(cx.error(code::ALIASED_RESULT, message).of("output_to_operand_aliasing"));
        }
    }
    Ok(None)
}

/// Checks that the operands in a declared state are those in `bound`.
fn check_bound<'s>(cx: &Context<'_>, written: &[Shape], bound: impl Iterator<Item = &'s Shape> + Clone) {
    if written.len() != bound.clone().count() || !written.iter().zip(bound.clone()).all(|(a, b)| fits(a, b)) {
        let bound = Shape::Tuple(bound.cloned().collect());
        let written = Shape::tuple(written.to_vec());
        cx.report(
            cx.error(
                code::ASYNC_OPERANDS,
                format!("starts with its operands, {bound}, in its state, found {written}"),
            )
            .of_shape(),
        );
    }
}

/// Checks `async-update(state, operands…)`. The new state has more operands bound, and perhaps more of the
/// result.
pub(super) fn update(cx: &Context<'_>, attrs: &AsyncUpdateAttrs) -> Rule {
    let shape = cx.operand(0)?;
    let with_place = |v: Violation| v.with(Place::Operand(0), format!("this is {shape}"));
    let (bound, result) = state(cx, shape).map_err(with_place)?;
    let bound = bound.iter().chain(cx.operands.iter().skip(1).copied());
    let Some(written) = cx.written else {
        let mut parts = vec![Shape::Tuple(bound.cloned().collect())];
        parts.extend(shape.as_tuple().unwrap_or_default().iter().skip(1).cloned());
        return Ok(Some(Shape::tuple(parts)));
    };
    let (operands, more) = state(cx, written)?;
    check_bound(cx, operands, bound);
    if !is_part(result, more) {
        let message = format!("goes on with the result {result} in its state, found {more}");
        return Err(with_place(cx.error(code::ASYNC_RESULT, message).of_shape()));
    }
    let aliased = Aliased { result: written, operands: &cx.operands[..1], through_buffers: false };
    check_aliases(cx, &attrs.output_to_operand_aliasing, aliased);
    let in_contexts = |index: &[i64]| index.first() == Some(&2);
    let outside = attrs
        .output_to_operand_aliasing
        .iter()
        .any(|a| !in_contexts(&a.output) || !in_contexts(&a.operand_index));
    if outside {
        let message =
            "names parts of the context, `{2,…}`, in `output_to_operand_aliasing`: all else is shared";
        cx.report(cx.error(code::ALIASED_RESULT, message).of("output_to_operand_aliasing"));
    }
    Ok(None)
}

/// Checks `async-done`. The result is the result of the computation.
pub(super) fn done(cx: &Context<'_>) -> Rule {
    let shape = cx.operand(0)?;
    let (_, result) = state(cx, shape).map_err(|v| v.with(Place::Operand(0), format!("this is {shape}")))?;
    match cx.written {
        // The state need not contain the whole result. The verifier compares it with the called computation.
        Some(written) if is_part(result, written) => Ok(None),
        _ => Ok(Some(result.clone())),
    }
}
