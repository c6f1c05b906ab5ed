//! Patterns on slice, pad, concatenate, dynamic-slice and dynamic-update-slice.

use crate::support::constants::splat;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::SliceDim;
use hlo_ir::{InstrId, Op, Opcode};
use std::collections::HashMap;

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "slice-concatenate",
        "slice(concatenate(…, x, …)) inside x → slice(x)",
        &[Opcode::Slice],
        slice_concatenate,
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
];

/// Returns the operand and the ranges of a slice.
pub(super) fn slice_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, Vec<SliceDim>)> {
    let Op::Slice(a) = &cx.module[id].op else { return None };
    Some((cx.operand(id, 0)?, a.slice.clone()))
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
