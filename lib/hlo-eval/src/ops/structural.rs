//! Parameters, constants, tuples, and operations that return their operand.

use super::dynamic;
use super::support::{Result, take};
use crate::context::Context;
use crate::error::EvalError;
use hlo_ir::attr::ConstantAttrs;
use hlo_ir::{Instruction, Literal, LiteralData, Shape};

/// `constant`: the literal. A constant whose elements were elided in the text has no value.
pub(super) fn constant(instr: &Instruction, attrs: &ConstantAttrs) -> Result<Literal> {
    if attrs.is_elided() {
        return Err(EvalError::new(ConstantAttrs::ELIDED));
    }
    relabel(attrs.literal.clone(), &instr.shape)
}

/// `tuple` (semantics, "Tuple").
pub(super) fn tuple(instr: &Instruction, operands: Vec<Literal>) -> Result<Literal> {
    let made = Literal::tuple(operands);
    // Arrays may have other sizes than declared. These are known only at run time.
    if made.shape() == &instr.shape || !made.shape().compatible(&instr.shape) {
        return relabel(made, &instr.shape);
    }
    let mut leaves = made.leaves().into_iter().cloned();
    let lost = || EvalError::internal(format!("{} has fewer leaves than {}", made.shape(), instr.shape));
    Literal::from_leaves(&instr.shape, &mut leaves).ok_or_else(lost)
}

/// `get-tuple-element` (semantics, "GetTupleElement").
pub(super) fn get_tuple_element(cx: &mut Context<'_>, operands: Vec<Literal>, index: i64) -> Result<Literal> {
    let [tuple] = take(operands)?;
    let element = element(&tuple, index);
    cx.release(tuple);
    element
}

/// Returns an element of a tuple that stays live.
pub(crate) fn element(tuple: &Literal, index: i64) -> Result<Literal> {
    let element = usize::try_from(index).ok().and_then(|i| tuple.tuple_elements().get(i)).cloned();
    element.ok_or_else(|| EvalError::new(format!("the tuple has no element {index}")))
}

/// `copy`, `domain`, `add-dependency` and `opt-barrier` (semantics, "OptimizationBarrier"): the first
/// operand's value, in the layout of the result.
pub(super) fn identity(instr: &Instruction, operands: Vec<Literal>) -> Result<Literal> {
    let value = operands.into_iter().next().ok_or_else(|| EvalError::new("an operand is missing"))?;
    relabel(value, &instr.shape)
}

/// Returns the same value with a compatible shape (another layout). A value whose sizes are known only at run
/// time keeps them.
pub(super) fn relabel(value: Literal, shape: &Shape) -> Result<Literal> {
    if value.shape() == shape {
        return Ok(value);
    }
    if !value.shape().compatible(shape) {
        if dynamic::is_within(value.shape(), shape) {
            return Ok(value);
        }
        return Err(EvalError::new(format!("a value of shape {} where {shape} is needed", value.shape())));
    }
    match value.data() {
        LiteralData::Array(_) => Ok(value.with_shape(shape.clone())),
        LiteralData::Tuple(_) | LiteralData::Token => Ok(value),
    }
}
