//! Patterns that regroup associative operations on integers, so that less is computed.

use super::shape::broadcast_parts;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[Pattern::new(
    "broadcasts-together",
    "add(add(x, broadcast(a)), broadcast(b)) → add(x, broadcast(add(a, b))) for scalars a, b, or arrays with equal broadcast dimensions (integers); also multiply, and, or, xor, maximum, minimum",
    Opcode::ASSOCIATIVE,
    broadcasts_together,
)];

/// Returns the operation and its shape, if the result does not depend on the grouping.
fn associative(cx: &Cx<'_>, id: InstrId) -> Option<(Op, ArrayShape)> {
    let shape = cx.array(id)?;
    let exact = shape.element_type.is_integer() || shape.element_type.is_pred();
    exact.then(|| (cx.module[id].op.clone(), shape))
}

/// Returns whether `inner` is the same operation as `outer` and has no other user.
fn is_part(cx: &Cx<'_>, inner: InstrId, outer: InstrId) -> bool {
    cx.opcode(inner) == cx.opcode(outer) && cx.used_only_by(inner, outer)
}

/// Combines two broadcasts: applies the operation before the broadcast.
fn broadcasts_together(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (op, shape) = associative(cx, id)?;
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    for (inner, outer) in [(a, b), (b, a)] {
        if !is_part(cx, inner, id) {
            continue;
        }
        let (x, y) = (cx.operand(inner, 0)?, cx.operand(inner, 1)?);
        for (x, own) in [(x, y), (y, x)] {
            let Some((dims, map)) = shared_broadcast(cx, own, outer, &shape) else { continue };
            let mut parts = [own, outer];
            for part in &mut parts {
                let (value, sizes, _, _) = broadcast_parts(cx, *part)?;
                *part = if sizes == dims { value } else { cx.broadcast(value, &dims, &[])? };
            }
            let part = ArrayShape::new(shape.element_type, dims);
            let together = cx.add(part, op.clone(), &parts);
            let together = cx.broadcast(together, &shape.dims, &map)?;
            return Some(cx.add_same_shape(op, &[x, together]));
        }
    }
    None
}

/// Returns the sizes and the dimension map that two broadcasts share. If one of them is a scalar, these are
/// the other's. There must be fewer elements before the broadcast than after it.
fn shared_broadcast(cx: &Cx<'_>, a: InstrId, b: InstrId, shape: &ArrayShape) -> Option<(Dims, Dims)> {
    let (_, a, a_map, _) = broadcast_parts(cx, a)?;
    let (_, b, b_map, _) = broadcast_parts(cx, b)?;
    let (dims, map) = match (a.is_empty(), b.is_empty()) {
        (true, _) => (b, b_map),
        (_, true) => (a, a_map),
        _ => ((a, a_map) == (b.clone(), b_map.clone())).then_some((b, b_map))?,
    };
    let part = ArrayShape::new(shape.element_type, dims.iter().copied());
    (part.checked_element_count()? < shape.checked_element_count()?).then_some((dims, map))
}
