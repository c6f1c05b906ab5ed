//! Rules of the generic asynchronous operations: a computation runs between start and done, on its operands.

use super::context::Context;
use super::contract::{Contract, fits};
use super::effects::check_aliases;
use super::violation::{Place, Rule, Violation};
use crate::Shape;
use crate::attr::AsyncStartAttrs;
use crate::rules::code;

const WRAPPED: Contract =
    Contract { attribute: "calls", parameters: code::ASYNC_PARAMETERS, result: code::ASYNC_RESULT };

/// The operands, the result and whatever else there is in the state of a chain.
fn state<'s>(cx: &Context<'_>, shape: &'s Shape) -> Result<(&'s [Shape], &'s Shape), Violation> {
    match shape.as_tuple() {
        Some([Shape::Tuple(operands), result, ..]) => Ok((operands, result)),
        _ => Err(cx.error(
            code::ASYNC_FORM,
            format!("needs a state of the form ((operands), result, contexts), found {shape}"),
        )),
    }
}

/// `async-start`: the operands as a tuple, what the wrapped computation will give, contexts.
pub(super) fn start(cx: &Context<'_>, attrs: &AsyncStartAttrs) -> Rule {
    let called = match attrs.calls {
        Some(calls) => Some(cx.check_parameters(WRAPPED, calls, cx.operands)?),
        None => None,
    };
    let Some(written) = cx.written else { return Ok(None) };
    let (operands, result) = state(cx, written)?;
    check_aliases(cx, &attrs.output_to_operand_aliasing, result, false);
    if operands.len() != cx.operands.len() || !operands.iter().zip(cx.operands).all(|(a, b)| fits(a, b)) {
        let given = Shape::Tuple(cx.operands.iter().map(|&s| s.clone()).collect());
        cx.report(cx.error(
            code::ASYNC_OPERANDS,
            format!("starts with its operands, {given}, in its state, found {}", written_part(written, 0)),
        ));
    }
    if let Some(called) = called {
        cx.check_result(WRAPPED, called, result);
    }
    Ok(None)
}

fn written_part(shape: &Shape, index: i64) -> &Shape {
    shape.part(&[index]).unwrap_or(shape)
}

/// `async-update`: the state goes on unchanged.
pub(super) fn update(cx: &Context<'_>) -> Rule {
    let shape = cx.operand(0)?;
    state(cx, shape).map_err(|v| v.with(Place::Operand(0), format!("this is {shape}")))?;
    Ok(Some(shape.clone()))
}

/// `async-done`: the result.
pub(super) fn done(cx: &Context<'_>) -> Rule {
    let shape = cx.operand(0)?;
    let (_, result) = state(cx, shape).map_err(|v| v.with(Place::Operand(0), format!("this is {shape}")))?;
    Ok(Some(result.clone()))
}
