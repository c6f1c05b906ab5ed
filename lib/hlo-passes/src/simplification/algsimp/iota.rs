//! Patterns on values computed from an iota, most of which are another iota.

use crate::support::constants::wide_integer_bytes;
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::{ElementType, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "iota-reshape",
        "reshape(iota()) that keeps the sizes around its dimension → iota()",
        &[Opcode::Reshape],
        iota_reshape,
    ),
    Pattern::new(
        "iota-slice-start",
        "slice(iota()) → add(iota(), start) (integers)",
        &[Opcode::Slice],
        iota_slice,
    ),
    Pattern::new(
        "iota-convert",
        "convert(iota()) → iota() of the other type, if both types represent all its values",
        &[Opcode::Convert],
        iota_convert,
    ),
];

/// Returns the dimension of an iota.
fn iota_dimension(cx: &Cx<'_>, id: InstrId) -> Option<usize> {
    match &cx.module[id].op {
        Op::Iota(a) => index(a.iota_dimension),
        _ => None,
    }
}

/// Emits an iota with the instruction's shape along `dimension`.
fn iota(cx: &mut Cx<'_>, dimension: usize) -> InstrId {
    cx.add_same_shape(Op::iota(dimension as i64), &[])
}

/// Rewrites a reshape of an iota, if a dimension has the same size and the same number of elements before it.
fn iota_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    let d = iota_dimension(cx, x)?;
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let size = *from.dims.get(d)?;
    let before = |dims: &[i64], d: usize| dims.get(..d)?.iter().try_fold(1i64, |n, &s| n.checked_mul(s));
    let outer = before(&from.dims, d)?;
    let found = (0..to.rank()).find(|&k| to.dims[k] == size && before(&to.dims, k) == Some(outer))?;
    (from.element_count() > 0).then(|| iota(cx, found))
}

/// Rewrites a slice of an iota, which counts from the start of the slice.
fn iota_slice(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Slice(a) = &cx.module[id].op else { return None };
    let x = cx.operand(id, 0)?;
    let d = iota_dimension(cx, x)?;
    let range = *a.slice.get(d)?;
    let shape = cx.array(id)?;
    let ty = shape.element_type;
    // Floating-point numbers may depend on how they are computed.
    if !ty.is_integer() || range.stride != 1 {
        return None;
    }
    let start = cx.splat(&shape, &wide_integer_bytes(ty, range.start.into())?)?;
    let count = cx.add(shape, Op::iota(d as i64), &[]);
    Some(cx.add_same_shape(Op::Add, &[count, start]))
}

/// Rewrites a conversion of an iota, if both types represent all of its numbers.
fn iota_convert(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    let d = iota_dimension(cx, x)?;
    let (from, to) = (cx.array(x)?.element_type, cx.array(id)?);
    let last = to.dims.get(d)?.checked_sub(1)?;
    (has_all(from, last) && has_all(to.element_type, last)).then(|| iota(cx, d))
}

/// Returns whether the type represents all integers from 0 to `last`.
pub(super) fn has_all(ty: ElementType, last: i64) -> bool {
    if ty.is_integer() {
        return wide_integer_bytes(ty, last.into()).is_some();
    }
    let mantissa: u32 = match ty {
        ElementType::F16 => 11,
        ElementType::Bf16 => 8,
        ElementType::F32 => 24,
        ElementType::F64 => 53,
        _ => return false,
    };
    last <= 1 << mantissa
}
