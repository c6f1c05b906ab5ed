//! Rules of calls, loops, branches and fusions.

use super::context::{Context, Types};
use super::dim::shapes_agree;
use super::violation::{Place, Rule};
use crate::attr::{CallAttrs, ConditionalAttrs, FusionAttrs, WhileAttrs};
use crate::rules::code;
use crate::{ElementType, Shape};

/// `call`: the shape of the computation's root.
pub(super) fn call(cx: &Context<'_>, attrs: &CallAttrs) -> Rule {
    let root = cx.check_call("to_apply", attrs.to_apply, cx.operands)?;
    Ok(Some(cx.module[root].shape.clone()))
}

/// `fusion`: the shape of the fused computation's root.
pub(super) fn fusion(cx: &Context<'_>, attrs: &FusionAttrs) -> Rule {
    let root = cx.check_call("calls", attrs.calls, cx.operands)?;
    Ok(Some(cx.module[root].shape.clone()))
}

/// `while`: the state goes through condition and body unchanged in shape.
pub(super) fn while_loop(cx: &Context<'_>, attrs: &WhileAttrs) -> Rule {
    let state = cx.operand(0)?;
    let go_on = cx.check_call("condition", attrs.condition, &[state])?;
    cx.check_root("condition", go_on, &Shape::scalar(ElementType::Pred))?;
    let next = cx.check_call("body", attrs.body, &[state])?;
    cx.check_root("body", next, state)?;
    Ok(Some(state.clone()))
}

/// `conditional`: a `pred` chooses between two computations, an `s32` among a list; all give one shape.
pub(super) fn conditional(cx: &Context<'_>, attrs: &ConditionalAttrs) -> Rule {
    let index = cx.array_of(0, Types::PRED_OR_SIGNED)?;
    cx.scalar(0)?;
    let two = attrs.true_computation.is_some() && attrs.false_computation.is_some();
    let neither = attrs.true_computation.is_none() && attrs.false_computation.is_none();
    let listed = !attrs.branch_computations.is_empty();
    match index.element_type {
        ElementType::Pred if two && !listed => {}
        ElementType::Pred => {
            return Err(
                cx.error(code::ATTRIBUTE, "of a pred needs `true_computation` and `false_computation`")
            );
        }
        ElementType::S32 if neither && listed => {}
        ElementType::S32 => {
            return Err(cx.error(code::ATTRIBUTE, "of an s32 needs `branch_computations`, at least one"));
        }
        other => {
            return Err(cx
                .error(code::ELEMENT_TYPE, format!("chooses by a pred or an s32, found {other}"))
                .with(Place::Operand(0), format!("this is {index}")));
        }
    }
    let branches = attrs.branches();
    if cx.operands.len() != branches.len() + 1 {
        return Err(cx.error(
            code::ARITY,
            format!(
                "takes one operand for each of its {} branches, found {}",
                branches.len(),
                cx.operands.len() - 1
            ),
        ));
    }
    let name = |i: usize| match (listed, i) {
        (true, _) => "branch_computations",
        (false, 0) => "true_computation",
        (false, _) => "false_computation",
    };
    let mut result: Option<Shape> = None;
    for (i, &branch) in branches.iter().enumerate() {
        let root = cx.check_call(name(i), branch, &[cx.operand(i + 1)?])?;
        let shape = &cx.module[root].shape;
        match &result {
            Some(first) if !shapes_agree(first, shape) => {
                return Err(cx
                    .error(
                        code::CALLEE_SIGNATURE,
                        format!(
                            "needs branches of one result, but branch 0 gives {first} and branch {i} {shape}"
                        ),
                    )
                    .with(Place::Instruction(root), format!("this root is {shape}")));
            }
            Some(_) => {}
            None => result = Some(shape.clone()),
        }
    }
    Ok(result)
}
