//! Rules for calls, loops, branches and fusions.

use super::context::Context;
use super::contract::{Contract, fits};
use super::effects::{Aliased, check_aliases};
use super::violation::{Place, Rule, Violation};
use crate::attr::{CallAttrs, ConditionalAttrs, FusionAttrs, WhileAttrs};
use crate::rules::code;
use crate::{ElementType, Shape};

const CALLED: Contract =
    Contract { attribute: "to_apply", parameters: code::CALLEE_SIGNATURE, result: code::CALLEE_RESULT };

const FUSED: Contract =
    Contract { attribute: "calls", parameters: code::FUSION_PARAMETERS, result: code::CALLEE_RESULT };

const CONDITION: Contract = Contract {
    attribute: "condition",
    parameters: code::CONDITION_PARAMETER,
    result: code::CONDITION_RESULT,
};

const BODY: Contract =
    Contract { attribute: "body", parameters: code::BODY_PARAMETER, result: code::BODY_RESULT };

/// Checks `call`. The result has the shape of the computation's root.
pub(super) fn call(cx: &Context<'_>, attrs: &CallAttrs) -> Rule {
    let called = cx.check_parameters(CALLED, attrs.to_apply, cx.operands)?;
    Ok(Some(cx.module[called.root].shape.clone()))
}

/// Checks `fusion`. The result has the shape of the fused computation's root.
pub(super) fn fusion(cx: &Context<'_>, attrs: &FusionAttrs) -> Rule {
    let called = cx.check_parameters(FUSED, attrs.calls, cx.operands)?;
    let result = &cx.module[called.root].shape;
    let aliased = Aliased { result, operands: cx.operands, through_buffers: false };
    check_aliases(cx, &attrs.output_to_operand_aliasing, aliased);
    Ok(Some(result.clone()))
}

/// Checks `while`. The condition and the body take the loop state, and the body returns the same shape.
pub(super) fn while_loop(cx: &Context<'_>, attrs: &WhileAttrs) -> Rule {
    let state = cx.operand(0)?;
    // The body is checked even if the condition is invalid.
    let condition = cx.record_violation(cx.check_parameters(CONDITION, attrs.condition, &[state]));
    if let Some(go_on) = condition {
        cx.check_result(CONDITION, go_on, &Shape::scalar(ElementType::Pred));
    }
    let next = cx.check_parameters(BODY, attrs.body, &[state])?;
    cx.check_result(BODY, next, state);
    Ok(Some(state.clone()))
}

/// Checks that the branches are given by the attributes that the type of the index requires.
fn check_branch_attributes(cx: &Context<'_>, attrs: &ConditionalAttrs) -> Result<(), Violation> {
    let index = cx.array(0)?;
    if index.rank() != 0 || !matches!(index.element_type, ElementType::Pred | ElementType::S32) {
        return Err(cx.operand_error(
            code::BRANCH_INDEX,
            0,
            format!("chooses by a pred[] or an s32[], found {index}"),
        ));
    }
    let two = attrs.true_computation.is_some() && attrs.false_computation.is_some();
    let neither = attrs.true_computation.is_none() && attrs.false_computation.is_none();
    let listed = !attrs.branch_computations.is_empty();
    if index.element_type.is_pred() {
        if two && !listed {
            return Ok(());
        }
        return Err(cx
            .operand_error(
                code::PRED_BRANCHES,
                0,
                "of a pred needs `true_computation` and `false_computation`, and no others",
            )
            .of("true_computation"));
    }
    if neither && listed {
        return Ok(());
    }
    Err(cx
        .operand_error(
            code::INDEXED_BRANCHES,
            0,
            "of an s32 needs `branch_computations`, at least one, and no others",
        )
        .of("branch_computations"))
}

/// Checks `conditional`. A `pred` selects one of two computations, an `s32` one of a list. All return the
/// same shape.
pub(super) fn conditional(cx: &Context<'_>, attrs: &ConditionalAttrs) -> Rule {
    check_branch_attributes(cx, attrs)?;
    let branches = attrs.branches();
    let arguments = &cx.operands[1..];
    if arguments.len() != branches.len() {
        return Err(cx.error(
            code::BRANCH_OPERANDS,
            format!(
                "takes one operand for each of its {} branches, found {}",
                branches.len(),
                arguments.len()
            ),
        ));
    }
    let contract = |i: usize| Contract {
        attribute: match (attrs.true_computation, i) {
            (None, _) => "branch_computations",
            (Some(_), 0) => "true_computation",
            (Some(_), _) => "false_computation",
        },
        parameters: code::BRANCH_PARAMETER,
        result: code::BRANCH_RESULT,
    };
    let mut first: Option<crate::InstrId> = None;
    for (i, (&branch, &argument)) in branches.iter().zip(arguments).enumerate() {
        let root = cx.check_parameters(contract(i), branch, &[argument])?.root;
        let Some(first) = first else {
            first = Some(root);
            continue;
        };
        let (expected, found) = (&cx.module[first].shape, &cx.module[root].shape);
        if !fits(found, expected) {
            let message = format!(
                "needs branches of one result, but branch 0 gives {expected} and branch {i} gives {found}"
            );
            cx.report(
                cx.error(code::BRANCH_RESULT, message)
                    .with(Place::Instruction(first), format!("this root is {expected}"))
                    .with(Place::Instruction(root), format!("this root is {found}")),
            );
        }
    }
    Ok(first.map(|root| cx.module[root].shape.clone()))
}
