//! `bitcast-convert`: the same bits as another type.

use super::support::{Result, array, result_array, take};
use crate::context::Context;
use crate::error::EvalError;
use crate::kernel::{elements_mut, wrap_sub_byte};
use hlo_ir::{Instruction, Literal};

/// `bitcast-convert` (semantics, "BitcastConvertType"): the same bits as another type. A predicate is one
/// bit. With a narrower type the result has one more minor dimension, low bits first. With a wider type it
/// has one less.
pub(super) fn bitcast_convert(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let (from, to) = (array(&operand)?.element_type, result_array(instr)?.element_type);
    let (from_bits, to_bits) = (from.bit_width() as usize, to.bit_width() as usize);
    let total = |count: usize, bits: usize| count.checked_mul(bits);
    if total(array(&operand)?.element_count(), from_bits)
        != total(result_array(instr)?.element_count(), to_bits)
    {
        return Err(EvalError::new(format!(
            "{} and {} are not of the same size",
            operand.shape(),
            instr.shape
        )));
    }
    if from_bits % 8 == 0 && to_bits % 8 == 0 {
        // In row-major order the bytes in memory are the same.
        return Ok(operand.with_shape(instr.shape.clone()));
    }
    let mut result = cx.allocate(result_array(instr)?)?;
    let (narrow, wide) = (from_bits.min(to_bits), from_bits.max(to_bits));
    let mask = ((1u16 << narrow.min(8)) - 1) as u8;
    if wide % narrow != 0 {
        return Err(EvalError::new(format!("{from} can't be reinterpreted as {to}")));
    }
    if from_bits == to_bits {
        result.bytes_mut().copy_from_slice(operand.bytes());
    } else if from_bits > to_bits {
        let per_byte = wide.min(8) / narrow;
        for (i, byte) in result.bytes_mut().iter_mut().enumerate() {
            *byte = operand.bytes()[i / per_byte] >> (i % per_byte * narrow) & mask;
        }
    } else {
        let per_byte = wide.min(8) / narrow;
        let packed = elements_mut::<u8>(result.bytes_mut())?;
        for (i, byte) in operand.bytes().iter().enumerate() {
            packed[i / per_byte] |= (byte & mask) << (i % per_byte * narrow);
        }
    }
    if to.bit_width() < 8 && to.is_integer() {
        result.bytes_mut().iter_mut().for_each(|b| *b = wrap_sub_byte(to, *b));
    } else if to.bit_width() < 8 {
        result.bytes_mut().iter_mut().for_each(|b| *b &= ((1u16 << to.bit_width()) - 1) as u8);
    }
    cx.release(operand);
    Ok(result)
}
