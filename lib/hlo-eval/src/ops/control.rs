//! Loops and branches.

use super::fast;
use super::support::Result;
use crate::context::Context;
use crate::error::EvalError;
use hlo_ir::Literal;
use hlo_ir::attr::{ConditionalAttrs, WhileAttrs};

/// `while` (semantics, "While"): runs the body on the state as long as the condition is true for it.
pub(super) fn run_while(cx: &mut Context<'_>, operands: Vec<Literal>, attrs: &WhileAttrs) -> Result<Literal> {
    let [mut state] = super::support::take(operands)?;
    if !cx.definitions_only()
        && let Some(result) = fast::scalar_while::run_while(cx, &state, attrs)?
    {
        return Ok(result);
    }
    loop {
        let go_on = cx.call(attrs.condition, vec![state.clone()])?;
        let go_on =
            go_on.integer_at(0).ok_or_else(|| EvalError::new("the condition of a while must be a pred"))?;
        if go_on == 0 {
            return Ok(state);
        }
        cx.charge(1)?;
        state = cx.call(attrs.body, vec![state])?;
    }
}

/// `conditional` (semantics, "Conditional"): a predicate selects the first or second branch. An integer
/// selects the branch with that number, or the last branch if it is out of range.
pub(super) fn conditional(
    cx: &mut Context<'_>,
    mut operands: Vec<Literal>,
    attrs: &ConditionalAttrs,
) -> Result<Literal> {
    let branches = attrs.branches();
    if operands.len() != branches.len() + 1 || branches.is_empty() {
        return Err(EvalError::new(format!("{} branches with {} operands", branches.len(), operands.len())));
    }
    let index =
        operands[0].integer_at(0).ok_or_else(|| EvalError::new("the index must be a pred or an s32"))?;
    let by_predicate = operands[0].shape().as_array().is_some_and(|a| a.element_type.is_pred());
    let branch = if by_predicate {
        usize::from(index == 0)
    } else {
        // Semantics, "Conditional": "If branch_index is an S32 which is < 0 or >= N, then branch_computations[N-1] is
        // executed as the default branch."
        usize::try_from(index).ok().filter(|&b| b < branches.len()).unwrap_or(branches.len() - 1)
    };
    let argument = operands.swap_remove(branch + 1);
    for unused in operands {
        cx.release(unused);
    }
    let &computation =
        branches.get(branch).ok_or_else(|| EvalError::new("there is no branch for the predicate's value"))?;
    cx.call(computation, vec![argument])
}
