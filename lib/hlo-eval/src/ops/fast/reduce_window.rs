//! `reduce-window` of many results at a time. Cumulative reductions instead compute each result from the one
//! before.

use super::LANES;
use super::lanes::Lanes;
use crate::context::Context;
use crate::error::EvalError;
use crate::index::{advance, count, indices, row_major_strides};
use crate::ops::reducer::Reduction;
use crate::ops::support::{Result, array};
use crate::ops::window::covered;
use hlo_ir::attr::WindowDim;
use hlo_ir::{Dims, Literal, unravel};
use smallvec::SmallVec;

/// Reduces windows of the reduction's arrays. Returns false if the reducer is not a program and the windows
/// are not cumulative.
pub(in crate::ops) fn reduce_window(
    cx: &mut Context<'_>,
    reduction: &Reduction<'_>,
    window: &[WindowDim],
    results: &mut [Literal],
) -> Result<bool> {
    let dims = reduction.dims()?;
    let no_result = || EvalError::internal("a reduction without results");
    let result_dims: Dims = array(results.first().ok_or_else(no_result)?)?.dims.clone();
    if let Some(along) = cumulative_dimension(window, dims).filter(|_| *result_dims == *dims) {
        return accumulate_along(cx, reduction, dims, along, results).map(|()| true);
    }
    let outputs = count(&result_dims);
    let capacity = LANES.min(outputs.max(1));
    let Some(mut accumulators) = Lanes::new(cx, reduction, capacity)? else { return Ok(false) };

    let strides = row_major_strides(dims);
    let mut covered: Vec<CoveredPlaces> = Vec::with_capacity(capacity);
    let mut sources: Vec<usize> = Vec::with_capacity(capacity);
    let mut is_done: Vec<bool> = Vec::with_capacity(capacity);
    for start in (0..outputs).step_by(capacity) {
        let lanes = capacity.min(outputs - start);
        covered.clear();
        let mut at = unravel(start, &result_dims);
        for _ in 0..lanes {
            covered.push(CoveredPlaces::new(window, dims, &strides, &at));
            advance(&mut at, &result_dims);
        }
        accumulators.begin(&reduction.init_values, lanes)?;
        loop {
            sources.clear();
            is_done.clear();
            for places in &mut covered {
                let source = places.next();
                is_done.push(source.is_none());
                // A finished lane loads some element, which is then skipped.
                sources.push(source.unwrap_or(0));
            }
            if is_done.iter().all(|&d| d) {
                break;
            }
            for (k, a) in reduction.arrays.iter().enumerate() {
                accumulators.load(k, a.bytes(), &sources, 0)?;
            }
            accumulators.combine(cx, lanes, &is_done)?;
        }
        for (k, (result, ty)) in results.iter_mut().zip(&reduction.types).enumerate() {
            accumulators.write(k, lanes, &mut result.bytes_mut()[start * ty.byte_size()..])?;
        }
    }
    Ok(true)
}

/// The elements that a window covers at one position, in row-major order, as positions in memory.
struct CoveredPlaces {
    /// The number of elements along each dimension, and the distance between neighbors in memory.
    steps: SmallVec<[(i64, i64); 4]>,
    /// The index of the next element among the covered ones.
    at: Dims,
    /// The position of the next element. `None` after the last element.
    next: Option<i64>,
}

impl CoveredPlaces {
    fn new(window: &[WindowDim], dims: &[i64], strides: &[i64], position: &[i64]) -> Self {
        let covered = covered(window, dims, position);
        let first = covered.iter().zip(strides).map(|(c, stride)| c.element * stride).sum();
        let steps = covered.iter().zip(strides).map(|(c, &s)| (c.count, c.element_step.saturating_mul(s)));
        Self {
            at: smallvec::smallvec![0; dims.len()],
            next: covered.iter().all(|c| c.count > 0).then_some(first),
            steps: steps.collect(),
        }
    }
}

impl Iterator for CoveredPlaces {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let place = self.next?;
        let mut following = place;
        self.next = None;
        for (at, &(count, step)) in self.at.iter_mut().zip(&self.steps).rev() {
            if *at + 1 < count {
                *at += 1;
                self.next = Some(following + step);
                break;
            }
            following -= *at * step;
            *at = 0;
        }
        usize::try_from(place).ok()
    }
}

/// Returns the dimension along which each window contains all elements up to its own, if there is one.
fn cumulative_dimension(window: &[WindowDim], dims: &[i64]) -> Option<usize> {
    let along = window.iter().position(|w| *w != WindowDim::default())?;
    let size = dims[along];
    let whole = WindowDim { size, pad_low: size - 1, ..WindowDim::default() };
    let only = window.iter().enumerate().all(|(d, w)| d == along || *w == WindowDim::default());
    (only && window[along] == whole).then_some(along)
}

/// Computes the reductions of all elements up to each element along a dimension. One step computes each
/// result from the one before.
fn accumulate_along(
    cx: &mut Context<'_>,
    reduction: &Reduction<'_>,
    dims: &[i64],
    along: usize,
    results: &mut [Literal],
) -> Result<()> {
    let (stride, length) = (count(&dims[along + 1..]), count(&dims[along..=along]));
    let lines = count(&dims[..along]) * stride;
    let capacity = LANES.min(lines.max(1));
    let Some(mut accumulators) = Lanes::new(cx, reduction, capacity)? else {
        return accumulate_lines(cx, reduction, dims, along, results);
    };
    let mut rounded: Vec<u8> = Vec::new();
    for start in (0..lines).step_by(capacity) {
        let lanes = capacity.min(lines - start);
        let first = |line: usize| line / stride * length * stride + line % stride;
        let bases: Vec<usize> = (start..start + lanes).map(first).collect();
        accumulators.begin(&reduction.init_values, lanes)?;
        for n in 0..length {
            for (k, a) in reduction.arrays.iter().enumerate() {
                accumulators.load(k, a.bytes(), &bases, n * stride)?;
            }
            accumulators.combine(cx, lanes, &[])?;
            for (k, (result, ty)) in results.iter_mut().zip(&reduction.types).enumerate() {
                let size = ty.byte_size();
                rounded.resize(lanes * size, 0);
                accumulators.write(k, lanes, &mut rounded)?;
                for (&base, value) in bases.iter().zip(rounded.chunks_exact(size)) {
                    let to = (base + n * stride) * size;
                    result.bytes_mut()[to..to + size].copy_from_slice(value);
                }
            }
        }
    }
    Ok(())
}

/// Computes the reductions line by line, for a reducer that is not a program.
fn accumulate_lines(
    cx: &mut Context<'_>,
    reduction: &Reduction<'_>,
    dims: &[i64],
    along: usize,
    results: &mut [Literal],
) -> Result<()> {
    let mut reducer = reduction.reducer(cx)?;
    let mut first: Dims = dims.into();
    first[along] = first[along].min(1);
    for mut index in indices(&first) {
        reducer.begin();
        for n in 0..dims[along] {
            index[along] = n;
            reducer.combine(cx, &reduction.at(&index)?)?;
            reducer.write(results, &index)?;
        }
    }
    Ok(())
}
