//! `reduce` of many results at a time, or of contiguous elements in one loop.

use super::lanes::Lanes;
use super::{LANES, fold};
use crate::context::Context;
use crate::error::EvalError;
use crate::index::{advance, count, indices, pick, row_major_strides};
use crate::ops::reducer::Reduction;
use crate::ops::support::Result;
use hlo_ir::{Dims, Literal, unravel};

/// Reduces the dimensions `reduced`. Returns false if the reducer is not a program.
pub(in crate::ops) fn reduce(
    cx: &mut Context<'_>,
    reduction: &Reduction<'_>,
    (kept, reduced): (&[usize], &[usize]),
    results: &mut [Literal],
) -> Result<bool> {
    let dims = reduction.dims()?;
    let strides = row_major_strides(dims);
    let (kept_dims, kept_strides) = (pick(dims, kept), pick(&strides, kept));
    let (reduced_dims, reduced_strides) = (pick(dims, reduced), pick(&strides, reduced));
    let (outputs, inputs) = (count(&kept_dims), count(&reduced_dims));
    let capacity = LANES.min(outputs.max(1));
    // Contiguous elements are combined in one loop.
    let fold = if is_dense(&reduced_dims, &reduced_strides) {
        fold::of_reduction(cx.module, reduction)
    } else {
        None
    };
    let Some(mut accumulators) = Lanes::new(cx, reduction, capacity)? else { return Ok(false) };
    let mut bases: Vec<usize> = Vec::with_capacity(capacity);
    for start in (0..outputs).step_by(capacity) {
        let lanes = capacity.min(outputs - start);
        let mut index = unravel(start, &kept_dims);
        bases.clear();
        for _ in 0..lanes {
            bases.push(place(&index, &kept_strides));
            advance(&mut index, &kept_dims);
        }
        if let Some(fold) = &fold {
            cx.charge(inputs.saturating_mul(2).saturating_mul(lanes))?;
            let size = reduction.types[0].byte_size();
            let out = results[0].bytes_mut()[start * size..].chunks_exact_mut(size);
            for (&base, out) in bases.iter().zip(out) {
                // Without inputs there is no first element either.
                let elements = if inputs == 0 { 0..0 } else { base * size..(base + inputs) * size };
                let line = reduction.arrays[0].bytes().get(elements);
                let line = line.ok_or_else(|| EvalError::internal("a line outside of the array"))?;
                fold(line, reduction.init_values[0].bytes(), out)?;
            }
            continue;
        }
        accumulators.begin(&reduction.init_values, lanes)?;
        for index in indices(&reduced_dims) {
            let offset = place(&index, &reduced_strides);
            for (k, a) in reduction.arrays.iter().enumerate() {
                accumulators.load(k, a.bytes(), &bases, offset)?;
            }
            accumulators.combine(cx, lanes, &[])?;
        }
        for (k, (result, ty)) in results.iter_mut().zip(&reduction.types).enumerate() {
            accumulators.write(k, lanes, &mut result.bytes_mut()[start * ty.byte_size()..])?;
        }
    }
    Ok(true)
}

fn place(index: &Dims, strides: &Dims) -> usize {
    index.iter().zip(strides).map(|(&i, &s)| i * s).sum::<i64>() as usize
}

/// Checks whether the indices below `dims`, in row-major order, are contiguous in memory.
fn is_dense(dims: &[i64], strides: &[i64]) -> bool {
    let dense = row_major_strides(dims);
    dims.iter().zip(strides).zip(&dense).all(|((&d, s), dense)| d == 1 || s == dense)
}
