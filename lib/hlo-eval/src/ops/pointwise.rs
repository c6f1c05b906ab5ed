//! Element-wise instructions on whole arrays.

use super::support::{Result, array, result_array, take};
use super::{convert, elementwise};
use crate::context::Context;
use crate::error::EvalError;
use crate::kernel::Kernel;
use hlo_ir::{ArrayShape, ElementType, Instruction, Literal, Op};

/// Runs an element-wise instruction that is not part of a plan. If the instruction has no kernel, the error
/// says why.
pub(super) fn elementwise(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    let types =
        operands.iter().map(|o| array(o).map(|a| a.element_type)).collect::<Result<Vec<ElementType>>>();
    if matches!(instr.op, Op::Select) && types.is_err() {
        return select_tuples(operands);
    }
    let op = instr.op.elementwise().ok_or_else(|| EvalError::new("not an element-wise operation"))?;
    let kernel = elementwise::kernel(op, &types?, result_array(instr)?.element_type)?;
    let result = apply(cx, &kernel, instr, &operands.iter().collect::<Vec<_>>())?;
    operands.into_iter().for_each(|o| cx.release(o));
    Ok(result)
}

/// Selects one of two tuples by a scalar predicate (semantics, "Select").
fn select_tuples(operands: Vec<Literal>) -> Result<Literal> {
    let [pred, on_true, on_false] = take(operands)?;
    let pred = pred.integer_at(0).ok_or_else(|| EvalError::new("select needs a predicate"))?;
    Ok(if pred != 0 { on_true } else { on_false })
}

/// Applies a kernel to whole arrays. Operands must have as many elements as the result, or one element if the
/// operation allows scalars (`select`, `clamp`).
pub(crate) fn apply(
    cx: &mut Context<'_>,
    kernel: &Kernel,
    instr: &Instruction,
    operands: &[&Literal],
) -> Result<Literal> {
    let shape = result_array(instr)?;
    let scalars_allowed = matches!(instr.op, Op::Select | Op::Clamp);
    for o in operands {
        let operand = array(o)?;
        if operand.dims != shape.dims && !(scalars_allowed && operand.rank() == 0) {
            return Err(EvalError::new(format!(
                "an operand of shape {} for a result of {}",
                o.shape(),
                instr.shape
            )));
        }
    }
    let mut result = cx.allocate(shape)?;
    let bytes: smallvec::SmallVec<[&[u8]; 3]> = operands.iter().map(|o| o.bytes()).collect();
    kernel(&bytes, result.bytes_mut())?;
    Ok(result)
}

/// Like [`crate::convert`], within the budget of an evaluation.
pub(super) fn converted(cx: &mut Context<'_>, value: Literal, to: ElementType) -> Result<Literal> {
    let shape = array(&value)?;
    if shape.element_type == to {
        return Ok(value);
    }
    let mut out = cx.allocate(&ArrayShape::new(to, shape.dims.iter().copied()))?;
    convert::kernel(shape.element_type, to)(&[value.bytes()], out.bytes_mut())?;
    cx.release(value);
    Ok(out)
}
