//! Patterns on comparisons with constants, and on comparisons of values computed from predicates.

use crate::rewriting::{is_by_integer, is_by_value};
use crate::support::constants::{Number, is_splat_integer};
use crate::support::rewrite::{Cx, Pattern, same_layout};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::{ElementType, InstrId, Op, Opcode};

const COMPARE: &[Opcode] = &[Opcode::Compare];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "compare-select",
        "compare(select(p, c1, c2), c) → true, false, p or not(p) for constants c, c1, c2",
        COMPARE,
        compare_select,
    ),
    Pattern::new(
        "compare-convert",
        "compare(convert(p), c) → true, false, p or not(p) for a predicate p",
        COMPARE,
        compare_convert,
    ),
    Pattern::new(
        "compare-both",
        "and(compare(x, c1), compare(x, c2)) → the stricter one, for two upper or two lower bounds; or → the looser one",
        &[Opcode::And, Opcode::Or],
        compare_both,
    ),
    Pattern::new(
        "compare-keys",
        "compare(key(x), key(y)) → compare(x, y), TOTALORDER for floats x, y with bits b and key = select(b < 0, xor(b, highest), b)",
        COMPARE,
        compare_keys,
    ),
];

/// Returns the attributes and operands of a comparison.
fn parts(cx: &Cx<'_>, id: InstrId) -> Option<(CompareAttrs, InstrId, InstrId)> {
    let Op::Compare(a) = cx.module[id].op.clone() else { return None };
    Some((a, cx.operand(id, 0)?, cx.operand(id, 1)?))
}

/// Evaluates the comparison of two constants.
fn evaluate_comparison(a: &CompareAttrs, x: Number, y: Number) -> bool {
    use ComparisonDirection::*;
    match a.direction {
        Eq => x == y,
        Ne => x != y,
        Lt => x < y,
        Le => x <= y,
        Gt => x > y,
        Ge => x >= y,
    }
}

/// Emits the value of a comparison that depends only on the predicate `p`. `cases` contains the results for
/// true and for false.
fn by_cases(cx: &mut Cx<'_>, id: InstrId, p: InstrId, cases: (bool, bool)) -> Option<InstrId> {
    let a = cx.array(id)?;
    if cases.0 == cases.1 {
        return cx.splat_integer(&a, i64::from(cases.0));
    }
    let p = if cx.array(p)?.dims == a.dims { p } else { cx.broadcast(p, &a.dims, &[])? };
    Some(if cases.0 { p } else { cx.add_same_shape(Op::Not, &[p]) })
}

/// Rewrites a comparison of a selected constant with another constant.
fn compare_select(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, select, c) = parts(cx, id)?;
    if cx.opcode(select) != Opcode::Select || !is_by_value(cx.element_type(select)?, a.comparison_type) {
        return None;
    }
    let c = Number::splat(cx.module, c)?;
    let case = |n: usize| Some(evaluate_comparison(&a, Number::splat(cx.module, cx.operand(select, n)?)?, c));
    let cases = (case(1)?, case(2)?);
    by_cases(cx, id, cx.operand(select, 0)?, cases)
}

/// Rewrites a comparison of a converted predicate, 0 or 1, with a constant.
fn compare_convert(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, convert, c) = parts(cx, id)?;
    if cx.opcode(convert) != Opcode::Convert || !is_by_value(cx.element_type(convert)?, a.comparison_type) {
        return None;
    }
    let p = cx.operand(convert, 0)?;
    if !cx.element_type(p)?.is_pred() || !cx.array(convert)?.dims.eq(&cx.array(p)?.dims) {
        return None;
    }
    let c = Number::splat(cx.module, c)?;
    // A signed integer of one bit cannot represent 1.
    if cx.element_type(convert)?.bit_width() < 2 {
        return None;
    }
    let case = |n: i32| match c {
        Number::Float(_) => evaluate_comparison(&a, Number::Float(n.into()), c),
        Number::Integer(_) => evaluate_comparison(&a, Number::Integer(n.into()), c),
    };
    by_cases(cx, id, p, (case(1), case(0)))
}

/// Decodes a comparison with a constant: the value, whether it must be below the constant, the constant, and
/// whether the value may equal the constant.
fn bound(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, bool, Number, bool)> {
    let (a, x, c) = parts(cx, id)?;
    if !is_by_value(cx.element_type(x)?, a.comparison_type) {
        return None;
    }
    use ComparisonDirection::*;
    let (below, equal) = match a.direction {
        Lt => (true, false),
        Le => (true, true),
        Gt => (false, false),
        Ge => (false, true),
        Eq | Ne => return None,
    };
    Some((x, below, Number::splat(cx.module, c)?, equal))
}

/// Combines two bounds on the same side: the stricter one implies the other.
fn compare_both(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (p, q) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let (x, below, c1, may1) = bound(cx, p)?;
    let (y, also_below, c2, may2) = bound(cx, q)?;
    if x != y || below != also_below {
        return None;
    }
    // Whether the first bound is the stricter one.
    let fewer = match c1.partial_cmp(&c2)? {
        std::cmp::Ordering::Less => below,
        std::cmp::Ordering::Greater => !below,
        std::cmp::Ordering::Equal => !may1 || may2,
    };
    Some(if fewer == (cx.opcode(id) == Opcode::And) { p } else { q })
}

/// Recognizes a total-order comparison of floating-point numbers on integer keys, as XLA's optimizer writes
/// it.
fn compare_keys(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, left, right) = parts(cx, id)?;
    if !is_by_integer(cx.element_type(left)?, a.comparison_type) {
        return None;
    }
    let (x, y) = (float_of_key(cx, left)?, float_of_key(cx, right)?);
    let same = cx.element_type(x) == cx.element_type(y);
    let attrs = CompareAttrs { comparison_type: ComparisonType::TotalOrder, ..a };
    same.then(|| cx.add_same_shape(Op::Compare(attrs), &[x, y]))
}

/// Returns the floating-point values whose bits `key` contains. The bits below the sign are inverted if the
/// sign is set.
fn float_of_key(cx: &Cx<'_>, key: InstrId) -> Option<InstrId> {
    if cx.opcode(key) != Opcode::Select {
        return None;
    }
    let (is_negative, inverted, bits) = (cx.operand(key, 0)?, cx.operand(key, 1)?, cx.operand(key, 2)?);
    let (sign, signed, zero) = parts(cx, is_negative)?;
    let by_sign = sign.direction == ComparisonDirection::Lt
        && is_by_integer(cx.element_type(bits)?, sign.comparison_type);
    if !by_sign || signed != bits || !is_splat_integer(cx.module, zero, 0) {
        return None;
    }
    let (p, q) = (cx.operand(inverted, 0)?, cx.operand(inverted, 1)?);
    let greatest = if p == bits { q } else { p };
    let below_sign = i64::MAX >> (64 - cx.element_type(bits)?.bit_width());
    let inverts = cx.opcode(inverted) == Opcode::Xor && [p, q].contains(&bits);
    if !inverts || !is_splat_integer(cx.module, greatest, below_sign) {
        return None;
    }
    let x = cx.operand(bits, 0)?;
    let (of, floats) = (cx.array(bits)?, cx.array(x)?);
    let is_move = match cx.opcode(bits) {
        Opcode::BitcastConvert => true,
        Opcode::Bitcast => same_layout(&cx.module[bits].shape, &cx.module[x].shape),
        _ => return None,
    };
    let ty = floats.element_type;
    let is_plain = matches!(ty, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64);
    let same_bits = ty.bit_width() == of.element_type.bit_width() && of.element_type.is_signed_integer();
    (is_move && is_plain && same_bits && of.dims == floats.dims).then_some(x)
}
