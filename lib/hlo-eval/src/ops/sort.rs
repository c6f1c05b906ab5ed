//! `sort`.

use super::reducer::element_types;
use super::reduction::collate;
use super::support::{Result, array, dimension};
use crate::context::Context;
use crate::element::{Scalars, load, store};
use crate::error::EvalError;
use crate::function::Function;
use crate::index::{count, indices, position};
use hlo_ir::attr::SortAttrs;
use hlo_ir::{ElementType, Instruction, Literal};

/// `sort` (semantics, "Sort"): sorts each line along the dimension separately, and permutes all operands in
/// the same way. The sort is always stable. The comparator may be inconsistent. The permutation is then the
/// one that the comparisons of `Comparator::sort` produce.
pub(super) fn sort(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &SortAttrs,
) -> Result<Literal> {
    let types = element_types(&operands)?;
    let first = operands.first().ok_or_else(|| EvalError::new("an operand is missing"))?;
    let dims = array(first)?.dims.clone();
    if operands.iter().any(|o| o.shape().as_array().is_none_or(|a| a.dims != dims)) {
        return Err(EvalError::new("the operands of sort differ in dimensions"));
    }
    let pairs: Vec<ElementType> = types.iter().flat_map(|&t| [t, t]).collect();
    let function = Function::new(cx, attrs.to_apply, &pairs, &[ElementType::Pred])?;
    let mut comparator = Comparator { function, operands: &operands, types: &types, merged: Vec::new() };
    // Semantics: "If no dimension number is provided, then the last dimension is chosen by default".
    let along = attrs.dimensions.first().copied().unwrap_or(dims.len() as i64 - 1);
    let along = dimension(along, dims.len())?;
    let mut lines = dims.clone();
    lines[along] = lines[along].min(1);

    let mut results = operands.iter().map(|o| cx.allocate(array(o)?)).collect::<Result<Vec<_>>>()?;
    for mut index in indices(&lines) {
        // The positions of the line's elements, in sorted order at the end.
        let mut line = Vec::with_capacity(count(&dims[along..=along]));
        for i in 0..dims[along] {
            index[along] = i;
            line.push(position(&index, &dims)?);
        }
        let mut order = line.clone();
        comparator.sort(cx, &mut order)?;
        for ((result, operand), ty) in results.iter_mut().zip(&operands).zip(&types) {
            let (size, out) = (ty.byte_size(), result.bytes_mut());
            for (&to, &from) in line.iter().zip(&order) {
                store(out, size, to, load(operand.bytes(), size, from)?)?;
            }
        }
    }
    operands.into_iter().for_each(|o| cx.release(o));
    collate(&instr.shape, results)
}

/// The comparator of a sort, applied to elements by position.
pub(super) struct Comparator<'a> {
    function: Function,
    operands: &'a [Literal],
    types: &'a [ElementType],
    /// The output buffer of a merge, reused by the next one.
    pub(super) merged: Vec<usize>,
}

impl Comparator<'_> {
    /// Checks whether the elements at position `a` come before those at position `b`. Parameter `2·k` of the
    /// comparator is the value of operand `k` at `a`, and parameter `2·k + 1` its value at `b`.
    pub(super) fn is_before(&mut self, cx: &mut Context<'_>, a: usize, b: usize) -> Result<bool> {
        let mut arguments = Scalars::new();
        for (operand, ty) in self.operands.iter().zip(self.types) {
            let (bytes, size) = (operand.bytes(), ty.byte_size());
            arguments.push(load(bytes, size, a)?);
            arguments.push(load(bytes, size, b)?);
        }
        Ok(self.function.call(cx, &arguments)?[0] == 1)
    }
}
