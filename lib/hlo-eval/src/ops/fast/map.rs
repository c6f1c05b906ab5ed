//! `map` of a number of elements at a time.

use super::LANES;
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::ops::Result;
use crate::program::{Machine, Program};
use hlo_ir::Literal;
use std::rc::Rc;

/// Applies a program of one result to arrays of one size, of its parameters' types.
pub(in crate::ops) fn map(
    ev: &mut Evaluator<'_>,
    program: Rc<Program>,
    operands: &[Literal],
    result: &mut Literal,
) -> Result<()> {
    let array = |v: &Literal| v.shape().as_array().map(|a| (a.element_type.byte_size(), a.element_count()));
    let no_array = || EvalError::internal("the operands and the result of map are arrays");
    let (size, total) = array(result).ok_or_else(no_array)?;
    let mut machine = Machine::new(program, LANES);
    for start in (0..total).step_by(LANES) {
        let lanes = LANES.min(total - start);
        for (k, operand) in operands.iter().enumerate() {
            let (size, _) = array(operand).ok_or_else(no_array)?;
            let values = &operand.bytes()[start * size..(start + lanes) * size];
            machine.parameter_mut(k)?[..values.len()].copy_from_slice(values);
        }
        ev.charge(machine.cost() * lanes)?;
        machine.run(lanes)?;
        result.bytes_mut()[start * size..(start + lanes) * size]
            .copy_from_slice(&machine.result(0)?[..lanes * size]);
    }
    Ok(())
}
