//! Patterns on tuples: tuple constants, and barriers with unused elements.

use crate::support::effects::is_impure;
use crate::support::rewrite::{Cx, Pattern};
use crate::support::while_loop::element_of;
use hlo_ir::{InstrId, Op, Opcode, Shape};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "constant-tuple",
        "constant of a tuple → tuple of constants",
        &[Opcode::Constant],
        constant_tuple,
    ),
    Pattern::new(
        "barrier-unused",
        "opt-barrier(tuple(x, y)) with unused y → opt-barrier(tuple(x))",
        &[Opcode::OptBarrier],
        barrier_unused,
    ),
];

/// Splits a tuple constant into its elements.
fn constant_tuple(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Constant(a) = &cx.module[id].op else { return None };
    if a.is_elided() || !cx.module[id].shape.is_tuple() {
        return None;
    }
    let elements = a.literal.tuple_elements().to_vec();
    let shapes = cx.module[id].shape.as_tuple()?.to_vec();
    let parts: Vec<InstrId> =
        elements.into_iter().zip(shapes).map(|(e, shape)| cx.add(shape, Op::constant(e), &[])).collect();
    Some(cx.add_same_shape(Op::Tuple, &parts))
}

/// Removes unused elements from a barrier, unless they have side effects.
fn barrier_unused(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let tuple = cx.operand(id, 0).filter(|&t| cx.opcode(t) == Opcode::Tuple)?;
    let parts = cx.module[tuple].operands.to_vec();
    let users = cx.module.users(id).to_vec();
    if users.is_empty() || cx.module.is_root(id) {
        return None;
    }
    let mut used: Vec<bool> = parts.iter().map(|&p| is_impure(&cx.module[p].op)).collect();
    for user in users {
        *used.get_mut(element_of(cx.module, user, id)?)? = true;
    }
    if used.iter().all(|&u| u) {
        return None;
    }
    let kept: Vec<InstrId> = parts.iter().zip(&used).filter(|(_, u)| **u).map(|(p, _)| *p).collect();
    let shape = Shape::Tuple(kept.iter().map(|&p| cx.module[p].shape.clone()).collect());
    let inside = cx.add(shape.clone(), Op::Tuple, &kept);
    let barrier = cx.add(shape, Op::OptBarrier, &[inside]);
    let mut results = Vec::with_capacity(parts.len());
    let mut n = 0;
    for (&part, used) in parts.iter().zip(used) {
        let shape = cx.module[part].shape.clone();
        results.push(if used { cx.add(shape, Op::get_tuple_element(n as i64), &[barrier]) } else { part });
        n += usize::from(used);
    }
    Some(cx.add_same_shape(Op::Tuple, &results))
}
