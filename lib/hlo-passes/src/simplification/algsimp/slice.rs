//! Patterns on slice, pad, concatenate, dynamic-slice and dynamic-update-slice.

use crate::support::constants::{scalar_integer, splat};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::SliceDim;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};
use std::collections::HashMap;

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("slice-full", "slice(x) of all elements → x", &[Opcode::Slice], slice_full),
    Pattern::new("slice-slice", "slice(slice(x)) → slice(x)", &[Opcode::Slice], slice_slice),
    Pattern::new(
        "slice-concatenate",
        "slice(concatenate(…, x, …)) inside x → slice(x)",
        &[Opcode::Slice],
        slice_concatenate,
    ),
    Pattern::new(
        "slice-broadcast",
        "slice(broadcast(x)) → broadcast(slice(x))",
        &[Opcode::Slice],
        slice_broadcast,
    ),
    Pattern::new(
        "slice-stride",
        "slice(x) of one element along a dimension → slice(x) with stride 1 in that dimension",
        &[Opcode::Slice],
        slice_stride,
    ),
    Pattern::new("pad-nothing", "pad(x) without padding → x", &[Opcode::Pad], pad_nothing),
    Pattern::new(
        "pad-interior",
        "pad(x) with interior padding of a dimension of size 1 → pad(x) without it",
        &[Opcode::Pad],
        pad_interior,
    ),
    Pattern::new(
        "pad-negative",
        "pad(x) that only removes elements → slice(x)",
        &[Opcode::Pad],
        pad_negative,
    ),
    Pattern::new("pad-same-value", "pad(broadcast(v), v) → broadcast(v)", &[Opcode::Pad], pad_same_value),
    Pattern::new(
        "concatenate-one",
        "concatenate(x) → x; empty operands are dropped",
        &[Opcode::Concatenate],
        concatenate_one,
    ),
    Pattern::new(
        "concatenate-concatenate",
        "concatenate(concatenate(x, y), z) → concatenate(x, y, z)",
        &[Opcode::Concatenate],
        concatenate_concatenate,
    ),
    Pattern::new(
        "dynamic-slice-full",
        "dynamic-slice(x) of all elements → x",
        &[Opcode::DynamicSlice],
        dynamic_slice_full,
    ),
    Pattern::new(
        "dynamic-slice-constant",
        "dynamic-slice(x) at constant indices → slice(x)",
        &[Opcode::DynamicSlice],
        dynamic_slice_constant,
    ),
    Pattern::new(
        "dynamic-update-slice-full",
        "dynamic-update-slice(x, y) of all elements → y",
        &[Opcode::DynamicUpdateSlice],
        dynamic_update_slice_full,
    ),
];

/// Returns the operand and the ranges of a slice.
pub(super) fn slice_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, Vec<SliceDim>)> {
    let Op::Slice(a) = &cx.module[id].op else { return None };
    Some((cx.operand(id, 0)?, a.slice.clone()))
}

fn slice_full(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    // Ranges are in bounds, so equal sizes mean that all elements are selected.
    (cx.array(x)?.dims == cx.array(id)?.dims).then_some(x)
}

/// Rewrites the stride of a range with a single element to 1.
fn slice_stride(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, mut ranges) = slice_parts(cx, id)?;
    let mut changed = false;
    for (range, &taken) in ranges.iter_mut().zip(&cx.array(id)?.dims) {
        if taken == 1 && range.stride != 1 {
            *range = SliceDim { start: range.start, limit: range.start.checked_add(1)?, stride: 1 };
            changed = true;
        }
    }
    changed.then(|| cx.add_same_shape(Op::slice(ranges), &[x]))
}

/// Combines two consecutive slices.
fn slice_slice(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (inner, outer) = slice_parts(cx, id)?;
    let (x, first) = slice_parts(cx, inner)?;
    let sizes = cx.array(id)?.dims;
    let mut ranges = Vec::with_capacity(outer.len());
    for ((a, b), &size) in first.iter().zip(&outer).zip(&sizes) {
        if size == 0 {
            return None; // An empty slice may start out of bounds.
        }
        let start = a.start.checked_add(b.start.checked_mul(a.stride)?)?;
        let stride = a.stride.checked_mul(b.stride)?;
        // One past the last selected element, so that the limit is in bounds.
        let limit = start.checked_add((size - 1).checked_mul(stride)?)?.checked_add(1)?;
        ranges.push(SliceDim { start, limit, stride });
    }
    Some(cx.add_same_shape(Op::slice(ranges), &[x]))
}

/// Rewrites a slice that is inside one operand of a concatenation.
pub fn slice_concatenate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (concatenate, mut ranges) = slice_parts(cx, id)?;
    let Op::Concatenate(a) = &cx.module[concatenate].op else { return None };
    let dimension = usize::try_from(a.dimension()).ok()?;
    let range = *ranges.get(dimension)?;
    let starts = cx.concatenate_starts(concatenate, dimension)?;
    // The last operand that starts at or before the range contains its first element.
    let n = starts.partition_point(|&start| start <= range.start).checked_sub(1)?;
    let operand = cx.operand(concatenate, n)?;
    let (start, limit) = (*starts.get(n)?, *starts.get(n + 1)?);
    if range.limit <= range.start || range.limit > limit {
        return None;
    }
    let inside = SliceDim { start: range.start - start, limit: range.limit - start, ..range };
    *ranges.get_mut(dimension)? = inside;
    Some(cx.add_same_shape(Op::slice(ranges), &[operand]))
}

/// Moves a slice before a broadcast. For broadcast dimensions, only the size changes.
fn slice_broadcast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (broadcast, ranges) = slice_parts(cx, id)?;
    let Op::Broadcast(a) = cx.module[broadcast].op.clone() else { return None };
    let x = cx.operand(broadcast, 0)?;
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let mut inner = Vec::with_capacity(from.rank());
    let mut sizes = Dims::new();
    for &d in &a.dimensions {
        let d = usize::try_from(d).ok()?;
        inner.push(*ranges.get(d)?);
        sizes.push(*to.dims.get(d)?);
    }
    let x = if sizes == from.dims {
        x
    } else {
        cx.add(ArrayShape::new(from.element_type, sizes), Op::slice(inner), &[x])
    };
    Some(cx.add_same_shape(Op::broadcast(a.dimensions), &[x]))
}

fn pad_nothing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Pad(a) = &cx.module[id].op else { return None };
    let nothing = a.padding.iter().all(|p| p.low == 0 && p.high == 0 && p.interior == 0);
    nothing.then(|| cx.operand(id, 0)).flatten()
}

/// Removes interior padding from dimensions with fewer than two elements.
fn pad_interior(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Pad(a) = &cx.module[id].op else { return None };
    let mut padding = a.padding.clone();
    let (x, value) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let mut changed = false;
    for (p, &size) in padding.iter_mut().zip(&cx.array(x)?.dims) {
        changed |= size < 2 && p.interior != 0;
        p.interior = if size < 2 { 0 } else { p.interior };
    }
    cx.array(id)?;
    changed.then(|| cx.add_same_shape(Op::pad(padding), &[x, value]))
}

/// Rewrites a pad that only removes elements as a slice.
fn pad_negative(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Pad(a) = &cx.module[id].op else { return None };
    if !a.padding.iter().all(|p| p.low <= 0 && p.high <= 0 && p.interior == 0) {
        return None;
    }
    let padding = a.padding.clone();
    let x = cx.operand(id, 0)?;
    let mut ranges = Vec::with_capacity(padding.len());
    for (p, &size) in padding.iter().zip(&cx.array(x)?.dims) {
        let (start, limit) = (p.low.checked_neg()?, size.checked_add(p.high)?);
        if start > limit || limit > size {
            return None; // Both ends together remove more elements than there are.
        }
        ranges.push(SliceDim { start, limit, stride: 1 });
    }
    Some(cx.add_same_shape(Op::slice(ranges), &[x]))
}

/// Rewrites a pad with the value that all elements already have.
fn pad_same_value(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, value) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    cx.array(id)?;
    let same = match (splat(cx.module, x), splat(cx.module, value)) {
        (Some(a), Some(b)) => a == b,
        _ => cx.opcode(x) == Opcode::Broadcast && cx.operand(x, 0) == Some(value),
    };
    same.then(|| cx.add_same_shape(Op::broadcast([]), &[value]))
}

/// Removes operands without elements from a concatenation, or a concatenation of one operand.
fn concatenate_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Concatenate(a) = cx.module[id].op.clone() else { return None };
    let dimension = usize::try_from(a.dimension()).ok()?;
    let operands = cx.module[id].operands.clone();
    let mut kept = Vec::with_capacity(operands.len());
    for &o in &operands {
        if *cx.array(o)?.dims.get(dimension)? != 0 {
            kept.push(o);
        }
    }
    match kept.as_slice() {
        [] => operands.first().copied(),
        [one] => Some(*one),
        some if some.len() < operands.len() => Some(cx.add_same_shape(Op::Concatenate(a), some)),
        _ => None,
    }
}

/// Returns whether the concatenation `outer` can use the operands of `inner` directly. If `outer` contains
/// `inner` several times, it cannot, because each such level would double the number of operands.
fn is_nested(cx: &Cx<'_>, inner: InstrId, outer: InstrId) -> bool {
    const MAX_EXAMINED_OPERANDS: usize = 64;
    let (Op::Concatenate(a), Op::Concatenate(b)) = (&cx.module[inner].op, &cx.module[outer].op) else {
        return false;
    };
    let operands = &cx.module[outer].operands;
    // If there are very many operands, only the first ones are compared.
    let times = operands.iter().take(MAX_EXAMINED_OPERANDS).filter(|o| **o == inner).count();
    a.dimensions == b.dimensions && cx.used_only_by(inner, outer) && times < 2
}

/// Flattens nested concatenations along the same dimension. The outermost one takes the operands of all
/// levels at once. Flattening one level at a time would copy the operands of a long chain again and again.
pub fn concatenate_concatenate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Concatenate(a) = cx.module[id].op.clone() else { return None };
    if let &[user] = cx.module.users(id)
        && is_nested(cx, id, user)
    {
        return None;
    }
    let mut flat = Vec::new();
    let mut found = false;
    // Operands, each with the concatenation that contains it and whether it contains it once. The last
    // operand is first.
    let mut stack: Vec<(InstrId, Option<(InstrId, bool)>)> = vec![(id, None)];
    while let Some((o, outer)) = stack.pop() {
        if outer.is_some_and(|(outer, once)| !once || !is_nested(cx, o, outer)) {
            flat.push(o);
            continue;
        }
        found |= outer.is_some();
        let operands = &cx.module[o].operands;
        let mut times: HashMap<InstrId, u32> = HashMap::with_capacity(operands.len());
        operands.iter().for_each(|&x| *times.entry(x).or_default() += 1);
        stack.extend(operands.iter().rev().map(|&x| (x, Some((o, times[&x] == 1)))));
    }
    found.then(|| cx.add_same_shape(Op::Concatenate(a), &flat))
}

/// Rewrites a dynamic slice of the whole array, whose start is clamped to 0.
fn dynamic_slice_full(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    (cx.array(x)?.dims == cx.array(id)?.dims).then_some(x)
}

/// Rewrites a dynamic slice with a known start, which is clamped as at run time.
fn dynamic_slice_constant(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let mut ranges = Vec::with_capacity(from.rank());
    for (d, (&size, &taken)) in from.dims.iter().zip(&to.dims).enumerate() {
        let start = if size == taken { 0 } else { scalar_integer(cx.module, cx.operand(id, d + 1)?)? };
        let start = start.clamp(0, i128::from(size.checked_sub(taken)?)) as i64;
        ranges.push(SliceDim { start, limit: start + taken, stride: 1 });
    }
    Some(cx.add_same_shape(Op::slice(ranges), &[x]))
}

/// Rewrites an update of the whole array, whose start is clamped to 0.
fn dynamic_update_slice_full(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let update = cx.operand(id, 1)?;
    (cx.array(update)?.dims == cx.array(id)?.dims).then_some(update)
}
