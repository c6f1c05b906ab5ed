//! Patterns in which one operation undoes or repeats another.

use crate::support::constants::{Number, integer_bytes, is_constant, splat_value, wide_integer_bytes};
use crate::support::integer_range::type_range;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ElementType, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "subtract-constant",
        "subtract(x, c) → add(x, -c) (signed integers)",
        &[Opcode::Subtract],
        subtract_constant,
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
];

/// Returns the two operands, if `id` has this opcode.
fn operands_of(cx: &Cx<'_>, id: InstrId, opcode: Opcode) -> Option<(InstrId, InstrId)> {
    (cx.opcode(id) == opcode).then(|| Some((cx.operand(id, 0)?, cx.operand(id, 1)?))).flatten()
}

/// Rewrites `x - c` to a sum, because sums of constants can be combined.
fn subtract_constant(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, c) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let a = cx.array(id).filter(|a| a.element_type.is_signed_integer())?;
    let value = splat_value(cx.module, c).filter(|_| !is_constant(cx.module, x))?;
    // The smallest number is its own negative.
    let negative = if value == type_range(a.element_type)?.low { value } else { -value };
    let c = cx.splat(&a, &wide_integer_bytes(a.element_type, negative)?)?;
    Some(cx.add_same_shape(Op::Add, &[x, c]))
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
