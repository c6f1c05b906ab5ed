//! Emission of row kernels: see [`hlo_kernel::rows`].

use super::carried_loops::carried_loops;
use super::element::{ElementCx, Precomputed};
use super::index::{self, Idx};
use super::reduce::{combine, finish, reducing_loops};
use crate::builder::V;
use crate::elem;
use hlo_ir::{InstrId, Op};
use hlo_kernel::rows::RowPlan;
use hlo_plan::{Refusal, array};

/// Emits rows `begin..end`.
pub fn emit<'c>(cx: &ElementCx<'_, 'c>, plan: &RowPlan, begin: V<'c>, end: V<'c>) -> Result<(), Refusal> {
    let b = cx.b;
    let row: i64 = plan.trailing.iter().product();
    let mut buffers = Vec::new();
    for &id in &plan.kept {
        let ty = array(cx.body.module, id)?.element_type;
        buffers.push((id, cx.stack_array(ty, row)));
    }
    b.for_loop(begin, end, 1, |i| {
        let position = Idx::value(i, 0, plan.rows - 1);
        let order: Vec<usize> = (0..plan.leading.len()).rev().collect();
        let at = index::delinearize(b, position, &plan.leading, &order);
        cx.scoped(|| one_row(cx, plan, &at, &buffers))
    })
}

fn one_row<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &RowPlan,
    at: &[Idx<'c>],
    buffers: &[(InstrId, V<'c>)],
) -> Result<(), Refusal> {
    let module = cx.body.module;
    for &id in &plan.per_row {
        let value = if matches!(module[id].op, Op::Reduce(_)) {
            reduce_row(cx, plan, id, at, buffers)?
        } else {
            let rank = array(module, id)?.rank();
            let mut index = at.to_vec();
            index.resize(rank, Idx::constant(0));
            cx.value(id, &index)?
        };
        cx.set_precomputed(id, Precomputed::Scalar(value));
    }
    let mut index = at.to_vec();
    row_loops(cx, &plan.trailing, &mut index, &mut |index| {
        let values = cx.body.roots.iter().map(|r| cx.value(r.id, index)).collect::<Result<Vec<_>, _>>()?;
        for (root, value) in cx.body.roots.iter().zip(values) {
            cx.store(root, index, value)?;
        }
        Ok(())
    })
}

/// Emits loops over a row. `index` starts with the row's own index.
fn row_loops<'c>(
    cx: &ElementCx<'_, 'c>,
    sizes: &[i64],
    index: &mut Vec<Idx<'c>>,
    body: &mut dyn FnMut(&[Idx<'c>]) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    carried_loops(cx, sizes, &[], Vec::new(), index, &mut |index, _| {
        body(index)?;
        Ok(Vec::new())
    })?;
    Ok(())
}

/// Reduces one row. Keeps the reduced elements if the plan requires it.
fn reduce_row<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &RowPlan,
    id: InstrId,
    at: &[Idx<'c>],
    buffers: &[(InstrId, V<'c>)],
) -> Result<elem::Elem<'c>, Refusal> {
    let p = &cx.body.reduction(id)?;
    let operand = p.operands[0];
    let shape = array(cx.body.module, operand)?;
    let split = plan.leading.len();
    let strides = shape.row_major_strides();
    let keep = buffers.iter().find(|(kept, _)| *kept == operand).copied();
    let mut index = at.to_vec();
    let out = reducing_loops(cx, p, &mut index, &mut |index, acc| {
        let next = combine(cx, p, acc, index)?;
        if let Some((_, base)) = keep {
            let value = cx.value(operand, index)?;
            let position = index::linear(cx.b, &index[split..], &strides[split..]).emit(cx.b);
            elem::store(cx.b, shape.element_type, base, position, value);
        }
        Ok(next)
    })?;
    if let Some((_, base)) = keep {
        cx.set_precomputed(operand, Precomputed::Row { base, dims: plan.trailing.len() });
    }
    Ok(finish(cx, p, out)[0])
}
