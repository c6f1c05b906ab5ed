//! Patterns on reshape, broadcast, transpose, reverse and iota, which only determine the position of
//! elements.

use crate::support::rewrite::{Cx, Pattern, index, without_ones};
use hlo_ir::build::Build;
use hlo_ir::{Dims, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "bitcast-reshape",
        "bitcast(x) of row-major arrays → reshape(x)",
        &[Opcode::Bitcast],
        bitcast_reshape,
    ),
    Pattern::new(
        "broadcast-reshape",
        "broadcast(x) that only adds dimensions of size 1 → reshape(x)",
        &[Opcode::Broadcast],
        broadcast_reshape,
    ),
    Pattern::new(
        "broadcast-of-reshape",
        "broadcast(reshape(x)), if the reshape only adds dimensions of size 1 → broadcast(x)",
        &[Opcode::Broadcast],
        broadcast_of_reshape,
    ),
    Pattern::new(
        "reshape-broadcast",
        "reshape(broadcast(x)) that keeps the dimensions of x → broadcast(reshape(x) without dimensions of size 1)",
        &[Opcode::Reshape],
        reshape_of_broadcast,
    ),
    Pattern::new(
        "transpose-reshape",
        "transpose(x) that moves only dimensions of size 1 → reshape(x)",
        &[Opcode::Transpose],
        transpose_reshape,
    ),
];

/// Rewrites a bitcast that keeps the bytes in place. For row-major arrays of one type, it is a reshape.
fn bitcast_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let same =
        from.element_type == to.element_type && from.checked_element_count() == to.checked_element_count();
    (same && from.is_row_major() && to.is_row_major()).then(|| cx.add_same_shape(Op::reshape(), &[x]))
}

/// Returns the scalar that `id` repeats.
pub(super) fn repeated(cx: &Cx<'_>, id: InstrId) -> Option<InstrId> {
    let moves = matches!(cx.opcode(id), Opcode::Broadcast | Opcode::Reshape);
    let scalar = cx.operand(id, 0).filter(|_| moves)?;
    cx.module[scalar].shape.is_scalar().then_some(scalar)
}

/// Returns the operand, its sizes, the dimension map and the sizes of the result of a broadcast.
pub(super) fn broadcast_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, Dims, Dims, Dims)> {
    let Op::Broadcast(a) = &cx.module[id].op else { return None };
    let x = cx.operand(id, 0)?;
    Some((x, cx.array(x)?.dims, a.dimensions.clone(), cx.array(id)?.dims))
}

/// Rewrites a broadcast that only adds dimensions of size 1 and keeps the order of the others.
fn broadcast_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, from, map, to) = broadcast_parts(cx, id)?;
    let in_order = map.windows(2).all(|w| w[0] < w[1]);
    (in_order && without_ones(&from) == without_ones(&to)).then(|| cx.add_same_shape(Op::reshape(), &[x]))
}

/// Removes a reshape before a broadcast that only adds dimensions of size 1.
fn broadcast_of_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (reshaped, from, map, _) = broadcast_parts(cx, id)?;
    if cx.opcode(reshaped) != Opcode::Reshape || !from.contains(&1) || map.len() != from.len() {
        return None;
    }
    let x = cx.operand(reshaped, 0)?;
    if cx.array(x)?.dims != without_ones(&from) {
        return None;
    }
    let kept: Dims = from.iter().zip(&map).filter(|(size, _)| **size != 1).map(|(_, d)| *d).collect();
    Some(cx.add_same_shape(Op::broadcast(kept), &[x]))
}

/// Moves a broadcast after a reshape that keeps the dimensions of the operand.
fn reshape_of_broadcast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let broadcast = cx.operand(id, 0)?;
    let (x, from, map, middle) = broadcast_parts(cx, broadcast)?;
    if from.is_empty() {
        cx.array(id)?;
        return Some(cx.add_same_shape(Op::broadcast([]), &[x]));
    }
    let to = cx.array(id)?.dims;
    if to.contains(&0) || map.len() != from.len() {
        return None;
    }
    // A dimension is kept if it has the same size and the same number of elements before it.
    let before = |dims: &[i64], d: usize| dims.get(..d)?.iter().try_fold(1i64, |n, &s| n.checked_mul(s));
    let mut kept = Dims::new();
    for (&size, &d) in from.iter().zip(&map).filter(|(size, _)| **size != 1) {
        let outer = before(&middle, index(d)?)?;
        let same = |k: &usize| to.get(*k) == Some(&size) && before(&to, *k) == Some(outer);
        kept.push((0..to.len()).find(same)? as i64);
    }
    let x = cx.reshaped(x, &without_ones(&from))?;
    Some(cx.add_same_shape(Op::broadcast(kept), &[x]))
}

/// Returns the operand and the permutation of a transpose.
fn transpose_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, Dims)> {
    let Op::Transpose(a) = &cx.module[id].op else { return None };
    Some((cx.operand(id, 0)?, a.dimensions.clone()))
}

/// Rewrites a transpose that keeps the order of the elements.
fn transpose_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, permutation) = transpose_parts(cx, id)?;
    let from = cx.array(x)?.dims;
    cx.array(id)?;
    let moved: Vec<i64> = permutation
        .iter()
        .copied()
        .filter(|&d| usize::try_from(d).ok().and_then(|d| from.get(d)) != Some(&1))
        .collect();
    moved.is_sorted().then(|| cx.add_same_shape(Op::reshape(), &[x]))
}
