//! Collectives (semantics, "AllGather" to "ReduceScatter") of one device: it exchanges data with itself, so that a
//! sum is of one value, a gathered array has one part, and what is scattered stays whole. `hlo_ir::verify` has
//! refused modules that need more devices.

use super::structural::relabel;
use super::{Result, array, effects, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use hlo_ir::attr::{CollectiveBroadcastAttrs, CollectivePermuteAttrs};
use hlo_ir::{ArrayShape, Instruction, Literal, Shape};

/// The operands themselves: one as it is, several as a tuple.
pub(super) fn exchange(instr: &Instruction, operands: Vec<Literal>) -> Result<Literal> {
    exchanged(operands, &instr.shape)
}

fn exchanged(operands: Vec<Literal>, shape: &Shape) -> Result<Literal> {
    match &operands[..] {
        [one] if shape.as_array().is_some() || one.shape().compatible(shape) => relabel(one.clone(), shape),
        _ => relabel(Literal::tuple(operands), shape),
    }
}

/// `all-gather-start`: operands, results and contexts.
pub(super) fn start(ev: &mut Evaluator<'_>, instr: &Instruction, operands: Vec<Literal>) -> Result<Literal> {
    let result = operands.clone();
    started(ev, instr, operands, |_, shape| exchanged(result, shape))
}

/// The state of a start: operands, results by their shape, contexts.
fn started<'m>(
    ev: &mut Evaluator<'m>,
    instr: &Instruction,
    operands: Vec<Literal>,
    result: impl FnOnce(&mut Evaluator<'m>, &Shape) -> Result<Literal>,
) -> Result<Literal> {
    let Some([given, made, ..]) = instr.shape.as_tuple() else {
        return Err(EvalError::new(format!("{} gives operands and results", instr.op.name())));
    };
    let parts = vec![exchanged(operands, given)?, result(ev, made)?];
    effects::state(ev, instr, parts)
}

/// `collective-broadcast`: the values; the last operand may say which device sends, which is this one.
pub(super) fn broadcast(
    instr: &Instruction,
    mut operands: Vec<Literal>,
    attrs: &CollectiveBroadcastAttrs,
) -> Result<Literal> {
    if attrs.has_dynamic_root {
        operands.pop();
    }
    exchange(instr, operands)
}

/// `collective-permute` (semantics, "CollectivePermute"): what this device sends to itself, or zeros.
pub(super) fn permute(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
) -> Result<Literal> {
    permuted(ev, operands, attrs, &instr.shape)
}

/// `collective-permute-start`: operands, results and contexts.
pub(super) fn permute_start(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
) -> Result<Literal> {
    let result = operands.clone();
    // Of slices the state has the input alone, or all operands.
    let tuple = matches!(instr.shape.as_tuple(), Some([Shape::Tuple(_), ..]));
    let operands = match (attrs.slice_sizes.0.is_empty(), tuple) {
        (false, false) => operands.into_iter().take(1).collect(),
        _ => operands,
    };
    started(ev, instr, operands, |ev, shape| permuted(ev, result, attrs, shape))
}

fn permuted(
    ev: &mut Evaluator<'_>,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
    shape: &Shape,
) -> Result<Literal> {
    let sends = attrs.source_target_pairs.0.contains(&(0, 0));
    match (attrs.slice_sizes.0.is_empty(), sends) {
        (true, true) => exchanged(operands, shape),
        (true, false) => ev.zeros(shape),
        (false, sends) => permute_slices(ev, operands, attrs, sends),
    }
}

/// A permute of slices: each slice of the input, from its start there, goes to its start in the output. What no
/// device sends to stays as it was.
fn permute_slices(
    ev: &mut Evaluator<'_>,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
    sends: bool,
) -> Result<Literal> {
    let [input, output, from, to] = take(operands)?;
    if !sends {
        return Ok(output);
    }
    let (source, target) = (array(&input)?.clone(), array(&output)?.clone());
    let mut output = ev.make_unique(output)?;
    for (n, sizes) in attrs.slice_sizes.0.iter().enumerate() {
        let from = start_of(&from, n, &source, sizes)?;
        let to = start_of(&to, n, &target, sizes)?;
        ev.charge(sizes.iter().product::<i64>().unsigned_abs() as usize)?;
        copy_block((input.bytes(), &source, &from), (output.bytes_mut(), &target, &to), sizes);
    }
    Ok(output)
}

/// Where slice number `n` starts: scalars, one a dimension, of all slices one after the other. As in `dynamic-slice` a
/// start too far out is moved so that the slice fits.
fn start_of(starts: &Literal, n: usize, shape: &ArrayShape, sizes: &[i64]) -> Result<Vec<i64>> {
    if sizes.len() != shape.rank() || sizes.iter().zip(&shape.dims).any(|(&s, &d)| s < 0 || s > d) {
        return Err(EvalError::new(format!("slice sizes {sizes:?} do not fit {shape}")));
    }
    let leaves = starts.leaves();
    (0..sizes.len())
        .map(|d| {
            let leaf = leaves.get(n * sizes.len() + d);
            let start = leaf.and_then(|l| l.integer_at(0)).ok_or_else(|| {
                EvalError::new(format!(
                    "slice {n} has no start in dimension {d}: {} is given",
                    starts.shape()
                ))
            })?;
            Ok(start.clamp(0, i128::from(shape.dims[d] - sizes[d])) as i64)
        })
        .collect()
}

/// Copies a block of elements from one array, row-major as all values are, to another; it fits both.
fn copy_block(from: (&[u8], &ArrayShape, &[i64]), to: (&mut [u8], &ArrayShape, &[i64]), sizes: &[i64]) {
    let element = from.1.element_type.byte_size();
    let (source, target) = (from.1.row_major_strides(), to.1.row_major_strides());
    let Some((&row, outer)) = sizes.split_last() else {
        return to.0.copy_from_slice(from.0);
    };
    let bytes = row as usize * element;
    let mut index = vec![0i64; outer.len()];
    for _ in 0..outer.iter().product::<i64>() {
        let at = |start: &[i64], strides: &[i64]| {
            let inner = start.last().copied().unwrap_or(0);
            let place: i64 = (0..outer.len()).map(|d| (start[d] + index[d]) * strides[d]).sum();
            (place + inner) as usize * element
        };
        let (a, b) = (at(from.2, &source), at(to.2, &target));
        if let (Some(from), Some(to)) = (from.0.get(a..a + bytes), to.0.get_mut(b..b + bytes)) {
            to.copy_from_slice(from);
        }
        for d in (0..outer.len()).rev() {
            index[d] += 1;
            if index[d] < outer[d] {
                break;
            }
            index[d] = 0;
        }
    }
}

/// `ragged-all-to-all(input, output, input offsets, send sizes, output offsets, receive sizes)`: piece by piece, rows of
/// the input replace rows of the output.
pub(super) fn ragged_all_to_all(ev: &mut Evaluator<'_>, operands: Vec<Literal>) -> Result<Literal> {
    let [input, output, from, sizes, to, received] = take(operands)?;
    let (source, target) = (array(&input)?.clone(), array(&output)?.clone());
    let rows = |shape: &ArrayShape| shape.dims.first().copied().unwrap_or(0).max(0) as usize;
    let row = target.byte_size().checked_div(rows(&target)).unwrap_or(0);
    let mut output = ev.make_unique(output)?;
    for piece in 0..array(&sizes)?.element_count() {
        let number = |list: &Literal, what: &str, rows: usize| {
            let n = list.integer_at(piece).unwrap_or(-1);
            usize::try_from(n).ok().filter(|&n| n <= rows).ok_or_else(|| {
                EvalError::new(format!("{what} {n} of piece {piece} is not within the {rows} rows"))
            })
        };
        let size = number(&sizes, "the send size", rows(&source).min(rows(&target)))?;
        if received.integer_at(piece) != sizes.integer_at(piece) {
            return Err(EvalError::new(format!(
                "piece {piece}: {size} rows are sent, another number is received"
            )));
        }
        let a = number(&from, "the input offset", rows(&source) - size)?;
        let b = number(&to, "the output offset", rows(&target) - size)?;
        ev.charge(size)?;
        let (a, b, n) = (a * row, b * row, size * row);
        if let (Some(from), Some(to)) = (input.bytes().get(a..a + n), output.bytes_mut().get_mut(b..b + n)) {
            to.copy_from_slice(from);
        }
    }
    Ok(output)
}
