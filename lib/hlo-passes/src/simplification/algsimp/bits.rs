//! Patterns on and, or, xor, not and shifts.

use crate::support::constants::{all_ones, splat_value, wide_integer_bytes};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "de-morgan",
        "and(not(x), not(y)) → not(or(x, y)), or(not(x), not(y)) → not(and(x, y))",
        &[Opcode::And, Opcode::Or],
        de_morgan,
    ),
    Pattern::new("and-not", "and(x, not(x)) → 0, or(x, not(x)), xor(x, not(x)) → all ones", BITS, and_not),
    Pattern::new("absorb", "and(x, or(x, y)) → x, or(x, and(x, y)) → x", &[Opcode::And, Opcode::Or], absorb),
    Pattern::new("xor-xor", "xor(xor(x, y), y) → x", &[Opcode::Xor], xor_xor),
    Pattern::new(
        "shift-out",
        "shift by the bit width or more → 0; shift-right-arithmetic → shift by the bit width minus 1",
        SHIFTS,
        shift_out,
    ),
    Pattern::new(
        "shift-shift",
        "shift(shift(x, c1), c2) → shift(x, c1 + c2) in the same direction",
        SHIFTS,
        shift_shift,
    ),
];

const BITS: &[Opcode] = &[Opcode::And, Opcode::Or, Opcode::Xor];
const SHIFTS: &[Opcode] = &[Opcode::ShiftLeft, Opcode::ShiftRightArithmetic, Opcode::ShiftRightLogical];

/// Returns the operand of `not`.
fn complement(cx: &Cx<'_>, id: InstrId) -> Option<InstrId> {
    (cx.opcode(id) == Opcode::Not).then(|| cx.operand(id, 0)).flatten()
}

/// Combines two complements into one, if nothing else uses them.
fn de_morgan(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let (x, y) = (complement(cx, a)?, complement(cx, b)?);
    if !cx.used_only_by(a, id) || !cx.used_only_by(b, id) {
        return None;
    }
    let shape = cx.module[id].shape.clone();
    let inner = cx.add(shape, if cx.opcode(id) == Opcode::And { Op::Or } else { Op::And }, &[x, y]);
    Some(cx.add_same_shape(Op::Not, &[inner]))
}

/// Rewrites an operation on a value and its complement.
fn and_not(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    if complement(cx, a) != Some(b) && complement(cx, b) != Some(a) {
        return None;
    }
    let shape = cx.array(id)?;
    if cx.opcode(id) == Opcode::And {
        return cx.splat_integer(&shape, 0);
    }
    cx.splat(&shape, &all_ones(shape.element_type)?)
}

/// Rewrites `x & (x | y)` and `x | (x & y)`.
fn absorb(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let opposite = if cx.opcode(id) == Opcode::And { Opcode::Or } else { Opcode::And };
    [(a, b), (b, a)]
        .into_iter()
        .find(|(x, inner)| cx.opcode(*inner) == opposite && cx.module[*inner].operands.contains(x))
        .map(|(x, _)| x)
}

/// Rewrites `(x ^ y) ^ y`.
fn xor_xor(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    [(a, b), (b, a)].into_iter().find_map(|(inner, y)| {
        let (p, q) = (cx.operand(inner, 0)?, cx.operand(inner, 1)?);
        let other = if p == y { q } else { p };
        (cx.opcode(inner) == Opcode::Xor && (p == y || q == y)).then_some(other)
    })
}

/// Returns the constant amount of a shift, at most the bit width.
fn amount(cx: &Cx<'_>, id: InstrId) -> Option<i128> {
    let width = i128::from(cx.element_type(id)?.bit_width());
    let by = splat_value(cx.module, cx.operand(id, 1)?)?;
    // The amount is an unsigned number.
    Some(if (0..width).contains(&by) { by } else { width })
}

/// Rewrites a shift by at least the bit width, which leaves at most the sign.
fn shift_out(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id)?;
    let width = i128::from(a.element_type.bit_width());
    if amount(cx, id)? < width {
        return None;
    }
    if cx.opcode(id) != Opcode::ShiftRightArithmetic {
        return cx.splat_integer(&a, 0);
    }
    let by = cx.splat(&a, &wide_integer_bytes(a.element_type, width - 1)?)?;
    let (op, x) = (cx.module[id].op.clone(), cx.operand(id, 0)?);
    Some(cx.add_same_shape(op, &[x, by]))
}

/// Combines two consecutive shifts.
fn shift_shift(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id)?;
    let inner = cx.operand(id, 0)?;
    if cx.opcode(inner) != cx.opcode(id) || !cx.used_only_by(inner, id) {
        return None;
    }
    let by = amount(cx, id)? + amount(cx, inner)?;
    // A larger amount has the same effect as the bit width, but a narrow type may not represent it.
    let by = by.min(i128::from(a.element_type.bit_width()));
    let by = cx.splat(&a, &wide_integer_bytes(a.element_type, by)?)?;
    let (op, x) = (cx.module[id].op.clone(), cx.operand(inner, 0)?);
    Some(cx.add_same_shape(op, &[x, by]))
}
