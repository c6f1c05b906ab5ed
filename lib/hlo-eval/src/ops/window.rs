//! Operations over windows: `reduce-window` and `select-and-scatter`.

use super::reducer::{Reduction, wide_components};
use super::reduction::{collate, element_types, load_lanes, result_arrays};
use super::wide::{Wide, WideTarget};
use super::{Result, array, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{advance, count};
use crate::program::Function;
use hlo_ir::attr::{ReduceWindowAttrs, SelectAndScatterAttrs, Window, WindowDim};
use hlo_ir::{Dims, ElementType, Instruction, Literal, unravel};

/// How many windows go through the function at a time.
const LANES: usize = 256;

/// The window's entries, one a dimension; a window without entries is one of ones.
fn window_dims(window: &Window, rank: usize) -> Result<Vec<WindowDim>> {
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

/// The row-major position that window element `tap` covers when the window is at `at`; `None` on padding.
fn covered(window: &[WindowDim], dims: &[i64], at: &[i64], tap: &[i64]) -> Option<usize> {
    let mut position = 0;
    for (((w, &size), &at), &tap) in window.iter().zip(dims).zip(at).zip(tap) {
        let reach = at.saturating_mul(w.stride).saturating_add(tap.saturating_mul(w.rhs_dilate));
        let dilated = reach.saturating_sub(w.pad_low);
        let index = dilated.div_euclid(w.lhs_dilate);
        if dilated.rem_euclid(w.lhs_dilate) != 0 || index < 0 || index >= size {
            return None;
        }
        position = position * size + index;
    }
    Some(position as usize)
}

/// `reduce-window` (semantics, "ReduceWindow"): for each window, starting from the initial value, the
/// computation is applied to its elements in row-major order. Padding is skipped: it holds initial values.
/// [`Reduction`] says in which types.
pub(super) fn reduce_window(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ReduceWindowAttrs,
) -> Result<Literal> {
    let reduction = Reduction::new(ev, operands, attrs.to_apply)?;
    let (arrays, types) = (&reduction.arrays, &reduction.types);
    let n = arrays.len();
    let dims = array(&arrays[0])?.dims.clone();
    let window = window_dims(&attrs.window, dims.len())?;
    let taps: Dims = window.iter().map(|w| w.size).collect();
    let shapes = result_arrays(&instr.shape)?;
    let out_dims = shapes.first().map(|s| s.dims.clone()).unwrap_or_default();
    if shapes.len() != n || out_dims.len() != dims.len() || shapes.iter().any(|s| s.dims != out_dims) {
        return Err(EvalError::new(format!("the result does not have shape {}", instr.shape)));
    }
    let mut results = shapes.into_iter().map(|s| ev.allocate(s)).collect::<Result<Vec<_>>>()?;
    if let Some(along) = cumulative_dimension(&window, &dims) {
        accumulate_along(ev, &reduction, &dims, along, &mut results)?;
        reduction.release(ev);
        return collate(&instr.shape, results);
    }
    let outputs = count(&out_dims);
    let capacity = LANES.min(outputs.max(1));
    let mut accumulators = reduction.lanes(ev, capacity)?;

    let mut places: Vec<Dims> = Vec::with_capacity(capacity);
    let mut sources: Vec<usize> = Vec::with_capacity(capacity);
    let mut on_padding: Vec<bool> = Vec::with_capacity(capacity);
    for start in (0..outputs).step_by(capacity) {
        let lanes = capacity.min(outputs - start);
        places.clear();
        let mut at = unravel(start, &out_dims);
        for _ in 0..lanes {
            places.push(at.clone());
            advance(&mut at, &out_dims);
        }
        accumulators.begin(&reduction.initial, lanes);
        let mut tap: Dims = smallvec::smallvec![0; taps.len()];
        for _ in 0..count(&taps) {
            sources.clear();
            on_padding.clear();
            for at in &places {
                let source = covered(&window, &dims, at, &tap);
                on_padding.push(source.is_none());
                sources.push(source.unwrap_or(0));
            }
            advance(&mut tap, &taps);
            if on_padding.iter().all(|&p| p) {
                continue;
            }
            for (k, (a, ty)) in arrays.iter().zip(types).enumerate() {
                load_lanes(ty.byte_size(), a.bytes(), &sources, 0, accumulators.elements_mut(k))?;
            }
            accumulators.combine(ev, lanes, &on_padding)?;
        }
        for (k, (result, ty)) in results.iter_mut().zip(types).enumerate() {
            accumulators.write(k, lanes, &mut result.bytes_mut()[start * ty.byte_size()..]);
        }
    }
    reduction.release(ev);
    collate(&instr.shape, results)
}

/// The dimension along which each window has all elements up to its own, if there is one.
fn cumulative_dimension(window: &[WindowDim], dims: &[i64]) -> Option<usize> {
    let along = window.iter().position(|w| *w != WindowDim::default())?;
    let size = dims[along];
    let whole = WindowDim { size, pad_low: size - 1, ..WindowDim::default() };
    let only = window.iter().enumerate().all(|(d, w)| d == along || *w == WindowDim::default());
    (only && window[along] == whole).then_some(along)
}

/// The reductions of all elements up to each one along a dimension: one step leads from each to the next.
fn accumulate_along(
    ev: &mut Evaluator<'_>,
    reduction: &Reduction<'_>,
    dims: &[i64],
    along: usize,
    results: &mut [Literal],
) -> Result<()> {
    let stride = count(&dims[along + 1..]);
    let length = dims[along] as usize;
    let lines = count(dims) / length.max(1);
    let capacity = LANES.min(lines.max(1));
    let mut accumulators = reduction.lanes(ev, capacity)?;
    let mut rounded: Vec<u8> = Vec::new();
    for start in (0..lines).step_by(capacity) {
        let lanes = capacity.min(lines - start);
        let first = |line: usize| line / stride * length * stride + line % stride;
        let bases: Vec<usize> = (start..start + lanes).map(first).collect();
        accumulators.begin(&reduction.initial, lanes);
        for n in 0..length {
            for (k, (a, ty)) in reduction.arrays.iter().zip(&reduction.types).enumerate() {
                load_lanes(ty.byte_size(), a.bytes(), &bases, n * stride, accumulators.elements_mut(k))?;
            }
            accumulators.combine(ev, lanes, &[])?;
            for (k, (result, ty)) in results.iter_mut().zip(&reduction.types).enumerate() {
                let size = ty.byte_size();
                rounded.resize(lanes * size, 0);
                accumulators.write(k, lanes, &mut rounded);
                for (&base, value) in bases.iter().zip(rounded.chunks_exact(size)) {
                    let to = (base + n * stride) * size;
                    result.bytes_mut()[to..to + size].copy_from_slice(value);
                }
            }
        }
    }
    Ok(())
}

/// `select-and-scatter` (semantics, "SelectAndScatter"): in each window the element is found that `select`
/// prefers to all later ones; `scatter` combines the source's element with what the result holds there.
pub(super) fn select_and_scatter(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &SelectAndScatterAttrs,
) -> Result<Literal> {
    let [operand, source, initial] = take(operands)?;
    let types = element_types(&[operand.clone(), source.clone(), initial.clone()])?;
    let (ty, moved) = (types[0], types[1]);
    let dims = array(&operand)?.dims.clone();
    let source_dims = array(&source)?.dims.clone();
    let window = window_dims(&attrs.window, dims.len())?;
    let taps: Dims = window.iter().map(|w| w.size).collect();
    let shape = super::result_array(instr)?;
    let fits = shape.dims == dims && shape.element_type == moved && types[2] == moved;
    if !fits || source_dims.len() != dims.len() || initial.bytes().len() != moved.byte_size() {
        return Err(EvalError::new("the operands of select-and-scatter do not fit each other"));
    }
    let mut select = Function::new(ev, attrs.select, &[ty, ty], &[ElementType::Pred], 1)?;
    let mut scatter = Function::new(ev, attrs.scatter, &[moved, moved], &[moved], 1)?;
    let wide = wide_components(ev.module, attrs.scatter, &[moved], Wide::of_updates)[0];
    let mut result = ev.allocate(shape)?;
    let (size, moved_size) = (ty.byte_size(), moved.byte_size());
    let out = result.bytes_mut();
    out.chunks_exact_mut(moved_size).for_each(|e| e.copy_from_slice(initial.bytes()));
    let mut sums = wide.and_then(|op| Wide::of_updates(op, moved)).map(|wide| WideTarget::new(wide, out));

    let mut at: Dims = smallvec::smallvec![0; source_dims.len()];
    for element in source.bytes().chunks_exact(moved_size) {
        let mut chosen: Option<usize> = None;
        let mut tap: Dims = smallvec::smallvec![0; taps.len()];
        for _ in 0..count(&taps) {
            if let Some(candidate) = covered(&window, &dims, &at, &tap) {
                let keep = match chosen {
                    None => false,
                    Some(current) => {
                        let value = |at: usize| &operand.bytes()[at * size..(at + 1) * size];
                        select.fill_parameter(0, value(current), 1);
                        select.fill_parameter(1, value(candidate), 1);
                        select.run(ev, 1)?;
                        select.result(0).first() == Some(&1)
                    }
                };
                if !keep {
                    chosen = Some(candidate);
                }
            }
            advance(&mut tap, &taps);
        }
        if let (Some(to), Some(sums)) = (chosen, &mut sums) {
            sums.combine(to, element);
        } else if let Some(to) = chosen {
            let place = to * moved_size..(to + 1) * moved_size;
            scatter.fill_parameter(0, &out[place.clone()], 1);
            scatter.fill_parameter(1, element, 1);
            scatter.run(ev, 1)?;
            out[place].copy_from_slice(&scatter.result(0)[..moved_size]);
        }
        advance(&mut at, &source_dims);
    }
    if let Some(sums) = sums {
        sums.write(out);
    }
    ev.release(operand);
    ev.release(source);
    Ok(result)
}
