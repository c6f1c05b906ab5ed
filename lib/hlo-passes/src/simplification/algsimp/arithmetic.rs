//! Patterns on sums, products, quotients, powers and extrema.

use crate::support::constants::{exact_reciprocal, float_bytes, float_value, literal};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::ResultAccuracy;
use hlo_ir::{AlignedBytes, ArrayShape, Dims, InstrId, Literal, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "divide-powers-of-two",
        "divide(x, c) → multiply(x, 1 / c), if c contains several powers of two (floats)",
        &[Opcode::Divide],
        divide_powers_of_two,
    ),
    Pattern::new(
        "narrow-operands",
        "op(broadcast(a), broadcast(b)) → broadcast(op(a, b)) for scalars a, b, or arrays with equal broadcast dimensions",
        Opcode::ELEMENTWISE,
        narrow_operands,
    ),
];

/// Rewrites a quotient by different powers of two. The reciprocal of a power of two is exact, so both forms round
/// the same number.
fn divide_powers_of_two(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, c) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let reciprocals = exact_reciprocals(cx, c)?;
    Some(cx.add_same_shape(Op::Multiply, &[x, reciprocals]))
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
        let reciprocal = exact_reciprocal(ty, float_value(ty, element)?)?;
        bytes.extend_from_slice(&float_bytes(ty, reciprocal)?);
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
