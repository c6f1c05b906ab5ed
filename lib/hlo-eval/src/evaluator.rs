//! The evaluator: runs the plans of computations, and computes instructions.

use crate::context::Context;
use crate::error::EvalError;
use crate::ops;
use crate::plan::{Plan, Step};
use hlo_ir::{ComputationId, InstrId, Literal};

/// Runs a computation on its arguments.
pub(crate) fn run_computation(
    cx: &mut Context<'_>,
    id: ComputationId,
    arguments: Vec<Literal>,
) -> Result<Literal, EvalError> {
    if cx.depth >= cx.options.max_call_depth {
        return Err(EvalError::new(format!("calls nest more than {} deep", cx.options.max_call_depth)));
    }
    let plan = cx.plan(id)?;
    if arguments.len() != plan.parameters {
        return Err(EvalError::new(format!(
            "computation `{}` has {} parameters, but is called with {} arguments",
            cx.module[id].name,
            plan.parameters,
            arguments.len()
        )));
    }
    cx.dynamic |= plan.dynamic;
    cx.depth += 1;
    let result = run_plan(cx, &plan, arguments);
    cx.depth -= 1;
    result
}

fn run_plan(cx: &mut Context<'_>, plan: &Plan, arguments: Vec<Literal>) -> Result<Literal, EvalError> {
    let mut arguments: Vec<Option<Literal>> = arguments.into_iter().map(Some).collect();
    let mut values: Vec<Option<Literal>> = Vec::new();
    values.resize_with(plan.steps.len(), || None);
    for (at, step) in plan.steps.iter().enumerate() {
        if let Some(watch) = &cx.options.watch {
            watch.enter(step.id);
        }
        let value = match &cx.module[step.id].op {
            hlo_ir::Op::Parameter(p) => usize::try_from(p.number)
                .ok()
                .and_then(|n| arguments.get_mut(n)?.take())
                .ok_or_else(|| EvalError::new(format!("there is no argument {}", p.number))),
            _ => run_step(cx, step, &mut values),
        };
        values[at] = Some(value.map_err(|e| e.at(step.id))?);
    }
    for unused in arguments.into_iter().flatten() {
        cx.release(unused);
    }
    values[plan.root].take().ok_or_else(|| EvalError::new("a computation without a value"))
}

fn run_step(cx: &mut Context<'_>, step: &Step, values: &mut [Option<Literal>]) -> Result<Literal, EvalError> {
    let missing = || EvalError::new("an operand has no value");
    let module = cx.module;
    let by_kernel = step.kernel.as_ref().filter(|_| {
        let operands = step.operands.iter().filter_map(|u| values[u.step].as_ref());
        !(cx.dynamic && ops::dynamic::has_dynamic_sizes(module, &module[step.id], operands))
    });
    if let Some(kernel) = by_kernel {
        let mut operands: smallvec::SmallVec<[&Literal; 3]> = smallvec::SmallVec::new();
        for u in &step.operands {
            operands.push(values[u.step].as_ref().ok_or_else(missing)?);
        }
        cx.charge(1)?;
        let result = ops::pointwise::apply(cx, kernel, &module[step.id], &operands)?;
        drop(operands);
        for u in step.operands.iter().filter(|u| u.last) {
            if let Some(dead) = values[u.step].take() {
                cx.release(dead);
            }
        }
        return Ok(result);
    }
    if let (hlo_ir::Op::GetTupleElement(g), [u]) = (&module[step.id].op, step.operands.as_slice())
        && !u.last
    {
        // Cloning the whole tuple for each of its elements would take quadratic time.
        cx.charge(1)?;
        return ops::structural::element(values[u.step].as_ref().ok_or_else(missing)?, g.index);
    }
    let mut operands = Vec::with_capacity(step.operands.len());
    for u in &step.operands {
        let value = if u.last { values[u.step].take() } else { values[u.step].clone() };
        operands.push(value.ok_or_else(missing)?);
    }
    evaluate(cx, step.id, operands)
}

/// Computes one instruction from the values of its operands.
pub(crate) fn evaluate(
    cx: &mut Context<'_>,
    id: InstrId,
    operands: Vec<Literal>,
) -> Result<Literal, EvalError> {
    cx.charge(1).and_then(|()| evaluate_sized(cx, id, operands)).map_err(|e| e.at(id))
}

/// Computes an instruction whose operands may have other sizes than the module declares.
fn evaluate_sized(
    cx: &mut Context<'_>,
    id: InstrId,
    mut operands: Vec<Literal>,
) -> Result<Literal, EvalError> {
    let instr = &cx.module[id];
    if cx.dynamic && ops::dynamic::has_dynamic_sizes(cx.module, instr, operands.iter()) {
        let real = ops::dynamic::realize(cx, instr, &mut operands)?;
        return ops::evaluate(cx, id, real.as_ref().unwrap_or(instr), operands);
    }
    ops::evaluate(cx, id, instr, operands)
}
