//! Patterns on sums, products, quotients, powers and extrema.

use crate::support::constants::{
    ElementBytes, float_bytes, float_value, is_splat_float, is_splat_integer, literal, splat,
    wide_integer_bytes,
};
use crate::support::integer_range::type_range;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::ResultAccuracy;
use hlo_ir::{AlignedBytes, ArrayShape, Dims, ElementType, InstrId, Literal, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("add-zero", "add(x, 0) → x; for floats add(x, -0)", &[Opcode::Add], add_zero),
    Pattern::new("add-negate", "add(x, negate(y)) → subtract(x, y)", &[Opcode::Add], add_negate),
    Pattern::new("subtract-zero", "subtract(x, 0) → x", &[Opcode::Subtract], subtract_zero),
    Pattern::new("subtract-self", "subtract(x, x) → 0 (integers)", &[Opcode::Subtract], subtract_self),
    Pattern::new(
        "subtract-negate",
        "subtract(x, negate(y)) → add(x, y)",
        &[Opcode::Subtract],
        subtract_negate,
    ),
    Pattern::new(
        "zero-subtract",
        "subtract(0, x) → negate(x); for floats subtract(-0, x)",
        &[Opcode::Subtract],
        zero_subtract,
    ),
    Pattern::new("multiply-one", "multiply(x, 1) → x", &[Opcode::Multiply], multiply_one),
    Pattern::new("multiply-zero", "multiply(x, 0) → 0 (integers)", &[Opcode::Multiply], multiply_zero),
    Pattern::new(
        "multiply-minus-one",
        "multiply(x, -1) → negate(x)",
        &[Opcode::Multiply],
        multiply_minus_one,
    ),
    Pattern::new("divide-one", "divide(x, 1) → x", &[Opcode::Divide], divide_one),
    Pattern::new(
        "divide-power-of-two",
        "divide(x, 2^k) → multiply(x, 2^-k) (floats, also with several k), shift-right-logical(x, k) (unsigned integers)",
        &[Opcode::Divide],
        divide_power_of_two,
    ),
    Pattern::new(
        "remainder-power-of-two",
        "remainder(x, 2^k) → and(x, 2^k - 1) (unsigned integers)",
        &[Opcode::Remainder],
        remainder_power_of_two,
    ),
    Pattern::new(
        "power-constant",
        "power(x, c) → 1, x, multiply(x, x), divide(1, x) for c = 0, 1, 2, -1; products for c = 3, 4 (integers)",
        &[Opcode::Power],
        power_constant,
    ),
    Pattern::new("negate-negate", "negate(negate(x)) → x", &[Opcode::Negate], negate_negate),
    Pattern::new(
        "negate-subtract",
        "negate(subtract(x, y)) → subtract(y, x) (integers)",
        &[Opcode::Negate],
        negate_subtract,
    ),
    Pattern::new("abs-abs", "abs(abs(x)), abs(negate(x)) → abs(x)", &[Opcode::Abs], abs_abs),
    Pattern::new(
        "extremum-self",
        "maximum(x, x), minimum(x, x) → x",
        &[Opcode::Maximum, Opcode::Minimum],
        extremum_self,
    ),
    Pattern::new(
        "extremum-neutral",
        "maximum(x, lowest) → x, minimum(x, highest) → x",
        &[Opcode::Maximum, Opcode::Minimum],
        extremum_neutral,
    ),
    Pattern::new("idempotent", "floor(floor(x)) → floor(x); also ceil, rounding, sign", ROUNDING, idempotent),
    Pattern::new(
        "narrow-operands",
        "op(broadcast(a), broadcast(b)) → broadcast(op(a, b)) for scalars a, b, or arrays with equal broadcast dimensions",
        Opcode::ELEMENTWISE,
        narrow_operands,
    ),
    Pattern::new(
        "add-constants",
        "add(add(x, c1), c2) → add(x, add(c1, c2)) (integers); also multiply, and, or, xor; maximum, minimum (also floats)",
        Opcode::ASSOCIATIVE,
        merge_constants,
    ),
];

const ROUNDING: &[Opcode] =
    &[Opcode::Floor, Opcode::Ceil, Opcode::RoundNearestEven, Opcode::RoundNearestAfz, Opcode::Sign];

/// Returns whether arithmetic in this type wraps around.
pub(super) fn wraps(ty: ElementType) -> bool {
    ty.is_integer()
}

/// Returns the other operand of a commutative operation, if `constant(cx, operand)` is true for one of the
/// two.
fn other_operand(cx: &Cx<'_>, id: InstrId, constant: impl Fn(&Cx<'_>, InstrId) -> bool) -> Option<InstrId> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    if constant(cx, b) {
        Some(a)
    } else if constant(cx, a) {
        Some(b)
    } else {
        None
    }
}

/// Rewrites `x + 0`. For floating-point numbers, only `-0` is neutral, because `-0 + 0` is `0`.
fn add_zero(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let float = cx.element_type(id)?.is_float();
    other_operand(cx, id, |cx, c| {
        if float { is_splat_float(cx.module, c, -0.0) } else { is_splat_integer(cx.module, c, 0) }
    })
}

/// Rewrites `x + (-y)`. IEEE 754 and wrapping integers define subtraction this way.
fn add_negate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let (x, y) = match (negated(cx, a), negated(cx, b)) {
        (_, Some(y)) => (a, y),
        (Some(y), None) => (b, y),
        (None, None) => return None,
    };
    Some(cx.add_same_shape(Op::Subtract, &[x, y]))
}

/// Rewrites `x - 0`. This is exact for floating-point numbers too: `-0 - 0` is `-0`.
fn subtract_zero(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, zero) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    is_splat_integer(cx.module, zero, 0).then_some(x)
}

/// Rewrites `x - x`, except for floating-point numbers, where the result may be NaN.
fn subtract_self(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id)?;
    (cx.operand(id, 0) == cx.operand(id, 1) && wraps(a.element_type))
        .then(|| cx.splat_integer(&a, 0))
        .flatten()
}

fn subtract_negate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, y) = (cx.operand(id, 0)?, negated(cx, cx.operand(id, 1)?)?);
    Some(cx.add_same_shape(Op::Add, &[x, y]))
}

/// Rewrites `0 - x`. For floating-point numbers, only `-0 - x`, because `0 - 0` is `0`, but `negate(0)` is
/// `-0`.
fn zero_subtract(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (zero, x) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let ty = cx.element_type(id)?;
    let neutral = if ty.is_float() {
        is_splat_float(cx.module, zero, -0.0)
    } else {
        wraps(ty) && is_splat_integer(cx.module, zero, 0)
    };
    neutral.then(|| cx.add_same_shape(Op::Negate, &[x]))
}

fn multiply_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    other_operand(cx, id, |cx, c| is_splat_integer(cx.module, c, 1))
}

/// Rewrites `x * 0`, except for floating-point numbers, where NaN, infinities and signs matter.
fn multiply_zero(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id).filter(|a| wraps(a.element_type))?;
    other_operand(cx, id, |cx, c| is_splat_integer(cx.module, c, 0))?;
    cx.splat_integer(&a, 0)
}

/// Rewrites `x * -1`. Both forms only flip the sign, or wrap.
fn multiply_minus_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = other_operand(cx, id, |cx, c| is_splat_integer(cx.module, c, -1))?;
    Some(cx.add_same_shape(Op::Negate, &[x]))
}

fn divide_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, one) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    is_splat_integer(cx.module, one, 1).then_some(x)
}

/// Rewrites `x / 2^k`. The reciprocal of a power of two is exact, so both forms round the same number.
fn divide_power_of_two(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, c) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let a = cx.array(id)?;
    let ty = a.element_type;
    if ty.is_unsigned_integer() {
        let shift = i64::from(unsigned_power_of_two(cx, c)?);
        let shift = cx.splat_integer(&a, shift)?;
        return Some(cx.add_same_shape(Op::ShiftRightLogical, &[x, shift]));
    }
    let reciprocal = match splat(cx.module, c) {
        Some((_, bytes)) => cx.splat(&a, &exact_reciprocal(ty, &bytes)?)?,
        None => exact_reciprocals(cx, c)?,
    };
    Some(cx.add_same_shape(Op::Multiply, &[x, reciprocal]))
}

/// Returns the reciprocal of a power of two, if both are normal numbers of the type.
fn exact_reciprocal(ty: ElementType, bytes: &[u8]) -> Option<ElementBytes> {
    let value = float_value(ty, bytes)?;
    let mantissa_is_zero = value.is_normal() && value.to_bits() & ((1 << 52) - 1) == 0;
    let exact = mantissa_is_zero && is_normal_in(ty, 1.0 / value) && is_normal_in(ty, value);
    exact.then(|| float_bytes(ty, 1.0 / value)).flatten()
}

/// Returns the exact reciprocals of the elements of a constant, or of a broadcast constant.
fn exact_reciprocals(cx: &mut Cx<'_>, c: InstrId) -> Option<InstrId> {
    /// Maximum size in bytes of a constant whose elements are examined.
    const MAX_BYTES: usize = 4096;
    let from = match cx.module[c].op {
        Op::Broadcast(_) => cx.operand(c, 0)?,
        _ => c,
    };
    let shape = cx.array(from)?;
    let ty = shape.element_type;
    let value = literal(cx.module, from).filter(|l| l.bytes().len() <= MAX_BYTES)?;
    let mut bytes = Vec::with_capacity(value.bytes().len());
    for element in value.bytes().chunks_exact(ty.byte_size()) {
        bytes.extend_from_slice(&exact_reciprocal(ty, element)?);
    }
    let plain = ArrayShape::new(ty, shape.dims);
    let reciprocals = Literal::try_from_bytes(plain.clone().into(), AlignedBytes::from_slice(&bytes))?;
    let reciprocals = cx.add(plain, Op::constant(reciprocals), &[]);
    match cx.module[c].op.clone() {
        Op::Broadcast(a) => {
            let sizes = cx.array(c)?.dims;
            cx.broadcast(reciprocals, &sizes, &a.dimensions)
        }
        _ => Some(reciprocals),
    }
}

/// Returns whether the type represents the value as a normal number.
fn is_normal_in(ty: ElementType, value: f64) -> bool {
    let smallest = match ty {
        ElementType::F16 => 2f64.powi(-14),
        ElementType::Bf16 | ElementType::F32 => 2f64.powi(-126),
        ElementType::F64 => f64::MIN_POSITIVE,
        _ => return false,
    };
    value.abs() >= smallest && float_bytes(ty, value).is_some()
}

/// Returns the exponent, if all elements of `id` are the same power of two, at least 2, of an unsigned type.
fn unsigned_power_of_two(cx: &Cx<'_>, id: InstrId) -> Option<u32> {
    let (ty, bytes) = splat(cx.module, id)?;
    let mut wide = [0u8; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(&bytes);
    let value = u64::from_le_bytes(wide);
    (ty.is_unsigned_integer() && value.is_power_of_two() && value > 1).then(|| value.trailing_zeros())
}

/// Rewrites `x % 2^k`, only for unsigned integers: a signed remainder has the sign of `x`.
fn remainder_power_of_two(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, c) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let a = cx.array(id)?;
    let k = unsigned_power_of_two(cx, c)?;
    let mask = cx.splat(&a, (((1u64 << k) - 1).to_le_bytes()).get(..a.element_type.byte_size())?)?;
    Some(cx.add_same_shape(Op::And, &[x, mask]))
}

/// Rewrites `x^c` if the new form is exact for every `x`. This excludes `x^0.5`: for `-inf`, it is `inf`, but
/// `sqrt` is NaN.
fn power_constant(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, c) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let a = cx.array(id).filter(|a| a.element_type.is_float() || a.element_type.is_integer())?;
    let is = |value| is_splat_integer(cx.module, c, value);
    if is(0) {
        return cx.splat_integer(&a, 1);
    }
    if is(1) {
        return Some(x);
    }
    if is(2) {
        return Some(cx.add_same_shape(Op::Multiply, &[x, x]));
    }
    let (cube, fourth) = (is(3), is(4));
    if (cube || fourth) && a.element_type.is_integer() {
        let square = cx.add(a, Op::Multiply, &[x, x]);
        return Some(cx.add_same_shape(Op::Multiply, &[square, if cube { x } else { square }]));
    }
    if is(-1) && a.element_type.is_float() {
        let one = cx.splat_integer(&a, 1)?;
        return Some(cx.add_same_shape(Op::Divide, &[one, x]));
    }
    None
}

fn negate_negate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    negated(cx, cx.operand(id, 0)?)
}

/// Returns `x` if `id` is `-x`. Excludes `f8e8m0fnu`, which has no sign: there the negation is NaN.
pub(super) fn negated(cx: &Cx<'_>, id: InstrId) -> Option<InstrId> {
    let negation = cx.opcode(id) == Opcode::Negate && cx.element_type(id)? != ElementType::F8E8M0Fnu;
    negation.then(|| cx.operand(id, 0)).flatten()
}

/// Rewrites `-(x - y)`, except for floating-point numbers, where the sign of a zero difference would change.
fn negate_subtract(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0)?;
    if cx.opcode(inner) != Opcode::Subtract || !wraps(cx.element_type(id)?) || !cx.used_only_by(inner, id) {
        return None;
    }
    let (x, y) = (cx.operand(inner, 0)?, cx.operand(inner, 1)?);
    Some(cx.add_same_shape(Op::Subtract, &[y, x]))
}

/// Rewrites `|(|x|)|` and `|-x|`.
fn abs_abs(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0)?;
    if cx.opcode(inner) == Opcode::Abs && cx.element_type(inner) == cx.element_type(id) {
        return Some(inner);
    }
    let x = negated(cx, inner)?;
    Some(cx.add_same_shape(Op::Abs, &[x]))
}

/// Rewrites the maximum or minimum of a value and itself.
fn extremum_self(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    (cx.operand(id, 0) == cx.operand(id, 1)).then(|| cx.operand(id, 0)).flatten()
}

/// Rewrites the maximum with the lowest value of the type, or the minimum with the highest. For
/// floating-point numbers, these are infinities.
fn extremum_neutral(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let maximum = cx.opcode(id) == Opcode::Maximum;
    other_operand(cx, id, |cx, c| is_extreme(cx, c, maximum))
}

/// Returns whether all elements are the lowest value of the type, or the highest.
pub(super) fn is_extreme(cx: &Cx<'_>, c: InstrId, lowest: bool) -> bool {
    if cx.element_type(c).is_some_and(|t| t.is_float()) {
        return is_splat_float(cx.module, c, if lowest { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let Some((ty, bytes)) = splat(cx.module, c) else { return false };
    let extreme = type_range(ty).map(|r| if lowest { r.low } else { r.high });
    extreme.and_then(|v| wide_integer_bytes(ty, v)).is_some_and(|b| b == bytes)
}

/// Rewrites the rounding of a value that is already rounded.
fn idempotent(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0)?;
    let complex = cx.element_type(id)?.is_complex();
    (cx.opcode(inner) == cx.opcode(id) && !complex).then_some(inner)
}

/// Computes an elementwise operation once, before the broadcast, if its operands are equal along some
/// dimensions.
fn narrow_operands(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id).filter(|a| a.rank() > 0)?;
    let operands = cx.module[id].operands.clone();
    // The sizes before the broadcast and the dimension map, which all non-scalar operands share.
    let mut before: Option<(Dims, Dims)> = None;
    let mut inner = Vec::with_capacity(operands.len());
    for &o in &operands {
        let (x, map) = match &cx.module[o].op {
            Op::Broadcast(b) => (cx.operand(o, 0)?, b.dimensions.clone()),
            _ if cx.module[o].shape.is_scalar() => (o, Dims::new()),
            _ => return None,
        };
        let dims = cx.array(x)?.dims;
        if dims.is_empty() {
            inner.push((x, true));
            continue;
        }
        if before.as_ref().is_some_and(|b| *b != (dims.clone(), map.clone())) {
            return None;
        }
        before = Some((dims, map));
        inner.push((x, false));
    }
    let (dims, map) = before.unwrap_or_default();
    // Without fewer elements, the rewrite gains nothing.
    if ArrayShape::new(a.element_type, dims.iter().copied()).element_count() >= a.element_count() {
        return None;
    }
    let mut narrow = Vec::with_capacity(inner.len());
    for (x, scalar) in inner {
        narrow.push(if scalar && !dims.is_empty() { cx.broadcast(x, &dims, &[])? } else { x });
    }
    let op = cx.module[id].op.clone();
    let accuracy = cx.module[id].common.as_deref().map_or(ResultAccuracy::Default, |c| c.result_accuracy);
    let value = cx.add(ArrayShape::new(a.element_type, dims), op, &narrow);
    if accuracy != ResultAccuracy::Default {
        cx.module.common_mut(value).result_accuracy = accuracy;
    }
    Some(cx.add_same_shape(Op::broadcast(map), &[value]))
}

/// Combines two constants in an associative chain. Wrapping arithmetic is associative, and so are maximum and
/// minimum. Floating-point sums and products are not.
fn merge_constants(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let ty = cx.element_type(id)?;
    let extremum = matches!(cx.opcode(id), Opcode::Maximum | Opcode::Minimum);
    if !(ty.is_integer() || ty.is_pred() || ty.is_float() && extremum) {
        return None;
    }
    let (inner, c2) = constant_side(cx, id)?;
    if cx.opcode(inner) != cx.opcode(id) || !cx.used_only_by(inner, id) {
        return None;
    }
    let (x, c1) = constant_side(cx, inner)?;
    let op = cx.module[id].op.clone();
    let shape = cx.array(id)?;
    let constants = cx.add(shape, op.clone(), &[c1, c2]);
    Some(cx.add_same_shape(op, &[x, constants]))
}

/// Returns the other operand and the constant operand of a binary operation with exactly one constant
/// operand.
pub(super) fn constant_side(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId)> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    match (is_constant(cx, a), is_constant(cx, b)) {
        (false, true) => Some((a, b)),
        (true, false) => Some((b, a)),
        _ => None,
    }
}

/// Returns whether the instruction is a constant, or an array with equal constant elements.
pub(super) fn is_constant(cx: &Cx<'_>, id: InstrId) -> bool {
    literal(cx.module, id).is_some() || splat(cx.module, id).is_some()
}
