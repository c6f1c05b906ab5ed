//! `map` and `reduce`.

use super::fast;
use super::reducer::{Reduction, element_types};
use super::support::{Result, dimensions, result_array};
use crate::context::Context;
use crate::element::{Scalars, load, store};
use crate::error::EvalError;
use crate::function::{self, Function};
use crate::index::{indices, pick};
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::{ArrayShape, ComputationId, Dims, Instruction, Literal, Shape};

/// `map` (semantics, "Map"): `elem_out <- computation(elem1, elem2, …)` at each index of the operands.
pub(super) fn map(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    computation: ComputationId,
) -> Result<Literal> {
    let shape = result_array(instr)?;
    let (types, result_type) = (element_types(&operands)?, shape.element_type);
    if operands.iter().any(|o| o.shape().as_array().is_none_or(|a| a.dims != shape.dims)) {
        return Err(EvalError::new("the operands of map differ in size"));
    }
    let program = function::program(cx, computation, &types, &[result_type])?;
    let mut result = cx.allocate(shape)?;
    match program.filter(|_| !cx.definitions_only()) {
        Some(program) => fast::map::map(cx, program, &operands, &mut result)?,
        None => {
            let mut function = Function::new(cx, computation, &types, &[result_type])?;
            let out = result.bytes_mut();
            for at in 0..shape.element_count() {
                let elements = operands.iter().zip(&types).map(|(o, t)| load(o.bytes(), t.byte_size(), at));
                let value = function.call(cx, &elements.collect::<Result<Scalars>>()?)?;
                store(out, result_type.byte_size(), at, value[0])?;
            }
        }
    }
    operands.into_iter().for_each(|o| cx.release(o));
    Ok(result)
}

/// Returns the array shapes of an instruction's result: one, or the elements of a tuple.
pub(super) fn result_arrays(shape: &Shape) -> Result<Vec<&ArrayShape>> {
    shape
        .leaves()
        .into_iter()
        .map(|s| s.as_array().ok_or_else(|| EvalError::new(format!("an array was expected, not {s}"))))
        .collect()
}

/// `Collate` of the semantics: returns one array or a tuple of arrays, depending on the instruction's shape.
pub(super) fn collate(shape: &Shape, mut results: Vec<Literal>) -> Result<Literal> {
    if shape.is_tuple() {
        return Ok(Literal::tuple(results));
    }
    match (results.pop(), results.len()) {
        (Some(one), 0) => Ok(one),
        (_, more) => Err(EvalError::internal(format!("{} results for {shape}", more + 1))),
    }
}

/// `reduce` (semantics, "Reduce" and "Variadic Reduce"): for each element of the result, applies the
/// computation to the initial values and the elements of the reduced dimensions, in row-major order.
/// [`Reduction`] defines the types of the accumulators.
pub(super) fn reduce(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ReduceAttrs,
) -> Result<Literal> {
    let reduction = Reduction::new(cx, operands, attrs.to_apply)?;
    let dims: Dims = reduction.dims()?.into();
    let named = dimensions(&attrs.dimensions, dims.len())?;
    let reduced: Vec<usize> = (0..dims.len()).filter(|d| named.contains(d)).collect();
    let kept: Vec<usize> = (0..dims.len()).filter(|d| !named.contains(d)).collect();
    let shapes = result_arrays(&instr.shape)?;
    let result_dims = pick(&dims, &kept);
    if shapes.len() != reduction.arrays.len() || shapes.iter().any(|s| s.dims != result_dims) {
        return Err(EvalError::new(format!(
            "the result of the reduction does not have shape {}",
            instr.shape
        )));
    }
    let mut results = shapes.into_iter().map(|s| cx.allocate(s)).collect::<Result<Vec<_>>>()?;
    if cx.definitions_only() || !fast::reduce::reduce(cx, &reduction, (&kept, &reduced), &mut results)? {
        let mut reducer = reduction.reducer(cx)?;
        let mut operand_index: Dims = smallvec::smallvec![0; dims.len()];
        for r in indices(&result_dims) {
            reducer.begin();
            kept.iter().zip(&r).for_each(|(&d, &i)| operand_index[d] = i);
            for d in indices(&pick(&dims, &reduced)) {
                reduced.iter().zip(&d).for_each(|(&d, &i)| operand_index[d] = i);
                reducer.combine(cx, &reduction.at(&operand_index)?)?;
            }
            reducer.write(&mut results, &r)?;
        }
    }
    reduction.release(cx);
    collate(&instr.shape, results)
}
