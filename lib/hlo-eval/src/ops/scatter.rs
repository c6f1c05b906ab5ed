//! `scatter`.

use super::indexing::StartIndices;
use super::reducer::wide_components;
use super::reduction::element_types;
use super::wide::{Wide, WideTarget};
use super::{Result, array, dimensions};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{advance, count, row_major_strides};
use crate::program::Function;
use hlo_ir::attr::ScatterAttrs;
use hlo_ir::{Dims, ElementType, Literal};
use smallvec::SmallVec;

/// `scatter` (semantics, "Scatter"), in row-major order of the updates: each update element is combined with what
/// is at its place in the operand. The semantics drop update elements whose index lies outside of the operand; XLA
/// goes further, and so does this: if any part of an update window lies outside, the whole window is dropped. Sums and
/// products of narrow floats are rounded once, after the last update.
pub(super) fn scatter(
    ev: &mut Evaluator<'_>,
    operands: Vec<Literal>,
    attrs: &ScatterAttrs,
) -> Result<Literal> {
    let n = operands.len() / 2;
    if operands.len().is_multiple_of(2) || n == 0 {
        return Err(EvalError::new(format!(
            "{} operands where N arrays, indices and N updates are needed",
            operands.len()
        )));
    }
    let mut rest = operands;
    let updates = rest.split_off(n + 1);
    let indices = rest.pop().ok_or_else(|| EvalError::new("an operand is missing"))?;
    let inputs = rest;

    let types = element_types(&inputs)?;
    let dims = array(&inputs[0])?.dims.clone();
    let update_dims = array(&updates[0])?.dims.clone();
    for ((i, u), ty) in inputs.iter().zip(&updates).zip(&types) {
        let (i, u) = (array(i)?, array(u)?);
        if i.dims != dims || u.dims != update_dims || u.element_type != *ty {
            return Err(EvalError::new("the operands of scatter differ in dimensions or types"));
        }
    }
    let starts = StartIndices::new(
        indices,
        attrs.index_vector_dim,
        &attrs.scatter_dims_to_operand_dims,
        &attrs.input_batching_dims,
        &attrs.scatter_indices_batching_dims,
        dims.len(),
    )?;
    let inserted = |d: usize| {
        let d = d as i64;
        attrs.inserted_window_dims.contains(&d) || attrs.input_batching_dims.contains(&d)
    };
    let window_to_operand: SmallVec<[usize; 6]> = (0..dims.len()).filter(|&d| !inserted(d)).collect();
    let window = dimensions(&attrs.update_window_dims, update_dims.len())?;
    let scatter: SmallVec<[usize; 6]> = (0..update_dims.len()).filter(|d| !window.contains(d)).collect();
    if window.len() != window_to_operand.len() || scatter.len() != starts.batch_dims.len() {
        return Err(EvalError::new("the dimension numbers of the scatter do not fit its shapes"));
    }

    let both: Vec<ElementType> = types.iter().chain(&types).copied().collect();
    let mut function = Function::new(ev, attrs.to_apply, &both, &types, 1)?;
    let wide = wide_components(ev.module, attrs.to_apply, &types, Wide::of_updates);
    let mut results = inputs.into_iter().map(|i| ev.make_unique(i)).collect::<Result<Vec<_>>>()?;
    let mut targets: Vec<&mut [u8]> = results.iter_mut().map(Literal::bytes_mut).collect();
    let mut sums: Vec<Option<WideTarget>> = wide
        .into_iter()
        .zip(types.iter().zip(&targets))
        .map(|(op, (&ty, target))| Some(WideTarget::new(Wide::of_updates(op?, ty)?, target)))
        .collect();
    let only_sums = sums.iter().all(Option::is_some);
    let sources: Vec<&[u8]> = updates.iter().map(Literal::bytes).collect();
    let strides = row_major_strides(&dims);
    let mut index: Dims = smallvec::smallvec![0; update_dims.len()];
    let mut sizes: Dims = smallvec::smallvec![1; dims.len()];
    for (&u, &o) in window.iter().zip(&window_to_operand) {
        sizes[o] = update_dims[u];
    }
    // Where the window of the updates at hand begins, if it lies inside.
    let mut origin: Option<(Dims, Option<usize>)> = None;
    for at in 0..count(&update_dims) {
        let batch: Dims = scatter.iter().map(|&d| index[d]).collect();
        if origin.as_ref().is_none_or(|(b, _)| *b != batch) {
            let inside = window_origin(&starts.at(&batch)?, &sizes, &dims, &strides);
            origin = Some((batch, inside));
        }
        if let Some((_, Some(origin))) = origin {
            let offsets = window.iter().zip(&window_to_operand).map(|(&u, &o)| index[u] * strides[o]);
            let to = origin + offsets.sum::<i64>() as usize;
            for ((sums, source), ty) in sums.iter_mut().zip(&sources).zip(&types) {
                let size = ty.byte_size();
                if let Some(sums) = sums {
                    sums.combine(to, &source[at * size..(at + 1) * size]);
                }
            }
            if only_sums {
                ev.charge(n)?;
            } else {
                for (k, ty) in types.iter().enumerate() {
                    let size = ty.byte_size();
                    function.fill_parameter(k, &targets[k][to * size..(to + 1) * size], 1);
                    function.fill_parameter(n + k, &sources[k][at * size..(at + 1) * size], 1);
                }
                function.run(ev, 1)?;
                for (k, ty) in types.iter().enumerate() {
                    let size = ty.byte_size();
                    targets[k][to * size..(to + 1) * size].copy_from_slice(&function.result(k)[..size]);
                }
            }
        }
        advance(&mut index, &update_dims);
    }
    for (sums, target) in sums.iter().zip(targets) {
        if let Some(sums) = sums {
            sums.write(target);
        }
    }
    updates.into_iter().for_each(|u| ev.release(u));
    if n == 1 {
        return results.pop().ok_or_else(|| EvalError::new("a scatter without results"));
    }
    Ok(Literal::tuple(results))
}

/// The row-major position in the operand of a window's first element; `None` if any of the window lies outside.
fn window_origin(start: &[i128], sizes: &[i64], dims: &[i64], strides: &[i64]) -> Option<usize> {
    let mut origin = 0;
    for (((&i, &size), &d), &s) in start.iter().zip(sizes).zip(dims).zip(strides) {
        if i < 0 || i > i128::from(d) - i128::from(size) {
            return None;
        }
        origin += i as usize * s as usize;
    }
    Some(origin)
}
