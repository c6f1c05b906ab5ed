//! `map` of several elements at a time.

use super::LANES;
use crate::context::Context;
use crate::error::EvalError;
use crate::ops::support::Result;
use crate::program::{Machine, Program};
use hlo_ir::Literal;
use std::sync::Arc;

/// Applies a program with one result to arrays of the same size whose element types are those of its
/// parameters.
pub(in crate::ops) fn map(
    cx: &mut Context<'_>,
    program: Arc<Program>,
    operands: &[Literal],
    result: &mut Literal,
) -> Result<()> {
    let size = |v: &Literal| v.shape().as_array().map(|a| a.element_type.byte_size());
    let no_array = || EvalError::internal("the operands and the result of map are arrays");
    let sizes = operands.iter().map(size).collect::<Option<Vec<usize>>>().ok_or_else(no_array)?;
    let operands: Vec<(&[u8], usize)> = operands.iter().map(Literal::bytes).zip(sizes).collect();
    let size = size(result).ok_or_else(no_array)?;
    map_bytes(cx, program, &operands, (result.bytes_mut(), size))
}

/// Applies a program to the bytes of arrays, each given with the size of its elements.
pub(in crate::ops) fn map_bytes(
    cx: &mut Context<'_>,
    program: Arc<Program>,
    operands: &[(&[u8], usize)],
    (result, size): (&mut [u8], usize),
) -> Result<()> {
    let mut machine = Machine::new(program, LANES);
    let total = result.len() / size;
    for start in (0..total).step_by(LANES) {
        let lanes = LANES.min(total - start);
        for (k, (operand, size)) in operands.iter().enumerate() {
            let values = &operand[start * size..(start + lanes) * size];
            machine.parameter_mut(k)?[..values.len()].copy_from_slice(values);
        }
        cx.charge(machine.cost() * lanes)?;
        machine.run(lanes)?;
        result[start * size..(start + lanes) * size].copy_from_slice(&machine.result(0)?[..lanes * size]);
    }
    Ok(())
}
