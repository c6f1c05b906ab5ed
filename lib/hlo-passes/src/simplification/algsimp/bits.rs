//! Patterns on shifts.

use crate::support::constants::{splat_value, wide_integer_bytes};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{InstrId, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
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

const SHIFTS: &[Opcode] = &[Opcode::ShiftLeft, Opcode::ShiftRightArithmetic, Opcode::ShiftRightLogical];

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
