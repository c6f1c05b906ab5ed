//! Patterns on comparisons with constants, and on comparisons of values computed from predicates.

use super::arithmetic::is_constant;
use super::ranges::compares_values;
use crate::support::constants::{Number, is_splat_integer};
use crate::support::rewrite::{Cx, Pattern, same_layout};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::{ElementType, InstrId, Op, Opcode};

const COMPARE: &[Opcode] = &[Opcode::Compare];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "compare-constant-left",
        "compare(c, x), LT → compare(x, c), GT; also every other direction",
        COMPARE,
        compare_constant_left,
    ),
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
        "compare-add",
        "compare(add(x, c1), c2), EQ → compare(x, c2 - c1), EQ (integers); also NE, and subtract, xor",
        COMPARE,
        compare_add,
    ),
    Pattern::new(
        "compare-difference",
        "compare(subtract(x, y), 0), EQ → compare(x, y), EQ (integers); also NE, and xor",
        COMPARE,
        compare_difference,
    ),
    Pattern::new(
        "compare-extremum",
        "compare(maximum(x, y), x), GT → compare(y, x), GT; also LE, EQ, minimum with LT, GE, and NE (integers)",
        COMPARE,
        compare_extremum,
    ),
    Pattern::new(
        "compare-both",
        "and(compare(x, c1), compare(x, c2)) → the stricter one, for two upper or two lower bounds; or → the looser one",
        &[Opcode::And, Opcode::Or],
        compare_both,
    ),
    Pattern::new(
        "compare-not",
        "compare(not(x), not(y)) → compare(y, x) (integers, predicates); also EQ and NE of negate",
        COMPARE,
        compare_not,
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

/// Returns the direction for exchanged operands.
fn flipped(direction: ComparisonDirection) -> ComparisonDirection {
    use ComparisonDirection::*;
    match direction {
        Eq => Eq,
        Ne => Ne,
        Lt => Gt,
        Gt => Lt,
        Le => Ge,
        Ge => Le,
    }
}

/// Returns whether the direction is `EQ` or `NE`.
fn is_equality(a: &CompareAttrs) -> bool {
    matches!(a.direction, ComparisonDirection::Eq | ComparisonDirection::Ne)
}

/// Moves the constant to the right, where other patterns expect it.
fn compare_constant_left(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, c, x) = parts(cx, id)?;
    if !is_constant(cx, c) || is_constant(cx, x) {
        return None;
    }
    let attrs = CompareAttrs { direction: flipped(a.direction), ..a };
    Some(cx.add_same_shape(Op::Compare(attrs), &[x, c]))
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

/// Returns whether the comparison compares values in the order of the type.
fn by_value(cx: &Cx<'_>, x: InstrId, a: &CompareAttrs) -> Option<bool> {
    let ty = cx.element_type(x)?;
    let float = matches!(a.comparison_type, ComparisonType::Default | ComparisonType::Float) && ty.is_float();
    Some(float || compares_values(ty, a))
}

/// Rewrites a comparison of a selected constant with another constant.
fn compare_select(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, select, c) = parts(cx, id)?;
    if cx.opcode(select) != Opcode::Select || !by_value(cx, select, &a)? {
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
    if cx.opcode(convert) != Opcode::Convert || !by_value(cx, convert, &a)? {
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

/// Removes an added constant from an equality, which is exact even if the sum wraps.
fn compare_add(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, sum, c2) = parts(cx, id)?;
    if !is_equality(&a) || !cx.element_type(sum)?.is_integer() || !is_constant(cx, c2) {
        return None;
    }
    let (x, y) = (cx.operand(sum, 0)?, cx.operand(sum, 1)?);
    let (left, right) = (is_constant(cx, x), is_constant(cx, y));
    if left == right || !cx.used_only_by(sum, id) {
        return None;
    }
    let (x, c1) = if right { (x, y) } else { (y, x) };
    let op = match (cx.opcode(sum), right) {
        (Opcode::Add, _) => Op::Subtract,
        (Opcode::Subtract, true) => Op::Add,
        (Opcode::Xor, _) => Op::Xor,
        _ => return None,
    };
    let shape = cx.array(c2)?;
    let c = cx.add(shape, op, &[c2, c1]);
    Some(cx.add_same_shape(Op::Compare(a), &[x, c]))
}

/// Rewrites a comparison of a difference with 0, which tests for equality.
fn compare_difference(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, difference, zero) = parts(cx, id)?;
    let ty = cx.element_type(difference)?;
    let exact = match cx.opcode(difference) {
        Opcode::Subtract => ty.is_integer(),
        Opcode::Xor => ty.is_integer() || ty.is_pred(),
        _ => false,
    };
    if !exact || !is_equality(&a) || !is_splat_integer(cx.module, zero, 0) {
        return None;
    }
    let (x, y) = (cx.operand(difference, 0)?, cx.operand(difference, 1)?);
    Some(cx.add_same_shape(Op::Compare(a), &[x, y]))
}

/// Rewrites a comparison of an extremum with one of its operands.
fn compare_extremum(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, left, right) = parts(cx, id)?;
    let is_extremum = |o| matches!(cx.opcode(o), Opcode::Maximum | Opcode::Minimum);
    let has = |o, x| is_extremum(o) && cx.module[o].operands.contains(&x);
    let (extremum, x, direction) = if has(left, right) {
        (left, right, a.direction)
    } else if has(right, left) {
        (right, left, flipped(a.direction))
    } else {
        return None;
    };
    if !by_value(cx, x, &a)? {
        return None;
    }
    let (p, q) = (cx.operand(extremum, 0)?, cx.operand(extremum, 1)?);
    let y = if p == x { q } else { p };
    let exact = !cx.element_type(x)?.is_float();
    use ComparisonDirection::*;
    // NaN is not equal to itself.
    let direction = match (cx.opcode(extremum) == Opcode::Maximum, direction) {
        (true, Gt) => Gt,
        (true, Ne) if exact => Gt,
        (true, Le | Eq) => Le,
        (false, Lt) => Lt,
        (false, Ne) if exact => Lt,
        (false, Ge | Eq) => Ge,
        _ => return None,
    };
    Some(cx.add_same_shape(Op::Compare(CompareAttrs { direction, ..a }), &[y, x]))
}

/// Decodes a comparison with a constant: the value, whether it must be below the constant, the constant, and
/// whether the value may equal the constant.
fn bound(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, bool, Number, bool)> {
    let (a, x, c) = parts(cx, id)?;
    if !by_value(cx, x, &a)? {
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

/// Rewrites a comparison of complements, whose order is reversed.
fn compare_not(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, left, right) = parts(cx, id)?;
    let (x, y) = (cx.operand(left, 0)?, cx.operand(right, 0)?);
    let ty = cx.element_type(left)?;
    let fits = match (cx.opcode(left), cx.opcode(right)) {
        (Opcode::Not, Opcode::Not) => compares_values(ty, &a),
        (Opcode::Negate, Opcode::Negate) => ty.is_integer() && is_equality(&a),
        _ => false,
    };
    fits.then(|| cx.add_same_shape(Op::Compare(a), &[y, x]))
}

/// Recognizes a total-order comparison of floating-point numbers on integer keys, as XLA's optimizer writes
/// it.
fn compare_keys(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, left, right) = parts(cx, id)?;
    if !compares_values(cx.element_type(left)?, &a) {
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
    let by_sign = sign.direction == ComparisonDirection::Lt && compares_values(cx.element_type(bits)?, &sign);
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
