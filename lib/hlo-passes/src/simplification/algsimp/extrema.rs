//! Patterns on maximum, minimum and clamp.

use super::arithmetic::is_extreme;
use crate::support::constants::Number;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{InstrId, Op, Opcode};

const EXTREMA: &[Opcode] = &[Opcode::Maximum, Opcode::Minimum];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "extremum-again",
        "maximum(maximum(x, y), y) → maximum(x, y); also minimum, and, or",
        &[Opcode::Maximum, Opcode::Minimum, Opcode::And, Opcode::Or],
        extremum_again,
    ),
    Pattern::new(
        "extremum-absorb",
        "maximum(x, minimum(x, y)) → x; minimum(x, maximum(x, y)) → x (integers)",
        EXTREMA,
        extremum_absorb,
    ),
    Pattern::new(
        "pred-extremum",
        "maximum, add of predicates → or; minimum, multiply → and",
        &[Opcode::Maximum, Opcode::Minimum, Opcode::Add, Opcode::Multiply],
        pred_extremum,
    ),
    Pattern::new(
        "extremum-clamp",
        "minimum(maximum(x, c1), c2), maximum(minimum(x, c2), c1) → clamp(c1, x, c2) for constants c1 <= c2",
        EXTREMA,
        extremum_clamp,
    ),
    Pattern::new(
        "clamp-clamp",
        "clamp(a, clamp(a, x, b), b) → clamp(a, x, b)",
        &[Opcode::Clamp],
        clamp_clamp,
    ),
    Pattern::new(
        "clamp-neutral",
        "clamp(lowest, x, b) → minimum(x, b); clamp(a, x, highest) → maximum(x, a)",
        &[Opcode::Clamp],
        clamp_neutral,
    ),
];

/// Returns the inner operation and the other operand, in both orders.
fn operand_orders(cx: &Cx<'_>, id: InstrId) -> Option<[(InstrId, InstrId); 2]> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    Some([(a, b), (b, a)])
}

/// Rewrites the extremum of a value with an extremum of the same kind that includes it.
fn extremum_again(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    if cx.element_type(id)?.is_complex() {
        return None;
    }
    operand_orders(cx, id)?
        .into_iter()
        .find(|(inner, y)| cx.opcode(*inner) == cx.opcode(id) && cx.module[*inner].operands.contains(y))
        .map(|(inner, _)| inner)
}

/// Rewrites `max(x, min(x, y))` and `min(x, max(x, y))`, except for floating-point numbers, where the result
/// may be NaN.
fn extremum_absorb(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let ty = cx.element_type(id)?;
    let opposite = if cx.opcode(id) == Opcode::Maximum { Opcode::Minimum } else { Opcode::Maximum };
    let found = operand_orders(cx, id)?
        .into_iter()
        .find(|(inner, x)| cx.opcode(*inner) == opposite && cx.module[*inner].operands.contains(x));
    found.filter(|_| ty.is_integer()).map(|(_, x)| x)
}

/// Rewrites the extremum of predicates as a logical operation: false is below true.
fn pred_extremum(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    if !cx.element_type(id)?.is_pred() {
        return None;
    }
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let any = matches!(cx.opcode(id), Opcode::Maximum | Opcode::Add);
    Some(cx.add_same_shape(if any { Op::Or } else { Op::And }, &[a, b]))
}

/// Returns the other operand, and the constant operand with its value.
fn bounded(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId, Number)> {
    operand_orders(cx, id)?.into_iter().find_map(|(x, c)| Some((x, c, Number::splat(cx.module, c)?)))
}

/// Returns whether the two bounds can be applied in any order. -0 is below +0.
fn ordered(low: Number, high: Number) -> bool {
    match (low, high) {
        (Number::Integer(a), Number::Integer(b)) => a <= b,
        (Number::Float(a), Number::Float(b)) => !a.is_nan() && !b.is_nan() && a.total_cmp(&b).is_le(),
        _ => false,
    }
}

/// Combines a lower and an upper bound into a clamp.
fn extremum_clamp(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (inner, outer, outer_value) = bounded(cx, id)?;
    let opposite = if cx.opcode(id) == Opcode::Maximum { Opcode::Minimum } else { Opcode::Maximum };
    if cx.opcode(inner) != opposite || !cx.used_only_by(inner, id) {
        return None;
    }
    let (x, bound, bound_value) = bounded(cx, inner)?;
    let (low, high) = if opposite == Opcode::Maximum {
        ((bound, bound_value), (outer, outer_value))
    } else {
        ((outer, outer_value), (bound, bound_value))
    };
    ordered(low.1, high.1).then(|| cx.add_same_shape(Op::Clamp, &[low.0, x, high.0]))
}

/// Rewrites a clamp of a clamp with the same bounds.
fn clamp_clamp(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 1).filter(|&i| cx.opcode(i) == Opcode::Clamp)?;
    let same = [0, 2].iter().all(|&n| cx.operand(id, n) == cx.operand(inner, n));
    (same && !cx.element_type(id)?.is_complex()).then_some(inner)
}

/// Removes a bound of a clamp that has no effect.
fn clamp_neutral(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (low, x, high) = (cx.operand(id, 0)?, cx.operand(id, 1)?, cx.operand(id, 2)?);
    let a = cx.array(id)?;
    let (op, bound) = if is_extreme(cx, low, true) {
        (Op::Minimum, high)
    } else if is_extreme(cx, high, false) {
        (Op::Maximum, low)
    } else {
        return None;
    };
    let bound = if cx.array(bound)?.dims == a.dims { bound } else { cx.broadcast(bound, &a.dims, &[])? };
    Some(cx.add_same_shape(op, &[x, bound]))
}
