//! Patterns that add to a value directly instead of writing to zeros and adding those.

use super::start_indices::{starts, window};
use crate::support::combiner::binary_combiner;
use crate::support::constants::{is_splat_float, is_splat_integer};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "add-update",
        "add(x, dynamic-update-slice(0, u, i)) → dynamic-update-slice(x, add(dynamic-slice(x, i), u), i); for floats, with -0",
        &[Opcode::Add],
        add_update,
    ),
    Pattern::new(
        "add-scatter",
        "add(x, scatter(0, i, u)) by add → scatter(x, i, u) (integers)",
        &[Opcode::Add],
        add_scatter,
    ),
];

/// Returns the operand that writes to zeros by an instruction with this opcode and has no other user, and the
/// other operand. For floating-point numbers, the zeros are -0, which preserve even the sign of a sum.
fn written(cx: &Cx<'_>, id: InstrId, opcode: Opcode) -> Option<(InstrId, InstrId)> {
    let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let ty = cx.element_type(id)?;
    let to_zeros = |w: InstrId| {
        let to = cx.operand(w, 0).filter(|_| cx.opcode(w) == opcode && cx.used_only_by(w, id));
        to.is_some_and(|zeros| {
            if ty.is_float() {
                is_splat_float(cx.module, zeros, -0.0)
            } else {
                ty.is_integer() && is_splat_integer(cx.module, zeros, 0)
            }
        })
    };
    [(a, b), (b, a)].into_iter().find(|&(w, x)| w != x && to_zeros(w))
}

/// Adds in the window only, because the rest of the sum equals `x`.
fn add_update(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (update, x) = written(cx, id, Opcode::DynamicUpdateSlice)?;
    let new = cx.operand(update, 1)?;
    let (whole, shape) = (cx.array(id)?, cx.array(new)?);
    let at = starts(cx, update, whole.rank())?;
    let old = window(cx, x, &at, &shape.dims)?;
    let sum = cx.add(shape, Op::Add, &[old, new]);
    let operands: Vec<InstrId> = [x, sum].into_iter().chain(at).collect();
    Some(cx.add_same_shape(Op::DynamicUpdateSlice, &operands))
}

/// Scatters into `x` directly. Sums of integers can begin with any value.
fn add_scatter(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (scatter, x) = written(cx, id, Opcode::Scatter)?;
    let Op::Scatter(a) = cx.module[scatter].op.clone() else { return None };
    let &[_, indices, updates] = cx.module[scatter].operands.as_slice() else { return None };
    let sums = binary_combiner(cx.module, a.to_apply) == Some(Opcode::Add);
    let exact = cx.array(id)?.element_type.is_integer();
    (sums && exact).then(|| cx.add_same_shape(Op::Scatter(a), &[x, indices, updates]))
}
