//! Patterns on reduce.

use crate::support::combiner::{binary_combiner, is_neutral};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::build::Build;
use hlo_ir::{Dims, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "reduce-one",
        "reduce(x, init) over dimensions of size 1 (or none) → op(init, reshape(x))",
        &[Opcode::Reduce],
        reduce_one,
    ),
    Pattern::new(
        "reduce-degenerate",
        "reduce(x) over some dimensions of size 1 → reduce(reshape(x)) over the others",
        &[Opcode::Reduce],
        reduce_degenerate,
    ),
    Pattern::new(
        "reduce-reduce",
        "reduce(reduce(x)) → reduce(x) over all dimensions (if the grouping does not matter)",
        &[Opcode::Reduce],
        reduce_reduce,
    ),
];

/// Returns the operand, the initial value and the attributes of a reduce of one array.
pub(super) fn reduce_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId, ReduceAttrs)> {
    let Op::Reduce(a) = cx.module[id].op.clone() else { return None };
    match cx.module[id].operands.as_slice() {
        &[x, init] => Some((x, init, a)),
        _ => None,
    }
}

/// Returns the sizes of the reduced dimensions.
fn reduced_sizes(cx: &Cx<'_>, x: InstrId, a: &ReduceAttrs) -> Option<Dims> {
    let dims = cx.array(x)?.dims;
    a.dimensions.iter().map(|&d| usize::try_from(d).ok().and_then(|d| dims.get(d)).copied()).collect()
}

/// Rewrites a reduce in which each result combines the initial value with one element.
fn reduce_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, init, a) = reduce_parts(cx, id)?;
    let to = cx.array(id)?;
    if reduced_sizes(cx, x, &a)?.iter().any(|&size| size != 1) {
        return None;
    }
    let op = binary_combiner(cx.module, a.to_apply)?.default_op();
    let elements = cx.reshaped(x, &to.dims)?;
    let init = cx.add(to, Op::broadcast([]), &[init]);
    Some(cx.add_same_shape(op, &[init, elements]))
}

/// Rewrites a reduce over dimensions of size 1 and others.
fn reduce_degenerate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, init, a) = reduce_parts(cx, id)?;
    let sizes = reduced_sizes(cx, x, &a)?;
    if !sizes.contains(&1) || sizes.iter().all(|&size| size == 1) {
        return None;
    }
    let from = cx.array(x)?.dims;
    let mut kept_sizes = Dims::new();
    let mut dimensions = Dims::new();
    for (d, &size) in from.iter().enumerate() {
        let reduced = a.dimensions.contains(&(d as i64));
        if reduced && size == 1 {
            continue;
        }
        if reduced {
            dimensions.push(kept_sizes.len() as i64);
        }
        kept_sizes.push(size);
    }
    let x = cx.reshaped(x, &kept_sizes)?;
    Some(cx.add_same_shape(Op::Reduce(ReduceAttrs { dimensions, ..a }), &[x, init]))
}

/// Combines two consecutive reductions by an operation whose result does not depend on the grouping. Both
/// must begin with its identity.
fn reduce_reduce(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (inner, init, outer) = reduce_parts(cx, id)?;
    let (x, inner_init, first) = reduce_parts(cx, inner)?;
    let op = binary_combiner(cx.module, outer.to_apply)?;
    let same = binary_combiner(cx.module, first.to_apply) == Some(op);
    if !same
        || !cx.used_only_by(inner, id)
        || !is_neutral(cx.module, op, init)?
        || !is_neutral(cx.module, op, inner_init)?
    {
        return None;
    }
    let rank = cx.array(x)?.rank() as i64;
    let kept: Vec<i64> = (0..rank).filter(|d| !first.dimensions.contains(d)).collect();
    let mut dimensions = first.dimensions.clone();
    for &d in &outer.dimensions {
        dimensions.push(*kept.get(usize::try_from(d).ok()?)?);
    }
    dimensions.sort_unstable();
    Some(cx.add_same_shape(Op::Reduce(ReduceAttrs { dimensions, ..outer }), &[x, init]))
}
