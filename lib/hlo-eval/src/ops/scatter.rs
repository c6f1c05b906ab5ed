//! `scatter`.

use super::indexing::StartIndices;
use super::support::{Result, array, dimensions};
use super::updates::Updates;
use crate::context::Context;
use crate::element::{Elements, Scalars};
use crate::error::EvalError;
use crate::index::{indices, pick};
use hlo_ir::attr::ScatterAttrs;
use hlo_ir::{Dims, Literal};
use smallvec::SmallVec;

/// `scatter` (semantics, "Scatter"): in row-major order of the updates, combines each update element with the
/// operand's element at its position. The semantics drop update elements whose index is out of bounds. Like
/// XLA, this implementation drops the whole update window if any part of it is out of bounds.
pub(super) fn scatter(cx: &mut Context<'_>, operands: Vec<Literal>, attrs: &ScatterAttrs) -> Result<Literal> {
    let (arrays, scatter_indices, updates) = split(operands)?;
    let (dims, update_dims) = (array(&arrays[0])?.dims.clone(), array(&updates[0])?.dims.clone());
    for (a, u) in arrays.iter().zip(&updates) {
        let (a, u) = (array(a)?, array(u)?);
        if a.dims != dims || u.dims != update_dims || u.element_type != a.element_type {
            return Err(EvalError::new("the operands of scatter differ in dimensions or types"));
        }
    }
    let scatter_indices = StartIndices::new(
        scatter_indices,
        attrs.index_vector_dim,
        &attrs.scatter_dims_to_operand_dims,
        &attrs.input_batching_dims,
        &attrs.scatter_indices_batching_dims,
        dims.len(),
    )?;
    let numbers = numbers(attrs, dims.len(), update_dims.len(), scatter_indices.batch_dims.len())?;
    // The sizes of a window in the operand. They are 1 in the dimensions that the updates do not have.
    let mut window_sizes: Dims = smallvec::smallvec![1; dims.len()];
    for (&u, &d) in numbers.update_window_dims.iter().zip(&numbers.window_dims_to_operand_dims) {
        window_sizes[d] = update_dims[u];
    }

    let mut results = arrays.into_iter().map(|a| cx.make_unique(a)).collect::<Result<Vec<_>>>()?;
    let mut output = Updates::new(cx, attrs.to_apply, &mut results)?;
    let update_elements = updates.iter().map(Elements::of).collect::<Result<Vec<_>>>()?;
    // S_in of the window of the current update. `None` if that window is out of bounds.
    let mut window: Option<(Dims, Option<Dims>)> = None;
    let mut values = Scalars::new();
    for u in indices(&update_dims) {
        let is_g = |(&d, &i): (&usize, &i64)| u[d] == i;
        let s_in = match &window {
            Some((g, s_in)) if numbers.update_scatter_dims.iter().zip(g).all(is_g) => s_in,
            _ => {
                let g = pick(&u, &numbers.update_scatter_dims);
                let s_in = inside(&scatter_indices.at(&g)?, &window_sizes, &dims);
                &window.insert((g, s_in)).1
            }
        };
        let Some(s_in) = s_in else { continue };
        // I = W_in + S_in.
        let mut i = Dims::from_slice(s_in);
        for (&k, &d) in numbers.update_window_dims.iter().zip(&numbers.window_dims_to_operand_dims) {
            i[d] += u[k];
        }
        values.clear();
        for updates in &update_elements {
            values.push(updates.at(&u)?);
        }
        output.combine(cx, &i, &values)?;
    }
    output.finish()?;
    drop(update_elements);
    updates.into_iter().for_each(|u| cx.release(u));
    match results.len() {
        1 => Ok(results.remove(0)),
        _ => Ok(Literal::tuple(results)),
    }
}

/// Splits the operands: N arrays, the indices, N updates.
fn split(operands: Vec<Literal>) -> Result<(Vec<Literal>, Literal, Vec<Literal>)> {
    let n = operands.len() / 2;
    let wrong = EvalError::new(format!(
        "{} operands where N arrays, indices and N updates are needed",
        operands.len()
    ));
    if operands.len().is_multiple_of(2) || n == 0 {
        return Err(wrong);
    }
    let mut arrays = operands;
    let updates = arrays.split_off(n + 1);
    let indices = arrays.pop().ok_or(wrong)?;
    Ok((arrays, indices, updates))
}

/// The dimension numbers of a `scatter`, checked.
struct Numbers {
    update_window_dims: SmallVec<[usize; 6]>,
    /// The dimensions of the updates that are not window dimensions, in order.
    update_scatter_dims: SmallVec<[usize; 6]>,
    /// The operand dimension of each of `update_window_dims`. These are neither inserted nor batching
    /// dimensions.
    window_dims_to_operand_dims: SmallVec<[usize; 6]>,
}

fn numbers(attrs: &ScatterAttrs, operand: usize, update: usize, batch: usize) -> Result<Numbers> {
    let update_window_dims = dimensions(&attrs.update_window_dims, update)?;
    let inserted = |d: usize| {
        let d = d as i64;
        attrs.inserted_window_dims.contains(&d) || attrs.input_batching_dims.contains(&d)
    };
    let numbers = Numbers {
        update_scatter_dims: (0..update).filter(|d| !update_window_dims.contains(d)).collect(),
        window_dims_to_operand_dims: (0..operand).filter(|&d| !inserted(d)).collect(),
        update_window_dims,
    };
    let fits = numbers.update_window_dims.len() == numbers.window_dims_to_operand_dims.len()
        && numbers.update_scatter_dims.len() == batch;
    if !fits {
        return Err(EvalError::new("the dimension numbers of the scatter do not fit its shapes"));
    }
    Ok(numbers)
}

/// Returns the start of a window, or `None` if any part of the window is out of bounds.
fn inside(start: &[i128], sizes: &[i64], dims: &[i64]) -> Option<Dims> {
    let fits = |((&i, &size), &d): ((&i128, &i64), &i64)| {
        (0..=i128::from(d) - i128::from(size)).contains(&i).then_some(i as i64)
    };
    start.iter().zip(sizes).zip(dims).map(fits).collect()
}
