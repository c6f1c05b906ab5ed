//! Patterns on sums, products, quotients, powers and extrema.

use crate::support::constants::{ElementBytes, float_bytes, float_value, literal, splat};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::ResultAccuracy;
use hlo_ir::{AlignedBytes, ArrayShape, Dims, ElementType, InstrId, Literal, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
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
        "narrow-operands",
        "op(broadcast(a), broadcast(b)) → broadcast(op(a, b)) for scalars a, b, or arrays with equal broadcast dimensions",
        Opcode::ELEMENTWISE,
        narrow_operands,
    ),
];

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
