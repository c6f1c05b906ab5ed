//! Checks of the operands and results of instructions. A verified module passes all of them.

use crate::error::EvalError;
use hlo_ir::{ArrayShape, Instruction, Literal, Module};

/// The result of an operation.
pub(super) type Result<T> = std::result::Result<T, EvalError>;

/// Returns the shape of an instruction whose result is an array.
pub(super) fn result_array(instr: &Instruction) -> Result<&ArrayShape> {
    instr
        .shape
        .as_array()
        .ok_or_else(|| EvalError::new(format!("the result of {} must be an array", instr.op.name())))
}

/// Returns the shape of a value that is an array.
pub(super) fn array(value: &Literal) -> Result<&ArrayShape> {
    value
        .shape()
        .as_array()
        .ok_or_else(|| EvalError::new(format!("an array was expected, not {}", value.shape())))
}

/// Returns the declared shape of operand `n`, which must be an array.
pub(super) fn declared_array<'m>(
    module: &'m Module,
    instr: &Instruction,
    n: usize,
) -> Result<&'m ArrayShape> {
    let declared = instr.operands.get(n).and_then(|&o| module[o].shape.as_array());
    declared.ok_or_else(|| EvalError::internal(format!("operand {n} of {} is no array", instr.op.name())))
}

/// Returns the values of `N` operands.
pub(super) fn take<const N: usize>(operands: Vec<Literal>) -> Result<[Literal; N]> {
    let found = operands.len();
    <[Literal; N]>::try_from(operands)
        .map_err(|_| EvalError::new(format!("{N} operands were expected, not {found}")))
}

/// Returns the number of a dimension of an array of this rank.
pub(super) fn dimension(number: i64, rank: usize) -> Result<usize> {
    usize::try_from(number)
        .ok()
        .filter(|&d| d < rank)
        .ok_or_else(|| EvalError::new(format!("dimension {number} of an array of rank {rank}")))
}

/// Returns the numbers of dimensions of an array of this rank.
pub(super) fn dimensions(numbers: &[i64], rank: usize) -> Result<smallvec::SmallVec<[usize; 6]>> {
    numbers.iter().map(|&d| dimension(d, rank)).collect()
}
