//! `while` with a scalar state. Condition and body run as programs, without a literal for each value.

use crate::context::Context;
use crate::element::Scalars;
use crate::error::EvalError;
use crate::ops::support::Result;
use crate::program::{Machine, bits_of};
use hlo_ir::attr::WhileAttrs;
use hlo_ir::{AlignedBytes, ElementType, Literal};

/// Returns the last state of the loop. Returns `None` if the state is not scalar, or if condition or body is
/// not a program.
pub(in crate::ops) fn run_while(
    cx: &mut Context<'_>,
    state: &Literal,
    attrs: &WhileAttrs,
) -> Result<Option<Literal>> {
    let Some(mut scalars) = state.leaves().into_iter().map(bits_of).collect::<Option<Scalars>>() else {
        return Ok(None);
    };
    let (Some(condition), Some(body)) = (cx.program(attrs.condition), cx.program(attrs.body)) else {
        return Ok(None);
    };
    let cost = condition.cost() + body.cost() + 1;
    let (mut condition, mut body) = (Machine::new(condition, 1), Machine::new(body, 1));
    let fits = condition.accepts(state) && body.accepts(state) && body.returns(state);
    if !fits || condition.result_types() != [ElementType::Pred] {
        return Ok(None);
    }
    while condition.call(&scalars)?[0] == 1 {
        cx.charge(cost)?;
        let next = body.call(&scalars)?;
        scalars.clear();
        scalars.extend_from_slice(next);
    }
    with_scalars(state, &scalars).map(Some)
}

/// Returns a value with the shape of `like` from the bits of its leaves.
fn with_scalars(like: &Literal, bits: &[u128]) -> Result<Literal> {
    let mut leaves = Vec::with_capacity(bits.len());
    for (leaf, bits) in like.leaves().into_iter().zip(bits) {
        let bytes = bits.to_le_bytes().get(..leaf.bytes().len()).map(AlignedBytes::from_slice);
        let value = bytes.and_then(|bytes| Literal::try_from_bytes(leaf.shape().clone(), bytes));
        leaves.push(value.ok_or_else(|| EvalError::internal(format!("a scalar for {}", leaf.shape())))?);
    }
    Literal::from_leaves(like.shape(), &mut leaves.into_iter())
        .ok_or_else(|| EvalError::internal(format!("{} scalars for {}", bits.len(), like.shape())))
}
