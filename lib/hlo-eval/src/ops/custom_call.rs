//! `custom-call`: calls an external function through the same registry as compiled code.

use super::dynamic;
use super::support::Result;
use crate::context::Context;
use crate::error::EvalError;
use hlo_ir::laid_out::{from_buffer, to_buffer};
use hlo_ir::{AlignedBytes, InstrId, Literal, Op, Shape};

/// `custom-call` (semantics, "CustomCall"): operands and results are in memory in their layouts.
///
/// A target knows only the declared sizes. Arrays that are smaller at run time are filled with zeros, except
/// for targets that return their operands.
pub(super) fn custom_call(cx: &mut Context<'_>, id: InstrId, mut operands: Vec<Literal>) -> Result<Literal> {
    let module = cx.module;
    if dynamic::has_dynamic_sizes(module, &module[id], operands.iter()) {
        let forwards_operands = matches!(&module[id].op, Op::CustomCall(a) if a.forwards_operands());
        match operands.len() {
            1 if forwards_operands => return Ok(operands.remove(0)),
            _ if forwards_operands => return Ok(Literal::tuple(operands)),
            _ => {}
        }
        let declared = module[id].operands.iter().map(|&o| &module[o].shape);
        operands = operands
            .into_iter()
            .zip(declared)
            .map(|(v, s)| dynamic::declared(v, s))
            .collect::<Result<_>>()?;
        if dynamic::has_dynamic_sizes(module, &module[id], operands.iter()) {
            return Err(EvalError::new(
                "a custom call has no way to say sizes that are known at run time only",
            ));
        }
    }
    let planned = cx.custom_call(id)?;
    let mut buffers: Vec<AlignedBytes> = Vec::new();
    for (i, operand) in operands.iter().enumerate() {
        let shape = hlo_custom_call::operand_shape(module, id, i);
        let shape = shape.ok_or_else(|| EvalError::new("an operand is missing"))?;
        let (leaves, literals) = (shape.leaves(), operand.leaves());
        if leaves.len() != literals.len() {
            return Err(EvalError::internal(format!("a value of shape {} for {shape}", operand.shape())));
        }
        for (leaf, literal) in leaves.into_iter().zip(literals) {
            if leaf.as_array().is_some() {
                cx.charge(literal.bytes().len())?;
                // If the order of its elements does not change, the array is passed as it is.
                let laid_out = to_buffer(literal, leaf);
                buffers.push(laid_out.unwrap_or_else(|| AlignedBytes::from_slice(literal.bytes())));
            }
        }
    }
    let inputs: Vec<&[u8]> = buffers.iter().map(|b| &**b).collect();
    let shape = &module[id].shape;
    let mut results: Vec<AlignedBytes> = Vec::new();
    for leaf in shape.leaves() {
        if let Some(array) = leaf.as_array() {
            // The results count against the budget.
            results.push(AlignedBytes::from_slice(cx.allocate(array)?.bytes()));
        }
    }
    let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(|r| &mut **r).collect();
    planned.call_here(&inputs, &mut outputs).map_err(|e| EvalError::new(e.0))?;
    let mut results = results.into_iter();
    let mut leaves = Vec::new();
    for leaf in shape.leaves() {
        leaves.push(match leaf {
            Shape::Array(array) => {
                let buffer = results.next().ok_or_else(|| EvalError::internal("too few results"))?;
                from_buffer(buffer, array)
            }
            _ => Literal::token(),
        });
    }
    Literal::from_leaves(shape, &mut leaves.into_iter()).ok_or_else(|| EvalError::internal("too few results"))
}
