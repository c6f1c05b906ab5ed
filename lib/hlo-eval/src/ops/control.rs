//! Loops and branches.

use super::Result;
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::program::{Machine, flat_scalars, write_scalars};
use hlo_ir::attr::{ConditionalAttrs, WhileAttrs};
use hlo_ir::{ElementType, Literal};

/// `while` (semantics, "While"): runs the body on the state as long as the condition holds for it.
pub(super) fn run_while(
    ev: &mut Evaluator<'_>,
    operands: Vec<Literal>,
    attrs: &WhileAttrs,
) -> Result<Literal> {
    let [mut state] = super::take(operands)?;
    if let Some(result) = run_scalar_while(ev, &state, attrs)? {
        return Ok(result);
    }
    loop {
        let go_on = ev.run_computation(attrs.condition, vec![state.clone()])?;
        let go_on =
            go_on.integer_at(0).ok_or_else(|| EvalError::new("the condition of a while must be a pred"))?;
        if go_on == 0 {
            return Ok(state);
        }
        ev.charge(1)?;
        state = ev.run_computation(attrs.body, vec![state])?;
    }
}

/// The same for a state of scalars only, without a literal for each value. `None` if it is not of that kind.
fn run_scalar_while(ev: &mut Evaluator<'_>, state: &Literal, attrs: &WhileAttrs) -> Result<Option<Literal>> {
    let Some(mut registers) = flat_scalars(state) else { return Ok(None) };
    let (Some(condition), Some(body)) = (ev.program(attrs.condition), ev.program(attrs.body)) else {
        return Ok(None);
    };
    let cost = condition.cost() + body.cost() + 1;
    let (mut condition, mut body) = (Machine::new(condition, 1), Machine::new(body, 1));
    let fits = condition.accepts(state) && body.accepts(state) && body.returns(state);
    if !fits || condition.result_types() != [ElementType::Pred] {
        return Ok(None);
    }
    loop {
        condition.call(&registers)?;
        if condition.result(0).first() != Some(&1) {
            return Ok(Some(write_scalars(state, &registers)));
        }
        ev.charge(cost)?;
        body.call(&registers)?;
        body.read_results(&mut registers);
    }
}

/// `conditional` (semantics, "Conditional"): by a predicate the first or second branch; by an integer that
/// branch, the last one if it is out of range.
pub(super) fn conditional(
    ev: &mut Evaluator<'_>,
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
        usize::try_from(index).unwrap_or(usize::MAX).min(branches.len() - 1)
    };
    let argument = operands.swap_remove(branch + 1);
    for unused in operands {
        ev.release(unused);
    }
    let &computation =
        branches.get(branch).ok_or_else(|| EvalError::new("there is no branch for the predicate's value"))?;
    ev.run_computation(computation, vec![argument])
}
