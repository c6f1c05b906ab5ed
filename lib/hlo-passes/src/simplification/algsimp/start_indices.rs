//! Patterns on the starts and operands of dynamic-slice and dynamic-update-slice.

use super::iota::has_all;
use super::progression::progression;
use crate::support::constants::{is_splat_integer, wide_integer_bytes};
use crate::support::rewrite::{Cx, Pattern, without_ones};
use hlo_ir::attr::DynamicSliceAttrs;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode, Shape};

const SLICE: &[Opcode] = &[Opcode::DynamicSlice];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "dynamic-start-zero",
        "dynamic-slice, dynamic-update-slice of a whole dimension → the same with start 0 in that dimension",
        &[Opcode::DynamicSlice, Opcode::DynamicUpdateSlice],
        start_zero,
    ),
    Pattern::new(
        "dynamic-slice-iota",
        "dynamic-slice(iota(), i) of one element → clamp(0, i, size - 1); also for constants of evenly spaced elements",
        SLICE,
        dynamic_slice_iota,
    ),
    Pattern::new(
        "dynamic-slice-reshape",
        "dynamic-slice(reshape(x)) → reshape(dynamic-slice(x)), if the reshape only adds or drops dimensions of size 1",
        SLICE,
        dynamic_slice_reshape,
    ),
];

/// Returns the starts of a window, one scalar per dimension.
pub(super) fn starts(cx: &Cx<'_>, id: InstrId, rank: usize) -> Option<Vec<InstrId>> {
    let first = if cx.opcode(id) == Opcode::DynamicSlice { 1 } else { 2 };
    let starts = cx.module[id].operands.get(first..)?.to_vec();
    let scalars = starts.iter().all(|&s| cx.module[s].shape.is_scalar());
    (starts.len() == rank && scalars).then_some(starts)
}

/// Emits a dynamic slice with these sizes.
pub(super) fn window(cx: &mut Cx<'_>, x: InstrId, starts: &[InstrId], sizes: &[i64]) -> Option<InstrId> {
    let shape = ArrayShape::new(cx.element_type(x)?, sizes.iter().copied());
    let attrs = DynamicSliceAttrs { dynamic_slice_sizes: sizes.iter().copied().collect() };
    let operands: Vec<InstrId> = std::iter::once(x).chain(starts.iter().copied()).collect();
    Some(cx.add(shape, Op::DynamicSlice(attrs), &operands))
}

/// Emits a scalar integer constant.
fn number(cx: &mut Cx<'_>, ty: hlo_ir::ElementType, value: i128) -> Option<InstrId> {
    cx.splat(&ArrayShape::new(ty, []), &wide_integer_bytes(ty, value)?)
}

/// Rewrites the start to 0 in dimensions where the window has the size of the operand: the start is clamped
/// to 0.
fn start_zero(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let whole = cx.array(cx.operand(id, 0)?)?.dims;
    let sizes = match cx.opcode(id) {
        Opcode::DynamicSlice => cx.array(id)?.dims,
        _ => cx.array(cx.operand(id, 1)?)?.dims,
    };
    let starts = starts(cx, id, whole.len())?;
    let mut operands = cx.module[id].operands.to_vec();
    let first = operands.len() - starts.len();
    let mut changed = false;
    for (d, (size, taken)) in whole.iter().zip(&sizes).enumerate() {
        let start = operands.get_mut(first + d)?;
        if size == taken && !is_splat_integer(cx.module, *start, 0) {
            *start = number(cx, cx.element_type(*start)?, 0)?;
            changed = true;
        }
    }
    let op = cx.module[id].op.clone();
    changed.then(|| cx.add_same_shape(op, &operands))
}

/// Rewrites a slice of an iota or progression: the element follows from its index.
fn dynamic_slice_iota(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let (&[size], &[1]) = (from.dims.as_slice(), to.dims.as_slice()) else { return None };
    let &[at] = starts(cx, id, 1)?.as_slice() else { return None };
    let ty = from.element_type;
    let (start, step) = match cx.module[x].op {
        Op::Iota(_) if has_all(ty, size - 1) => (0, 1),
        _ if ty.is_integer() => progression(cx, x, 8).map(|p| (p.start, p.step))?,
        _ => return None,
    };
    let place = cx.element_type(at)?;
    let (low, high) = (number(cx, place, 0)?, number(cx, place, i128::from(size) - 1)?);
    let mut value = cx.add(Shape::scalar(place), Op::Clamp, &[low, at, high]);
    if place != ty {
        value = cx.add(Shape::scalar(ty), Op::Convert, &[value]);
    }
    // Both operations wrap, so the final value is the same.
    for (op, by, neutral) in [(Op::Multiply, step, 1), (Op::Add, start, 0)] {
        if by != neutral {
            let by = number(cx, ty, by)?;
            value = cx.add(Shape::scalar(ty), op, &[value, by]);
        }
    }
    Some(cx.add_same_shape(Op::reshape(), &[value]))
}

/// Moves a dynamic slice before a reshape that only adds or removes dimensions of size 1. There the start is
/// 0.
fn dynamic_slice_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let reshape = cx.operand(id, 0).filter(|&r| cx.opcode(r) == Opcode::Reshape && cx.used_only_by(r, id))?;
    let x = cx.operand(reshape, 0)?;
    let (from, to, sizes) = (cx.array(x)?.dims, cx.array(reshape)?.dims, cx.array(id)?.dims);
    let outer = starts(cx, id, to.len())?;
    if without_ones(&from) != without_ones(&to) || sizes.contains(&0) {
        return None;
    }
    let zero = number(cx, cx.element_type(*outer.first()?)?, 0)?;
    let mut real = to.iter().zip(outer.iter().zip(&sizes)).filter(|(n, _)| **n != 1).map(|(_, w)| w);
    let (mut inner, mut taken) = (Vec::with_capacity(from.len()), Dims::new());
    for &size in &from {
        let (start, size) = if size == 1 { (zero, 1) } else { real.next().map(|(s, n)| (*s, *n))? };
        inner.push(start);
        taken.push(size);
    }
    let part = window(cx, x, &inner, &taken)?;
    Some(cx.add_same_shape(Op::reshape(), &[part]))
}
