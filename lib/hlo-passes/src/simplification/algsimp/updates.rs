//! Patterns on dynamic-slice, dynamic-update-slice, gather and scatter.

use super::progression::progression;
use super::shape::repeated;
use crate::support::constants::scalar_integer;
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::attr::{PaddingDim, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{Dims, InstrId, Op, Opcode};

const UPDATE: &[Opcode] = &[Opcode::DynamicUpdateSlice];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "dynamic-update-slice-pad",
        "dynamic-update-slice(broadcast(v), u, i) → pad(u, v) for a scalar v and constant i",
        UPDATE,
        update_pad,
    ),
    Pattern::new(
        "gather-nothing",
        "gather(x, i) of empty windows → zeros",
        &[Opcode::Gather],
        gather_nothing,
    ),
    Pattern::new(
        "gather-slice",
        "gather(x, i) of whole windows at i = start, start + step, … inside x → slice(x)",
        &[Opcode::Gather],
        gather_slice,
    ),
    Pattern::new(
        "gather-broadcast",
        "gather(broadcast(v)) → broadcast(v) for a scalar v",
        &[Opcode::Gather],
        gather_broadcast,
    ),
    Pattern::new(
        "gather-whole",
        "gather(x, i) of windows as large as x → broadcast(x)",
        &[Opcode::Gather],
        gather_whole,
    ),
    Pattern::new(
        "scatter-nothing",
        "scatter(x, i, u) of an empty u → x",
        &[Opcode::Scatter],
        scatter_nothing,
    ),
];

/// Returns whether a value moves to host memory. The array that it is written to determines its destination
/// and must stay.
fn moves_to_host_memory(cx: &Cx<'_>, id: InstrId) -> bool {
    const MAX_STEPS: usize = 4;
    let mut at = id;
    for _ in 0..MAX_STEPS {
        match (&cx.module[at].op, cx.operand(at, 0)) {
            (Op::CustomCall(a), _) => return a.custom_call_target == "MoveToHost",
            (Op::Bitcast | Op::Copy | Op::Reshape(_), Some(x)) => at = x,
            _ => return false,
        }
    }
    false
}

/// Rewrites an update of an array of equal elements at a known start as a pad. The start is clamped as at run
/// time.
fn update_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, update) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let value = repeated(cx, x).filter(|_| !moves_to_host_memory(cx, update))?;
    let (whole, window) = (cx.array(id)?.dims, cx.array(update)?.dims);
    let mut padding = Vec::with_capacity(whole.len());
    for (d, (&size, &taken)) in whole.iter().zip(&window).enumerate() {
        let room = size.checked_sub(taken)?;
        let start = if room == 0 { 0 } else { scalar_integer(cx.module, cx.operand(id, d + 2)?)? };
        let low = start.clamp(0, room.into()) as i64;
        padding.push(PaddingDim { low, high: room - low, interior: 0 });
    }
    Some(cx.add_same_shape(Op::pad(padding), &[update, value]))
}

fn gather_nothing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Gather(a) = &cx.module[id].op else { return None };
    if !a.reads_nothing() {
        return None;
    }
    let shape = cx.array(id)?;
    cx.splat(&shape, &vec![0; shape.element_type.byte_size()])
}

/// Rewrites a gather of windows with one index along a dimension and all elements of the others, if the
/// indices form an increasing progression.
fn gather_slice(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Gather(a) = cx.module[id].op.clone() else { return None };
    let (x, indices) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let &[d] = a.start_index_map.as_slice() else { return None };
    let d = index(d)?;
    let whole = from.dims.iter().zip(&a.slice_sizes).enumerate().all(|(k, (n, s))| k == d || n == s);
    if !whole || a.reads_nothing() || a.slice_sizes.get(d) != Some(&1) || !a.operand_batching_dims.is_empty()
    {
        return None;
    }
    let p = progression(cx, indices, 8)?;
    let size = i128::from(*from.dims.get(d)?);
    let last = p.start.checked_add(p.step.checked_mul(p.count - 1)?)?;
    if p.count < 1 || p.start < 0 || last >= size || p.step < 1 || to.element_count() == 0 {
        return None;
    }
    let order = result_order(&a.offset_dims, &a.collapsed_slice_dims, d, from.rank(), to.rank())?;
    let mut ranges: Vec<SliceDim> =
        from.dims.iter().map(|&n| SliceDim { start: 0, limit: n, stride: 1 }).collect();
    *ranges.get_mut(d)? = SliceDim {
        start: i64::try_from(p.start).ok()?,
        limit: i64::try_from(last + 1).ok()?,
        stride: if p.count == 1 { 1 } else { i64::try_from(p.step).ok()? },
    };
    let mut value = cx.slice(x, ranges)?;
    if !order.is_sorted() {
        let sizes = cx.array(value)?.dims;
        let dims: Dims = order.iter().map(|&k| sizes.get(k).copied()).collect::<Option<_>>()?;
        let shape = hlo_ir::ArrayShape::new(from.element_type, dims);
        value = cx.add(shape, Op::transpose(order.iter().map(|&k| k as i64)), &[value]);
    }
    cx.reshaped(value, &to.dims)
}

/// Returns the operand's dimensions in the order of the result, with `d` at the position of the batch
/// dimensions. Returns `None` if these are not adjacent.
fn result_order(
    offset_dims: &[i64],
    collapsed: &[i64],
    d: usize,
    rank: usize,
    result_rank: usize,
) -> Option<Vec<usize>> {
    let batch: Vec<usize> = (0..result_rank).filter(|k| !offset_dims.contains(&(*k as i64))).collect();
    let first = batch.first().copied().unwrap_or(0);
    if batch.iter().enumerate().any(|(n, &k)| k != first + n) || !offset_dims.is_sorted() {
        return None;
    }
    let kept = (0..rank).filter(|k| !collapsed.contains(&(*k as i64)));
    let before: Vec<usize> = kept.take(first).filter(|&k| k != d).collect();
    let after = (0..rank).filter(|k| *k != d && !before.contains(k));
    Some(before.iter().copied().chain([d]).chain(after).collect())
}

/// Rewrites a gather from an array of equal elements.
fn gather_broadcast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    if matches!(&cx.module[id].op, Op::Gather(a) if a.reads_nothing()) {
        return None;
    }
    let value = repeated(cx, cx.operand(id, 0)?)?;
    cx.array(id)?;
    Some(cx.add_same_shape(Op::broadcast([]), &[value]))
}

/// Rewrites a gather of the whole operand: the window starts at 0 for every index.
fn gather_whole(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Gather(a) = cx.module[id].op.clone() else { return None };
    let x = cx.operand(id, 0)?;
    let sizes = cx.array(x)?.dims;
    cx.array(id)?;
    if a.reads_nothing()
        || a.slice_sizes != sizes
        || !a.operand_batching_dims.is_empty()
        || !a.offset_dims.is_sorted()
    {
        return None;
    }
    let kept = (0..sizes.len()).filter(|&d| !a.collapsed_slice_dims.contains(&(d as i64)));
    let dims: Dims = kept.filter_map(|d| sizes.get(d).copied()).collect();
    let window = cx.reshaped(x, &dims)?;
    Some(cx.add_same_shape(Op::broadcast(a.offset_dims), &[window]))
}

/// Rewrites a scatter without updates.
fn scatter_nothing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let operands = cx.module[id].operands.to_vec();
    let n = operands.len() / 2;
    let empty = |cx: &Cx<'_>, o: &InstrId| cx.array(*o).is_some_and(|a| a.dims.contains(&0));
    let updates = operands.get(n + 1..)?;
    if updates.is_empty() || !updates.iter().all(|u| empty(cx, u)) {
        return None;
    }
    match operands.get(..n)? {
        [x] => Some(*x),
        several => Some(cx.add_same_shape(Op::Tuple, several)),
    }
}
