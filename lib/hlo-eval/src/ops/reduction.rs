//! `map` and `reduce`.

use super::reducer::Reduction;
use super::{Result, array, dimensions, result_array};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{advance, count, row_major_strides};
use crate::kernel::{elements, elements_mut, with_storage};
use crate::program::Function;
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, Instruction, Literal, Shape, unravel};

/// How many result elements go through the function at a time.
const LANES: usize = 256;

/// `map` (semantics, "Map").
pub(super) fn map(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    computation: ComputationId,
) -> Result<Literal> {
    let shape = result_array(instr)?;
    let types = element_types(&operands)?;
    let total = shape.element_count();
    if operands.iter().any(|o| o.shape().as_array().is_none_or(|a| a.element_count() != total)) {
        return Err(EvalError::new("the operands of map differ in size"));
    }
    let mut function = Function::new(ev, computation, &types, &[shape.element_type], LANES)?;
    let mut result = ev.allocate(shape)?;
    let size = shape.element_type.byte_size();
    for start in (0..total).step_by(LANES) {
        let lanes = LANES.min(total - start);
        for (n, (operand, ty)) in operands.iter().zip(&types).enumerate() {
            let size = ty.byte_size();
            let values = &operand.bytes()[start * size..(start + lanes) * size];
            function.parameter_mut(n)[..values.len()].copy_from_slice(values);
        }
        function.run(ev, lanes)?;
        result.bytes_mut()[start * size..(start + lanes) * size]
            .copy_from_slice(&function.result(0)[..lanes * size]);
    }
    operands.into_iter().for_each(|o| ev.release(o));
    Ok(result)
}

/// The element types of arrays.
pub(super) fn element_types(operands: &[Literal]) -> Result<Vec<ElementType>> {
    operands.iter().map(|o| Ok(array(o)?.element_type)).collect()
}

/// The arrays that an instruction makes: one, or the elements of a tuple.
pub(super) fn result_arrays(shape: &Shape) -> Result<Vec<&ArrayShape>> {
    shape
        .leaves()
        .into_iter()
        .map(|s| s.as_array().ok_or_else(|| EvalError::new(format!("an array was expected, not {s}"))))
        .collect()
}

/// One array, or a tuple of them, by the instruction's shape.
pub(super) fn collate(shape: &Shape, mut results: Vec<Literal>) -> Result<Literal> {
    if shape.is_tuple() {
        return Ok(Literal::tuple(results));
    }
    results.pop().ok_or_else(|| EvalError::new("an operation without results"))
}

/// The operands as N arrays of the same dimensions and N scalars, with the types of the arrays.
pub(super) fn arrays_and_scalars(
    mut operands: Vec<Literal>,
) -> Result<(Vec<Literal>, Vec<Literal>, Vec<ElementType>)> {
    if operands.is_empty() || operands.len() % 2 == 1 {
        return Err(EvalError::new(format!(
            "{} operands where as many arrays as scalars are needed",
            operands.len()
        )));
    }
    let scalars = operands.split_off(operands.len() / 2);
    let types = element_types(&operands)?;
    let dims = array(&operands[0])?.dims.clone();
    for (o, s) in operands.iter().zip(&scalars) {
        let (o, s) = (array(o)?, array(s)?);
        if o.dims != dims || s.element_count() != 1 || s.element_type != o.element_type {
            return Err(EvalError::new(
                "the operands differ in dimensions, or the initial values do not fit them",
            ));
        }
    }
    Ok((operands, scalars, types))
}

/// Copies the elements at `bases[i] + offset` to the lanes of a parameter.
pub(super) fn load_lanes(
    size: usize,
    from: &[u8],
    bases: &[usize],
    offset: usize,
    to: &mut [u8],
) -> Result<()> {
    let loaded = with_storage!(size, T => {
        let (from, to) = (elements::<T>(from), elements_mut::<T>(to));
        bases.iter().zip(to).try_for_each(|(&b, t)| {
            *t = *from.get(b + offset)?;
            Some(())
        })
    });
    loaded.flatten().ok_or_else(|| EvalError::new("an element outside of the array would be read"))
}

/// `reduce` (semantics, "Reduce"): for each result element, starting from the initial value, the computation is
/// applied to the elements in row-major order of the reduced dimensions. [`Reduction`] says in which types.
pub(super) fn reduce(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ReduceAttrs,
) -> Result<Literal> {
    let reduction = Reduction::new(ev, operands, attrs.to_apply)?;
    let (arrays, types) = (&reduction.arrays, &reduction.types);
    let n = arrays.len();
    let dims = array(&arrays[0])?.dims.clone();
    let mut is_reduced = vec![false; dims.len()];
    for d in dimensions(&attrs.dimensions, dims.len())? {
        is_reduced[d] = true;
    }
    let strides = row_major_strides(&dims);
    let pick = |values: &Dims, reduced: bool| -> Dims {
        values.iter().zip(&is_reduced).filter(|(_, r)| **r == reduced).map(|(&v, _)| v).collect()
    };
    let (kept_dims, kept_strides) = (pick(&dims, false), pick(&strides, false));
    let (reduced_dims, reduced_strides) = (pick(&dims, true), pick(&strides, true));

    let shapes = result_arrays(&instr.shape)?;
    let (outputs, inputs) = (count(&kept_dims), count(&reduced_dims));
    if shapes.len() != n || shapes.iter().any(|s| s.element_count() != outputs) {
        return Err(EvalError::new(format!(
            "the result of the reduction does not have shape {}",
            instr.shape
        )));
    }
    let mut results = shapes.into_iter().map(|s| ev.allocate(s)).collect::<Result<Vec<_>>>()?;
    let capacity = LANES.min(outputs.max(1));
    let mut accumulators = reduction.lanes(ev, capacity)?;
    // Elements that lie side by side are combined in one loop.
    let fold = reduction.fold().filter(|_| is_dense(&reduced_dims, &reduced_strides));
    let dot =
        |index: &Dims, strides: &Dims| index.iter().zip(strides).map(|(&i, &s)| i * s).sum::<i64>() as usize;

    let mut bases: Vec<usize> = Vec::with_capacity(capacity);
    for start in (0..outputs).step_by(capacity) {
        let lanes = capacity.min(outputs - start);
        let mut index = unravel(start, &kept_dims);
        bases.clear();
        for _ in 0..lanes {
            bases.push(dot(&index, &kept_strides));
            advance(&mut index, &kept_dims);
        }
        if let Some(fold) = &fold {
            ev.charge(accumulators.cost().saturating_mul(inputs).saturating_mul(lanes))?;
            let size = types[0].byte_size();
            let out = results[0].bytes_mut()[start * size..].chunks_exact_mut(size);
            for (&base, out) in bases.iter().zip(out) {
                let line = arrays[0].bytes().get(base * size..(base + inputs) * size);
                fold(line.unwrap_or_default(), reduction.initial[0].bytes(), out);
            }
            continue;
        }
        accumulators.begin(&reduction.initial, lanes);
        let mut index: Dims = smallvec::smallvec![0; reduced_dims.len()];
        for _ in 0..inputs {
            let offset = dot(&index, &reduced_strides);
            for (k, (a, ty)) in arrays.iter().zip(types).enumerate() {
                load_lanes(ty.byte_size(), a.bytes(), &bases, offset, accumulators.elements_mut(k))?;
            }
            accumulators.combine(ev, lanes, &[])?;
            advance(&mut index, &reduced_dims);
        }
        for (k, (result, ty)) in results.iter_mut().zip(types).enumerate() {
            accumulators.write(k, lanes, &mut result.bytes_mut()[start * ty.byte_size()..]);
        }
    }
    reduction.release(ev);
    collate(&instr.shape, results)
}

/// True if the indices below `dims`, in row-major order, are neighbours in memory.
fn is_dense(dims: &[i64], strides: &[i64]) -> bool {
    let dense = row_major_strides(dims);
    dims.iter().zip(strides).zip(&dense).all(|((&d, s), dense)| d == 1 || s == dense)
}
