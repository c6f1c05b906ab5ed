//! Patterns on concatenate and pad.

use super::shape::{broadcast_parts, repeated};
use super::slice::slice_parts;
use crate::support::constants::splat;
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::attr::{PaddingDim, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op, Opcode};

const CONCATENATE: &[Opcode] = &[Opcode::Concatenate];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "concatenate-slices",
        "concatenate(…, slice(x), slice(x), …) of adjacent ranges → concatenate(…, slice(x), …), or slice(x) if no others are left",
        CONCATENATE,
        concatenate_slices,
    ),
    Pattern::new(
        "concatenate-broadcasts",
        "concatenate(broadcast(x), broadcast(x)) along a new dimension → broadcast(x)",
        CONCATENATE,
        concatenate_broadcasts,
    ),
    Pattern::new(
        "concatenate-same",
        "concatenate(x, x, …) along a dimension of size 1 → broadcast(x)",
        CONCATENATE,
        concatenate_same,
    ),
    Pattern::new(
        "concatenate-pad",
        "concatenate(x, broadcast(v)) → pad(x, v) for a scalar v; also in front of x, and on both sides",
        CONCATENATE,
        concatenate_pad,
    ),
    Pattern::new(
        "slice-concatenate-some",
        "slice(concatenate(x, y, z)) without elements of some operands → slice of the concatenate without these operands",
        &[Opcode::Slice],
        slice_concatenate_some,
    ),
];

/// Returns the dimension and the operands of a concatenation with several operands.
fn parts(cx: &Cx<'_>, id: InstrId) -> Option<(usize, Vec<InstrId>)> {
    let Op::Concatenate(a) = &cx.module[id].op else { return None };
    let operands = cx.module[id].operands.to_vec();
    (operands.len() > 1).then_some(())?;
    Some((index(a.dimension())?, operands))
}

/// An operand. If it is a slice, also the sliced array and the range of the slice and its neighbors.
type Joined = (InstrId, Option<(InstrId, Vec<SliceDim>)>);

/// Combines adjacent slices of one array.
fn concatenate_slices(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (d, operands) = parts(cx, id)?;
    cx.array(id)?;
    let mut joined: Vec<Joined> = Vec::with_capacity(operands.len());
    for &next in &operands {
        let part = slice_parts(cx, next).filter(|(x, _)| cx.array(*x).is_some());
        if let (Some((x, ranges)), Some((_, Some((before, whole))))) = (&part, joined.last_mut())
            && x == before
            && let Some(limit) = continued(whole, ranges, d)
        {
            whole.get_mut(d)?.limit = limit;
            continue;
        }
        joined.push((next, part));
    }
    if joined.len() == operands.len() {
        return None;
    }
    if let [(_, Some((x, whole)))] = joined.as_slice() {
        let (x, whole) = (*x, whole.clone());
        return Some(cx.add_same_shape(Op::slice(whole), &[x]));
    }
    let mut fewer = Vec::with_capacity(joined.len());
    for (operand, part) in joined {
        fewer.push(match part {
            Some((x, whole)) if slice_parts(cx, operand)?.1 != whole => cx.slice(x, whole)?,
            _ => operand,
        });
    }
    let op = cx.module[id].op.clone();
    Some(cx.add_same_shape(op, &fewer))
}

/// Returns the limit of `next` along the dimension, if it continues `whole` and all other ranges are equal.
fn continued(whole: &[SliceDim], next: &[SliceDim], d: usize) -> Option<i64> {
    let (a, b) = (whole.get(d)?, next.get(d)?);
    let others = whole.iter().zip(next).enumerate().all(|(k, (a, b))| k == d || a == b);
    (others && a.limit == b.start && a.stride == 1 && b.stride == 1).then_some(b.limit)
}

/// Combines adjacent broadcasts of the same value.
fn concatenate_broadcasts(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (d, operands) = parts(cx, id)?;
    cx.array(id)?;
    let (&first, rest) = operands.split_first()?;
    let (x, _, map, _) = broadcast_parts(cx, first)?;
    for &next in rest {
        let (other, _, also, _) = broadcast_parts(cx, next)?;
        if other != x || also != map {
            return None;
        }
    }
    (!map.contains(&(d as i64))).then(|| cx.add_same_shape(Op::broadcast(map), &[x]))
}

/// Rewrites a concatenation of the same array along a dimension of size 1 to a broadcast.
fn concatenate_same(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (d, operands) = parts(cx, id)?;
    let &x = operands.first()?;
    let mut dims = cx.array(x)?.dims;
    cx.array(id)?;
    if dims.get(d) != Some(&1) || operands.iter().any(|&o| o != x) {
        return None;
    }
    let map: Vec<i64> = (0..dims.len() as i64).filter(|&k| k != d as i64).collect();
    dims.remove(d);
    let narrow = cx.reshaped(x, &dims)?;
    Some(cx.add_same_shape(Op::broadcast(map), &[narrow]))
}

/// Returns whether two scalars are equal, bit for bit.
fn same_scalar(cx: &Cx<'_>, a: InstrId, b: InstrId) -> bool {
    a == b || splat(cx.module, a).is_some_and(|v| splat(cx.module, b) == Some(v))
}

/// Rewrites an operand with equal elements at one or both ends to padding.
fn concatenate_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (d, operands) = parts(cx, id)?;
    let rank = cx.array(id)?.rank();
    let size = |cx: &Cx<'_>, o: InstrId| cx.array(o)?.dims.get(d).copied();
    let (low, x, high) = match *operands.as_slice() {
        [a, b] if repeated(cx, b).is_some() => (None, a, Some(b)),
        [a, b] => (Some(a), b, None),
        [a, b, c] => (Some(a), b, Some(c)),
        _ => return None,
    };
    if repeated(cx, x).is_some() {
        return None;
    }
    let mut value: Option<InstrId> = None;
    let mut padding = PaddingDim::default();
    for (side, amount) in [(low, &mut padding.low), (high, &mut padding.high)] {
        let Some(side) = side else { continue };
        let scalar = repeated(cx, side)?;
        if value.is_some_and(|v| !same_scalar(cx, v, scalar)) {
            return None;
        }
        (value, *amount) = (Some(scalar), size(cx, side)?);
    }
    let mut all = vec![PaddingDim::default(); rank];
    *all.get_mut(d)? = padding;
    Some(cx.add_same_shape(Op::pad(all), &[x, value?]))
}

/// Removes operands outside of the slice. If the slice is inside one operand, `slice-concatenate` handles it.
fn slice_concatenate_some(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (concatenate, mut slice) = slice_parts(cx, id)?;
    let (d, operands) = parts(cx, concatenate)?;
    let mut dims = cx.array(concatenate)?.dims;
    let range = *slice.get(d)?;
    if range.limit <= range.start || !cx.used_only_by(concatenate, id) {
        return None;
    }
    let (mut start, mut skipped, mut kept) = (0, 0, Vec::new());
    for &o in &operands {
        let size = *cx.array(o)?.dims.get(d)?;
        if start + size <= range.start {
            skipped += size;
        } else if start < range.limit {
            kept.push(o);
        }
        start += size;
    }
    if kept.len() < 2 || kept.len() == operands.len() {
        return None;
    }
    let sizes: Option<Vec<i64>> = kept.iter().map(|&o| cx.array(o)?.dims.get(d).copied()).collect();
    *dims.get_mut(d)? = sizes?.iter().sum();
    let shape = hlo_ir::ArrayShape::new(cx.element_type(id)?, dims);
    let op = cx.module[concatenate].op.clone();
    let fewer = cx.add(shape, op, &kept);
    *slice.get_mut(d)? = SliceDim { start: range.start - skipped, limit: range.limit - skipped, ..range };
    Some(cx.add_same_shape(Op::slice(slice), &[fewer]))
}
