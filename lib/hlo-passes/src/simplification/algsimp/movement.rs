//! Patterns that take a slice or a reverse past the operation before it: less is moved.

use super::shape::broadcast_parts;
use crate::support::rewrite::{Cx, Pattern, broadcast_op, index, reshape_op, transpose_op};
use hlo_ir::attr::{DimensionsAttrs, SliceDim};
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

const SLICE: &[Opcode] = &[Opcode::Slice];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("slice-reverse", "slice(reverse(x)) → reverse(slice(x))", SLICE, slice_reverse),
    Pattern::new(
        "slice-reshape",
        "slice(reshape(x)) → reshape(slice(x)) where what the reshape splits or joins is taken whole, but for its first dimension",
        SLICE,
        slice_reshape,
    ),
    Pattern::new("slice-transpose", "slice(transpose(x)) → transpose(slice(x))", SLICE, slice_transpose),
    Pattern::new("slice-reduce", "slice(reduce(x)) → reduce(slice(x))", SLICE, slice_reduce),
    Pattern::new(
        "reverse-broadcast",
        "reverse(broadcast(x)) along repeated dimensions → broadcast(x)",
        &[Opcode::Reverse],
        reverse_broadcast,
    ),
    Pattern::new(
        "reverse-mixed",
        "reverse(reverse(x)) of other dimensions → reverse(x) of those in one of both",
        &[Opcode::Reverse],
        reverse_mixed,
    ),
];

/// The operand of a slice that nothing else uses, and the ranges.
fn slice_of(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, Vec<SliceDim>)> {
    let Op::Slice(a) = &cx.module[id].op else { return None };
    let x = cx.operand(id, 0)?;
    // An empty range may start outside.
    let some = a.slice.iter().all(|r| 0 <= r.start && r.start < r.limit && r.stride > 0);
    (some && cx.array(id).is_some() && cx.used_only_by(x, id)).then(|| (x, a.slice.clone()))
}

/// The same elements, counted from the other end.
fn slice_reverse(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (reverse, mut ranges) = slice_of(cx, id)?;
    let Op::Reverse(a) = cx.module[reverse].op.clone() else { return None };
    let x = cx.operand(reverse, 0)?;
    let sizes = cx.array(x)?.dims;
    for &d in &a.dimensions {
        let (range, &size) = (ranges.get_mut(index(d)?)?, sizes.get(index(d)?)?);
        // From the last element taken to the first.
        let steps = (range.limit - 1 - range.start) / range.stride;
        let last = range.start + steps * range.stride;
        let (start, limit) = (size.checked_sub(last + 1)?, size.checked_sub(range.start)?);
        *range = SliceDim { start, limit, stride: range.stride };
    }
    let part = cx.slice(x, ranges)?;
    Some(cx.instead(Op::Reverse(a), &[part]))
}

/// What has the same elements on both sides of the reshape is taken as it was, or from its first dimension a part.
fn slice_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (reshape, ranges) = slice_of(cx, id)?;
    if cx.opcode(reshape) != Opcode::Reshape {
        return None;
    }
    let x = cx.operand(reshape, 0)?;
    let (from, to) = (cx.array(x)?.dims, cx.array(reshape)?.dims);
    let mut inner: Vec<SliceDim> =
        from.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
    for (before, after) in groups(&from, &to)? {
        // (size, range) of those of more than one element.
        let after: Vec<(i64, SliceDim)> =
            after.iter().map(|&d| Some((*to.get(d)?, *ranges.get(d)?))).collect::<Option<_>>()?;
        let is_whole =
            |(size, range): &(i64, SliceDim)| *range == SliceDim { start: 0, limit: *size, stride: 1 };
        if after.iter().all(is_whole) {
            continue;
        }
        let (&first, rest) = before.split_first()?;
        if let (&[(_, range)], []) = (after.as_slice(), rest) {
            *inner.get_mut(first)? = range;
            continue;
        }
        let (&(_, range), others) = after.split_first()?;
        if range.stride != 1 || !others.iter().all(is_whole) {
            return None;
        }
        // The elements for each step of the first dimension, on either side.
        let step: i64 = others.iter().map(|o| o.0).product();
        let unit: i64 = rest.iter().filter_map(|&d| from.get(d)).product();
        let (start, limit) = (range.start * step, range.limit * step);
        if start % unit != 0 || limit % unit != 0 {
            return None;
        }
        *inner.get_mut(first)? = SliceDim { start: start / unit, limit: limit / unit, stride: 1 };
    }
    let part = cx.slice(x, inner)?;
    Some(cx.instead(reshape_op(), &[part]))
}

/// Dimensions before a reshape, and those after it that have the same elements.
type Group = (Vec<usize>, Vec<usize>);

/// The dimensions of both sides of a reshape in groups, as few in each as there can be, without those of size 1. Each
/// product of sizes is one of elements that there are.
fn groups(from: &[i64], to: &[i64]) -> Option<Vec<Group>> {
    let places = |dims: &[i64]| -> Vec<usize> { (0..dims.len()).filter(|&d| dims[d] != 1).collect() };
    if from.iter().chain(to).any(|&size| size < 1) {
        return None;
    }
    let (before, after) = (places(from), places(to));
    let (mut f, mut t) = (before.iter(), after.iter());
    let mut found = Vec::new();
    while let Some(&first) = f.next() {
        let mut group = (vec![first], vec![*t.next()?]);
        let (mut n, mut m) = (from[first], to[group.1[0]]);
        while n != m {
            let (side, at, sizes, list) = if n < m {
                (&mut n, f.next()?, from, &mut group.0)
            } else {
                (&mut m, t.next()?, to, &mut group.1)
            };
            *side = side.checked_mul(sizes[*at])?;
            list.push(*at);
        }
        found.push(group);
    }
    t.next().is_none().then_some(found)
}

/// The ranges in the operand's order.
fn slice_transpose(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (transpose, ranges) = slice_of(cx, id)?;
    let Op::Transpose(a) = cx.module[transpose].op.clone() else { return None };
    let x = cx.operand(transpose, 0)?;
    let mut inner = vec![SliceDim { start: 0, limit: 0, stride: 1 }; ranges.len()];
    for (range, &d) in ranges.iter().zip(&a.dimensions) {
        *inner.get_mut(index(d)?)? = *range;
    }
    let part = cx.slice(x, inner)?;
    Some(cx.instead(transpose_op(a.dimensions), &[part]))
}

/// Elements of a reduction are independent of each other.
fn slice_reduce(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (reduce, ranges) = slice_of(cx, id)?;
    let Op::Reduce(a) = cx.module[reduce].op.clone() else { return None };
    let &[x, init] = cx.module[reduce].operands.as_slice() else { return None };
    let mut kept = ranges.into_iter();
    let mut inner = Vec::new();
    for (d, &size) in cx.array(x)?.dims.iter().enumerate() {
        let whole = SliceDim { start: 0, limit: size, stride: 1 };
        inner.push(if a.dimensions.contains(&(d as i64)) { whole } else { kept.next()? });
    }
    let part = cx.slice(x, inner)?;
    Some(cx.instead(Op::Reduce(a), &[part, init]))
}

/// What is repeated is the same from either end.
fn reverse_broadcast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Reverse(a) = cx.module[id].op.clone() else { return None };
    let broadcast = cx.operand(id, 0)?;
    let (x, from, map, _) = broadcast_parts(cx, broadcast)?;
    cx.array(id)?;
    let mut inner = Dims::new();
    for &d in &a.dimensions {
        if let Some(k) = map.iter().position(|&m| m == d) {
            inner.push(k as i64);
        }
    }
    if inner.is_empty() {
        return Some(broadcast);
    }
    if !cx.used_only_by(broadcast, id) || inner.len() == map.len() && from.len() == cx.array(id)?.rank() {
        return None;
    }
    let shape = ArrayShape::new(cx.element_type(x)?, from);
    let x = cx.add(shape, Op::Reverse(DimensionsAttrs { dimensions: inner }), &[x]);
    Some(cx.instead(broadcast_op(map), &[x]))
}

/// Dimensions that are reversed twice are as they were.
fn reverse_mixed(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Reverse(outer) = cx.module[id].op.clone() else { return None };
    let inner = cx.operand(id, 0)?;
    let Op::Reverse(a) = cx.module[inner].op.clone() else { return None };
    let x = cx.operand(inner, 0)?;
    let once = |these: &Dims, those: &Dims| -> Dims {
        these.iter().copied().filter(|d| !those.contains(d)).collect()
    };
    let mut dimensions = once(&outer.dimensions, &a.dimensions);
    dimensions.extend(once(&a.dimensions, &outer.dimensions));
    dimensions.sort_unstable();
    // None left: `reverse-reverse`.
    (!dimensions.is_empty()).then(|| cx.instead(Op::Reverse(DimensionsAttrs { dimensions }), &[x]))
}
