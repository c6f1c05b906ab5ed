//! Patterns in which one operation undoes or repeats another.

use super::arithmetic::{is_constant, negated, wraps};
use crate::support::constants::{Number, integer_bytes, splat_value, wide_integer_bytes};
use crate::support::integer_range::type_range;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ElementType, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("add-subtract", "add(subtract(x, y), y) → x (integers)", &[Opcode::Add], add_subtract),
    Pattern::new(
        "subtract-add",
        "subtract(add(x, y), y) → x, subtract(x, add(x, y)) → negate(y), subtract(x, subtract(x, y)) → y (integers)",
        &[Opcode::Subtract],
        subtract_add,
    ),
    Pattern::new(
        "subtract-constant",
        "subtract(x, c) → add(x, -c) (signed integers)",
        &[Opcode::Subtract],
        subtract_constant,
    ),
    Pattern::new(
        "constant-subtract",
        "add(subtract(c1, x), c2) → subtract(c1 + c2, x); also subtract(c2, add(x, c1)), subtract(c2, subtract(c1, x)) (integers)",
        &[Opcode::Add, Opcode::Subtract],
        constant_subtract,
    ),
    Pattern::new(
        "distribute",
        "add(multiply(x, z), multiply(y, z)) → multiply(add(x, y), z) (integers); also subtract",
        &[Opcode::Add, Opcode::Subtract],
        distribute,
    ),
    Pattern::new(
        "multiply-negate",
        "multiply(negate(x), negate(y)) → multiply(x, y); also divide (floats)",
        &[Opcode::Multiply, Opcode::Divide],
        multiply_negate,
    ),
    Pattern::new(
        "multiply-abs",
        "multiply(abs(x), abs(x)) → multiply(x, x)",
        &[Opcode::Multiply],
        multiply_abs,
    ),
    Pattern::new(
        "abs-nonnegative",
        "abs(x) → x, if x is exponential(y), multiply(y, y) or another float that is never below +0",
        &[Opcode::Abs],
        abs_nonnegative,
    ),
    Pattern::new(
        "divide-constants",
        "divide(divide(x, c1), c2) → divide(x, c1 * c2), 0 if the product is too large (integers, c1, c2 > 0)",
        &[Opcode::Divide],
        divide_constants,
    ),
    Pattern::new(
        "remainder-twice",
        "remainder(remainder(x, y), y) → remainder(x, y)",
        &[Opcode::Remainder],
        remainder_twice,
    ),
];

/// Returns the two operands, if `id` has this opcode.
fn operands_of(cx: &Cx<'_>, id: InstrId, opcode: Opcode) -> Option<(InstrId, InstrId)> {
    (cx.opcode(id) == opcode).then(|| Some((cx.operand(id, 0)?, cx.operand(id, 1)?))).flatten()
}

/// Rewrites `(x - y) + y`, which is exact if arithmetic wraps.
fn add_subtract(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = operands_of(cx, id, Opcode::Add).filter(|_| cx.element_type(id).is_some_and(wraps))?;
    [(a, b), (b, a)].into_iter().find_map(|(difference, y)| {
        let (x, subtracted) = operands_of(cx, difference, Opcode::Subtract)?;
        (subtracted == y).then_some(x)
    })
}

/// Rewrites `(x + y) - y`, `x - (x + y)` and `x - (x - y)`.
fn subtract_add(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = operands_of(cx, id, Opcode::Subtract).filter(|_| cx.element_type(id).is_some_and(wraps))?;
    if let Some((x, y)) = operands_of(cx, a, Opcode::Add) {
        if y == b {
            return Some(x);
        }
        if x == b {
            return Some(y);
        }
    }
    if let Some((_, y)) = operands_of(cx, b, Opcode::Subtract).filter(|(x, _)| *x == a) {
        return Some(y);
    }
    let (x, y) = operands_of(cx, b, Opcode::Add).filter(|&(x, y)| x == a || y == a)?;
    Some(cx.add_same_shape(Op::Negate, &[if x == a { y } else { x }]))
}

/// Rewrites `x - c` to a sum, because sums of constants can be combined.
fn subtract_constant(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, c) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let a = cx.array(id).filter(|a| a.element_type.is_signed_integer())?;
    let value = splat_value(cx.module, c).filter(|_| !is_constant(cx, x))?;
    // The smallest number is its own negative.
    let negative = if value == type_range(a.element_type)?.low { value } else { -value };
    let c = cx.splat(&a, &wide_integer_bytes(a.element_type, negative)?)?;
    Some(cx.add_same_shape(Op::Add, &[x, c]))
}

/// Combines the two constants of nested sums and differences.
fn constant_subtract(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let shape = cx.array(id).filter(|a| wraps(a.element_type))?;
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let adds = cx.opcode(id) == Opcode::Add;
    // The inner sum and the constant.
    let (inner, c2) = match (is_constant(cx, a), is_constant(cx, b)) {
        (false, true) if adds => (a, b),
        (true, false) => (b, a),
        _ => return None,
    };
    if !cx.used_only_by(inner, id) {
        return None;
    }
    let (x, y) = (cx.operand(inner, 0)?, cx.operand(inner, 1)?);
    let (x, c1, subtracted) = match (cx.opcode(inner), is_constant(cx, x), is_constant(cx, y)) {
        (Opcode::Subtract, true, false) => (y, x, true),
        (Opcode::Add, false, true) if !adds => (x, y, false),
        (Opcode::Add, true, false) if !adds => (y, x, false),
        _ => return None,
    };
    Some(match (adds, subtracted) {
        (true, _) => {
            let c = cx.add(shape, Op::Add, &[c1, c2]);
            cx.add_same_shape(Op::Subtract, &[c, x])
        }
        (false, false) => {
            let c = cx.add(shape, Op::Subtract, &[c2, c1]);
            cx.add_same_shape(Op::Subtract, &[c, x])
        }
        (false, true) => {
            let c = cx.add(shape, Op::Subtract, &[c2, c1]);
            cx.add_same_shape(Op::Add, &[x, c])
        }
    })
}

/// Rewrites `x z + y z` to a single product, if the two products have no other users.
fn distribute(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id).filter(|a| wraps(a.element_type))?;
    let (first, second) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    if !cx.used_only_by(first, id) || !cx.used_only_by(second, id) || first == second {
        return None;
    }
    let (p, q) = operands_of(cx, first, Opcode::Multiply)?;
    let (r, s) = operands_of(cx, second, Opcode::Multiply)?;
    let (x, y, z) = [(p, r, q, s), (p, s, q, r), (q, r, p, s), (q, s, p, r)]
        .into_iter()
        .find_map(|(x, y, z, also)| (z == also).then_some((x, y, z)))?;
    let op = cx.module[id].op.clone();
    let sum = cx.add(a, op, &[x, y]);
    Some(cx.add_same_shape(Op::Multiply, &[sum, z]))
}

/// Cancels two signs. For integers, only in products: the smallest number is its own negative, which changes
/// a quotient.
fn multiply_negate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let ty = cx.element_type(id)?;
    let exact = ty.is_float() || (ty.is_integer() && cx.opcode(id) == Opcode::Multiply);
    let (x, y) = (negated(cx, cx.operand(id, 0)?)?, negated(cx, cx.operand(id, 1)?)?);
    let op = cx.module[id].op.clone();
    exact.then(|| cx.add_same_shape(op, &[x, y]))
}

/// Rewrites `|x| |x|`, because the sign cancels.
fn multiply_abs(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    if a != b || cx.opcode(a) != Opcode::Abs {
        return None;
    }
    let x = cx.operand(a, 0)?;
    // The magnitude of a complex number is real.
    (cx.element_type(x) == cx.element_type(a)).then(|| cx.add_same_shape(Op::Multiply, &[x, x]))
}

/// Rewrites the magnitude of a nonnegative floating-point number. All NaNs count as equal.
fn abs_nonnegative(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    is_nonnegative(cx, x, 8).then_some(x)
}

/// Returns whether a floating-point number is +0, positive or NaN.
fn is_nonnegative(cx: &Cx<'_>, id: InstrId, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    // Narrower types may lack NaN and produce -0 instead.
    use ElementType::{Bf16, F16, F32, F64};
    if !matches!(cx.element_type(id), Some(F16 | Bf16 | F32 | F64)) {
        return false;
    }
    let (a, b) = (cx.operand(id, 0), cx.operand(id, 1));
    let is = |o: Option<InstrId>| o.is_some_and(|o| is_nonnegative(cx, o, depth));
    match cx.opcode(id) {
        Opcode::Abs | Opcode::Exponential | Opcode::Logistic | Opcode::Iota => true,
        Opcode::Multiply => a == b || (is(a) && is(b)),
        Opcode::Add | Opcode::Divide | Opcode::Minimum => is(a) && is(b),
        // A NaN operand produces NaN.
        Opcode::Maximum => is(a) || is(b),
        Opcode::Select => is(b) && is(cx.operand(id, 2)),
        Opcode::Power
        | Opcode::Sqrt
        | Opcode::Broadcast
        | Opcode::Reshape
        | Opcode::Transpose
        | Opcode::Slice
        | Opcode::Reverse
        | Opcode::Floor
        | Opcode::Ceil => is(a),
        Opcode::Constant => {
            matches!(Number::splat(cx.module, id), Some(Number::Float(v)) if v.is_sign_positive())
        }
        _ => false,
    }
}

/// Combines two quotients by positive constants. Rounding toward zero twice equals rounding once.
fn divide_constants(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id).filter(|a| a.element_type.is_integer())?;
    let (inner, c2) = (cx.operand(id, 0)?, splat_value(cx.module, cx.operand(id, 1)?)?);
    let (x, c1) = operands_of(cx, inner, Opcode::Divide)?;
    let c1 = splat_value(cx.module, c1)?;
    if c1 <= 0 || c2 <= 0 || !cx.used_only_by(inner, id) {
        return None;
    }
    let product = c1.checked_mul(c2)?;
    let Some(bytes) = wide_integer_bytes(a.element_type, product) else {
        // If the divisor is one more than the largest number, the quotient of the smallest number is -1, not
        // 0.
        let all = type_range(a.element_type)?;
        let smaller = all.low > -product;
        return smaller.then(|| cx.splat(&a, &integer_bytes(a.element_type, 0)?)).flatten();
    };
    let c = cx.splat(&a, &bytes)?;
    Some(cx.add_same_shape(Op::Divide, &[x, c]))
}

/// Rewrites the remainder of a remainder by the same number.
fn remainder_twice(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (inner, y) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let (_, first) = operands_of(cx, inner, Opcode::Remainder)?;
    let same =
        first == y || splat_value(cx.module, y).is_some_and(|v| splat_value(cx.module, first) == Some(v));
    (same && !cx.element_type(id)?.is_complex()).then_some(inner)
}
