//! Collectives (semantics, "AllGather" to "ReduceScatter") of one device: it exchanges data with itself, so that a
//! sum is of one value, a gathered array has one part, and what is scattered stays whole. `hlo_ir::verify` has
//! refused modules that need more devices.

use super::moved::{copy, same};
use super::structural::relabel;
use super::{Result, array, effects, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{count, extent};
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
        ev.charge(count(sizes))?;
        copy(ev, sizes, (&input, from_start(&from)), (&mut output, from_start(&to)))?;
    }
    Ok(output)
}

/// The map of an index in a slice to the one in the array that it starts in at `start`.
fn from_start(start: &[i64]) -> impl Fn(&[i64], &mut [i64]) {
    move |slice, index| (0..start.len()).for_each(|d| index[d] = start[d] + slice[d])
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

/// `ragged-all-to-all(input, output, input offsets, send sizes, output offsets, receive sizes)`: piece by piece, rows of
/// the input replace rows of the output.
pub(super) fn ragged_all_to_all(ev: &mut Evaluator<'_>, operands: Vec<Literal>) -> Result<Literal> {
    let [input, output, from, sizes, to, received] = take(operands)?;
    let rows = |value: &Literal| -> Result<usize> {
        let shape = array(value)?;
        let rows = shape.dims.first().ok_or_else(|| EvalError::internal(format!("the rows of {shape}")))?;
        extent(*rows)
    };
    let (source, target) = (rows(&input)?, rows(&output)?);
    let mut output = ev.make_unique(output)?;
    for piece in 0..array(&sizes)?.element_count() {
        let number = |list: &Literal, what: &str, rows: usize| {
            let n = list.integer_at(piece);
            let n = n.ok_or_else(|| EvalError::internal(format!("{what} of piece {piece} is not given")))?;
            usize::try_from(n).ok().filter(|&n| n <= rows).ok_or_else(|| {
                EvalError::new(format!("{what} {n} of piece {piece} is not within the {rows} rows"))
            })
        };
        let size = number(&sizes, "the send size", source.min(target))?;
        if received.integer_at(piece) != sizes.integer_at(piece) {
            return Err(EvalError::new(format!(
                "piece {piece}: {size} rows are sent, another number is received"
            )));
        }
        let a = number(&from, "the input offset", source - size)?;
        let b = number(&to, "the output offset", target - size)?;
        ev.charge(size)?;
        let mut block = array(&input)?.dims.clone();
        block[0] = size as i64;
        let from_row = |first: usize| {
            move |block: &[i64], index: &mut [i64]| {
                same(block, index);
                index[0] += first as i64;
            }
        };
        copy(ev, &block, (&input, from_row(a)), (&mut output, from_row(b)))?;
    }
    Ok(output)
}
