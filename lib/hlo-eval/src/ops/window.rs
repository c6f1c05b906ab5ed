//! Operations over windows: `reduce-window` and `select-and-scatter`.

use super::fast;
use super::reducer::Reduction;
use super::reduction::{collate, result_arrays};
use super::support::{Result, array, result_array, take};
use super::updates::Updates;
use crate::context::Context;
use crate::element::Elements;
use crate::error::EvalError;
use crate::function::Function;
use crate::index::indices;
use hlo_ir::attr::{Covered, ReduceWindowAttrs, SelectAndScatterAttrs, Window, WindowDim};
use hlo_ir::{Dims, ElementType, Instruction, Literal};
use smallvec::SmallVec;

/// Returns the window's entries, one per dimension. A window without entries has size 1 in each dimension.
pub(super) fn window_dims(window: &Window, rank: usize) -> Result<Vec<WindowDim>> {
    let mut dims = window.dims.clone();
    if dims.is_empty() {
        dims.resize(rank, WindowDim::default());
    }
    let valid = dims.iter().all(|w| w.stride > 0 && w.lhs_dilate > 0 && w.rhs_dilate > 0 && w.size >= 0);
    if dims.len() != rank || !valid {
        return Err(EvalError::new(format!("a window of {} dimensions for rank {rank}", dims.len())));
    }
    Ok(dims)
}

/// `window_dimensions`: returns the sizes of the window.
pub(super) fn window_dimensions(window: &[WindowDim]) -> Dims {
    window.iter().map(|w| w.size).collect()
}

/// Returns the index in the base area, of sizes `dims`, that element `window_index` of the window covers when
/// the window is at `output_index`. Returns `None` on padding and in the holes of the base dilation
/// (`lhs_dilate`). The holes of the window (`rhs_dilate`) are not elements of it.
pub(super) fn base_index(
    window: &[WindowDim],
    dims: &[i64],
    output_index: &[i64],
    window_index: &[i64],
) -> Option<Dims> {
    let mut base_index = Dims::new();
    for (((w, &size), &output), &within) in window.iter().zip(dims).zip(output_index).zip(window_index) {
        let (window_stride, window_dilation, base_dilation) = (w.stride, w.rhs_dilate, w.lhs_dilate);
        let reach =
            output.saturating_mul(window_stride).saturating_add(within.saturating_mul(window_dilation));
        let dilated = reach.saturating_sub(w.pad_low);
        let index = dilated.div_euclid(base_dilation);
        if dilated.rem_euclid(base_dilation) != 0 || !(0..size).contains(&index) {
            return None;
        }
        base_index.push(index);
    }
    Some(base_index)
}

/// Returns the elements of an array of sizes `dims` that the window covers at one position, by dimension.
pub(super) fn covered(window: &[WindowDim], dims: &[i64], position: &[i64]) -> SmallVec<[Covered; 4]> {
    let along = window.iter().zip(dims).zip(position);
    along.map(|((w, &size), &position)| w.covered(position, size)).collect()
}

/// Returns the indices of the elements that the window covers at one position, in row-major order. Padding
/// and the holes of the base dilation take no time.
fn covered_indices(
    window: &[WindowDim],
    dims: &[i64],
    position: &[i64],
) -> impl Iterator<Item = Dims> + use<> {
    let covered = covered(window, dims, position);
    let counts: Dims = covered.iter().map(|c| c.count).collect();
    indices(&counts).map(move |at| covered.iter().zip(at).map(|(c, n)| c.pair(n).0).collect())
}

/// `reduce-window` (semantics, "ReduceWindow"): for each position of the window, applies the computation to
/// the initial values and the covered elements, in row-major order. Padding is skipped, because it contains
/// initial values. [`Reduction`] defines the types of the accumulators.
pub(super) fn reduce_window(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ReduceWindowAttrs,
) -> Result<Literal> {
    let reduction = Reduction::new(cx, operands, attrs.to_apply)?;
    let dims = reduction.dims()?;
    let window = window_dims(&attrs.window, dims.len())?;
    let shapes = result_arrays(&instr.shape)?;
    let same_sizes =
        |sizes: &Dims| shapes.len() == reduction.arrays.len() && shapes.iter().all(|s| s.dims == *sizes);
    let result_dims = shapes.first().map(|s| s.dims.clone());
    let result_dims = result_dims.filter(|r| r.len() == dims.len() && same_sizes(r));
    let result_dims = result_dims
        .ok_or_else(|| EvalError::new(format!("the result does not have shape {}", instr.shape)))?;
    let mut results = shapes.into_iter().map(|s| cx.allocate(s)).collect::<Result<Vec<_>>>()?;
    if cx.definitions_only() || !fast::reduce_window::reduce_window(cx, &reduction, &window, &mut results)? {
        let mut reducer = reduction.reducer(cx)?;
        for output_index in indices(&result_dims) {
            reducer.begin();
            for base_index in covered_indices(&window, dims, &output_index) {
                reducer.combine(cx, &reduction.at(&base_index)?)?;
            }
            reducer.write(&mut results, &output_index)?;
        }
    }
    reduction.release(cx);
    collate(&instr.shape, results)
}

/// `select-and-scatter` (semantics, "SelectAndScatter"): for each window, finds the first covered element, in
/// row-major order, that `select` prefers to all later ones. `scatter` then combines the value of the result
/// at that position, which starts as the initial value, with the element of the source. A window that covers
/// only padding selects nothing.
pub(super) fn select_and_scatter(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &SelectAndScatterAttrs,
) -> Result<Literal> {
    let [operand, source, init_value] = take(operands)?;
    let (ty, moved) = (array(&operand)?.element_type, array(&source)?.element_type);
    let (dims, source_dims) = (array(&operand)?.dims.clone(), array(&source)?.dims.clone());
    let window = window_dims(&attrs.window, dims.len())?;
    let shape = result_array(instr)?;
    let fits = shape.dims == dims && [shape.element_type, array(&init_value)?.element_type] == [moved; 2];
    if !fits || source_dims.len() != dims.len() || array(&init_value)?.element_count() != 1 {
        return Err(EvalError::new("the operands of select-and-scatter do not fit each other"));
    }
    let mut select = Function::new(cx, attrs.select, &[ty, ty], &[ElementType::Pred])?;
    let mut result = cx.allocate(shape)?;
    let elements = result.bytes_mut().chunks_exact_mut(moved.byte_size());
    elements.for_each(|e| e.copy_from_slice(init_value.bytes()));
    let mut output = Updates::new(cx, attrs.scatter, std::slice::from_mut(&mut result))?;

    let (candidates, updates) = (Elements::of(&operand)?, Elements::of(&source)?);
    for source_index in indices(&source_dims) {
        let mut selected: Option<Dims> = None;
        for next in covered_indices(&window, &dims, &source_index) {
            let keep = match &selected {
                None => false,
                Some(first) => select.call(cx, &[candidates.at(first)?, candidates.at(&next)?])?[0] == 1,
            };
            if !keep {
                selected = Some(next);
            }
        }
        if let Some(place) = selected {
            output.combine(cx, &place, &[updates.at(&source_index)?])?;
        }
    }
    output.finish()?;
    cx.release(operand);
    cx.release(source);
    Ok(result)
}
