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
    Pattern::new("pad-pad", "pad(pad(x, v), v) → pad(x, v)", &[Opcode::Pad], pad_pad),
    Pattern::new("pad-empty", "pad(x, v) of an empty x → broadcast(v)", &[Opcode::Pad], pad_empty),
    Pattern::new(
        "slice-pad",
        "slice(pad(x, v)) inside x → slice(x); inside the padding → broadcast(v)",
        &[Opcode::Slice],
        slice_pad,
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

/// Returns the operand, the value and the padding of a pad.
fn pad_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId, Vec<PaddingDim>)> {
    let Op::Pad(a) = &cx.module[id].op else { return None };
    Some((cx.operand(id, 0)?, cx.operand(id, 1)?, a.padding.clone()))
}

/// Combines nested pads with the same value. The inner one must not remove elements, and the outer one must
/// not add interior padding.
fn pad_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (inner, outer_value, outer) = pad_parts(cx, id)?;
    let (x, value, padding) = pad_parts(cx, inner)?;
    cx.array(x)?;
    cx.array(id)?;
    if !same_scalar(cx, value, outer_value) || padding.len() != outer.len() {
        return None;
    }
    let mut both = Vec::with_capacity(outer.len());
    for (i, o) in padding.iter().zip(&outer) {
        if i.low < 0 || i.high < 0 || o.interior != 0 {
            return None;
        }
        both.push(PaddingDim {
            low: i.low.checked_add(o.low)?,
            high: i.high.checked_add(o.high)?,
            interior: i.interior,
        });
    }
    // The outer pad must only remove elements that the inner one added.
    let cut_only_padding = both.iter().all(|p| p.low >= 0 && p.high >= 0);
    cut_only_padding.then(|| cx.add_same_shape(Op::pad(both), &[x, value]))
}

/// Rewrites a pad of an empty array, whose result is only padding.
fn pad_empty(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, value, _) = pad_parts(cx, id)?;
    cx.array(id)?;
    cx.array(x)?.dims.contains(&0).then(|| cx.add_same_shape(Op::broadcast([]), &[value]))
}

/// Rewrites a slice of a pad, if it contains only elements of the array, or only padding along one dimension.
fn slice_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (pad, mut slice) = slice_parts(cx, id)?;
    let (x, value, padding) = pad_parts(cx, pad)?;
    let sizes = cx.array(x)?.dims;
    cx.array(id)?;
    let mut inside = true;
    for ((range, p), &size) in slice.iter_mut().zip(&padding).zip(&sizes) {
        if range.start >= range.limit || range.stride < 1 || p.interior < 0 {
            return None;
        }
        // Every selected position must contain an element of the array.
        let step = p.interior.checked_add(1)?;
        let steps = (range.limit - 1).checked_sub(range.start)? / range.stride;
        let stride = if steps == 0 { step } else { range.stride };
        let first = range.start.checked_sub(p.low)?;
        if stride % step != 0 {
            return None;
        }
        let (start, stride) = (first.div_euclid(step), stride / step);
        let last = start.checked_add(steps.checked_mul(stride)?)?;
        if first.rem_euclid(step) != 0 || last < 0 || start >= size {
            return Some(cx.add_same_shape(Op::broadcast([]), &[value]));
        }
        inside &= start >= 0 && last < size;
        *range = SliceDim { start, limit: last.checked_add(1)?, stride };
    }
    inside.then(|| cx.add_same_shape(Op::slice(slice), &[x]))
}
