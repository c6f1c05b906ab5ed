//! The magnitude of a number that is not negative.

use crate::support::constants::Number;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ElementType, InstrId, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[Pattern::new(
    "abs-nonnegative",
    "abs(x) → x, if x is exponential(y), multiply(y, y) or another float that is never below +0",
    &[Opcode::Abs],
    abs_nonnegative,
)];

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
