//! Patterns on bits, comparisons and selections.

use crate::support::constants::{all_ones, is_splat_all_ones, is_splat_integer};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::{InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("not-not", "not(not(x)) → x", &[Opcode::Not], not_not),
    Pattern::new(
        "not-compare",
        "not(compare(x, y), EQ) → compare(x, y), NE; for integers also every other direction",
        &[Opcode::Not],
        not_compare,
    ),
    Pattern::new("and-or-self", "and(x, x), or(x, x) → x", &[Opcode::And, Opcode::Or], and_or_self),
    Pattern::new("xor-self", "xor(x, x) → 0", &[Opcode::Xor], xor_self),
    Pattern::new("bits-neutral", "and(x, all ones), or(x, 0), xor(x, 0) → x", BITS, bits_neutral),
    Pattern::new("bits-absorbing", "and(x, 0) → 0, or(x, all ones) → all ones", BITS, bits_absorbing),
    Pattern::new("xor-all-ones", "xor(x, all ones) → not(x)", &[Opcode::Xor], xor_all_ones),
    Pattern::new("shift-zero", "shift by 0 → x", SHIFTS, shift_zero),
    Pattern::new(
        "compare-self",
        "compare(x, x) → true or false (not IEEE floats)",
        &[Opcode::Compare],
        compare_self,
    ),
    Pattern::new(
        "compare-unsigned-zero",
        "x < 0 → false, x >= 0 → true (unsigned)",
        &[Opcode::Compare],
        compare_unsigned_zero,
    ),
    Pattern::new(
        "compare-true",
        "compare(p, true), EQ → p; compare(p, false), EQ → not(p) (pred)",
        &[Opcode::Compare],
        compare_true,
    ),
    Pattern::new(
        "select-constant",
        "select(true, a, b) → a, select(false, a, b) → b",
        &[Opcode::Select],
        select_constant,
    ),
    Pattern::new("select-equal", "select(p, a, a) → a", &[Opcode::Select], select_equal),
    Pattern::new("select-not", "select(not(p), a, b) → select(p, b, a)", &[Opcode::Select], select_not),
    Pattern::new(
        "select-pred",
        "select(p, true, false) → p, select(p, false, true) → not(p)",
        &[Opcode::Select],
        select_pred,
    ),
];

const BITS: &[Opcode] = &[Opcode::And, Opcode::Or, Opcode::Xor];
const SHIFTS: &[Opcode] = &[Opcode::ShiftLeft, Opcode::ShiftRightArithmetic, Opcode::ShiftRightLogical];

fn not_not(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0)?;
    (cx.opcode(inner) == Opcode::Not).then(|| cx.operand(inner, 0)).flatten()
}

/// Rewrites the negation of a comparison. For NaN, both `<` and `>=` are false, so IEEE comparisons can only
/// be negated if they are `EQ` or `NE`.
fn not_compare(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0)?;
    let Op::Compare(a) = cx.module[inner].op.clone() else { return None };
    use ComparisonDirection::*;
    let equality = matches!(a.direction, Eq | Ne);
    if !cx.used_only_by(inner, id) || !(equality || totally_ordered(cx, inner, &a)?) {
        return None;
    }
    let direction = match a.direction {
        Eq => Ne,
        Ne => Eq,
        Ge => Lt,
        Lt => Ge,
        Gt => Le,
        Le => Gt,
    };
    let (x, y) = (cx.operand(inner, 0)?, cx.operand(inner, 1)?);
    Some(cx.add_same_shape(Op::Compare(CompareAttrs { direction, ..a }), &[x, y]))
}

/// Returns whether exactly one of `<`, `=`, `>` is true for every two elements.
fn totally_ordered(cx: &Cx<'_>, compare: InstrId, a: &CompareAttrs) -> Option<bool> {
    let ty = cx.element_type(cx.operand(compare, 0)?)?;
    Some(
        ty.is_integer() || ty.is_pred() || (ty.is_float() && a.comparison_type == ComparisonType::TotalOrder),
    )
}

/// Rewrites `x & x` and `x | x`.
fn and_or_self(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    (cx.operand(id, 0) == cx.operand(id, 1)).then(|| cx.operand(id, 0)).flatten()
}

fn xor_self(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id)?;
    (cx.operand(id, 0) == cx.operand(id, 1)).then(|| cx.splat_integer(&a, 0)).flatten()
}

/// Returns the other operand, and whether the constant operand is all ones. Otherwise it is all zeros.
fn mask_operand(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, bool)> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    for (x, c) in [(a, b), (b, a)] {
        if is_splat_all_ones(cx.module, c) {
            return Some((x, true));
        }
        if is_splat_integer(cx.module, c, 0) {
            return Some((x, false));
        }
    }
    None
}

/// Rewrites an operation with a mask that changes nothing.
fn bits_neutral(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, ones) = mask_operand(cx, id)?;
    (ones == (cx.opcode(id) == Opcode::And)).then_some(x)
}

/// Rewrites an operation with a mask that determines the result.
fn bits_absorbing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (_, ones) = mask_operand(cx, id)?;
    let a = cx.array(id)?;
    match (cx.opcode(id), ones) {
        (Opcode::And, false) => cx.splat_integer(&a, 0),
        (Opcode::Or, true) => cx.splat(&a, &all_ones(a.element_type)?),
        _ => None,
    }
}

fn xor_all_ones(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, ones) = mask_operand(cx, id)?;
    ones.then(|| cx.add_same_shape(Op::Not, &[x]))
}

fn shift_zero(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, by) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    is_splat_integer(cx.module, by, 0).then_some(x)
}

/// Rewrites a comparison of a value with itself. In IEEE comparisons, NaN is not equal to itself.
fn compare_self(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Compare(attrs) = cx.module[id].op.clone() else { return None };
    if cx.operand(id, 0) != cx.operand(id, 1) || !totally_ordered(cx, id, &attrs)? {
        return None;
    }
    use ComparisonDirection::*;
    let value = match attrs.direction {
        Eq | Ge | Le => 1,
        Ne | Gt | Lt => 0,
    };
    let a = cx.array(id)?;
    cx.splat_integer(&a, value)
}

/// Rewrites a comparison of an unsigned number with 0, because none is below 0.
fn compare_unsigned_zero(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Compare(attrs) = cx.module[id].op.clone() else { return None };
    let (x, zero) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let unsigned = cx.element_type(x)?.is_unsigned_integer()
        && matches!(attrs.comparison_type, ComparisonType::Default | ComparisonType::Unsigned);
    if !unsigned || !is_splat_integer(cx.module, zero, 0) {
        return None;
    }
    let value = match attrs.direction {
        ComparisonDirection::Lt => 0,
        ComparisonDirection::Ge => 1,
        _ => return None,
    };
    let a = cx.array(id)?;
    cx.splat_integer(&a, value)
}

/// Rewrites a comparison of a predicate with a constant.
fn compare_true(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Compare(attrs) = cx.module[id].op.clone() else { return None };
    let (p, c) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    if !cx.element_type(p)?.is_pred() {
        return None;
    }
    let truth = if is_splat_integer(cx.module, c, 1) {
        true
    } else if is_splat_integer(cx.module, c, 0) {
        false
    } else {
        return None;
    };
    match (attrs.direction, truth) {
        (ComparisonDirection::Eq, true) | (ComparisonDirection::Ne, false) => Some(p),
        (ComparisonDirection::Eq, false) | (ComparisonDirection::Ne, true) => {
            Some(cx.add_same_shape(Op::Not, &[p]))
        }
        _ => None,
    }
}

/// Rewrites a selection by a constant predicate.
fn select_constant(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let p = cx.operand(id, 0)?;
    if is_splat_integer(cx.module, p, 1) {
        cx.operand(id, 1)
    } else if is_splat_integer(cx.module, p, 0) {
        cx.operand(id, 2)
    } else {
        None
    }
}

/// Rewrites a selection between a value and itself.
fn select_equal(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    (cx.operand(id, 1) == cx.operand(id, 2)).then(|| cx.operand(id, 1)).flatten()
}

fn select_not(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let not = cx.operand(id, 0)?;
    if cx.opcode(not) != Opcode::Not {
        return None;
    }
    let (p, a, b) = (cx.operand(not, 0)?, cx.operand(id, 1)?, cx.operand(id, 2)?);
    Some(cx.add_same_shape(Op::Select, &[p, b, a]))
}

/// Rewrites a selection between true and false as the predicate, unless the predicate is a scalar and the
/// result an array.
fn select_pred(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (p, a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?, cx.operand(id, 2)?);
    if !cx.element_type(id)?.is_pred() || cx.array(p)?.dims != cx.array(id)?.dims {
        return None;
    }
    let is = |x, value| is_splat_integer(cx.module, x, value);
    if is(a, 1) && is(b, 0) {
        return Some(p);
    }
    (is(a, 0) && is(b, 1)).then(|| cx.add_same_shape(Op::Not, &[p]))
}
