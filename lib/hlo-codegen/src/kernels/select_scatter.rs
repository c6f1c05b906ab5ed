//! Emission of `select-and-scatter`: see [`hlo_kernel::select_scatter`].

use super::carried_loops::{carried_loops, carried_spans};
use super::covered_loops::CoveredLoops;
use super::element::ElementCx;
use super::index::{self, Idx};
use super::scalar;
use super::window::accumulate;
use crate::builder::{Binary, V};
use crate::elem::{self, Elem, flatten, regroup};
use hlo_ir::{ArrayShape, ElementType};
use hlo_kernel::Root;
use hlo_kernel::select_scatter::SelectAndScatterPlan;
use hlo_plan::Refusal;

/// Emits iterations `begin..end` of a `select-and-scatter`.
pub fn emit<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &SelectAndScatterPlan<'_>,
    root: &Root,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let b = cx.b;
    let initial = cx.value(plan.initial, &[])?;
    b.for_loop(begin, end, 1, |i| {
        let position = Idx::value(i, 0, plan.iterations.max(1) - 1);
        let mut outer = vec![Idx::constant(0); plan.shape.rank()];
        index::set_along(b, position, &plan.shape.dims, &plan.independent, &mut outer);
        let at_all = |at: &[Idx<'c>]| {
            let mut index = outer.clone();
            plan.sequential.iter().zip(at).for_each(|(&d, &i)| index[d] = i);
            index
        };
        cx.scoped(|| {
            let sizes =
                |shape: &ArrayShape| plan.sequential.iter().map(|&d| shape.dims[d]).collect::<Vec<_>>();
            let all = sizes(plan.shape);
            carried_loops(cx, &all, &[], Vec::new(), &mut Vec::new(), &mut |at, _| {
                cx.store(root, &at_all(at), initial)?;
                Ok(Vec::new())
            })?;
            let places = sizes(plan.source_shape);
            carried_loops(cx, &places, &[], Vec::new(), &mut Vec::new(), &mut |at, _| {
                update(cx, plan, root, &at_all(at))?;
                Ok(Vec::new())
            })
            .map(drop)
        })
    })
}

/// Returns the types of the loop-carried values of a window: whether an element was found, its position, and
/// the element.
fn carried(ty: ElementType) -> [ElementType; 3] {
    [ElementType::Pred, ElementType::S64, ty]
}

/// Combines the source's element at `place` with the element that the window there selects.
fn update<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &SelectAndScatterPlan<'_>,
    root: &Root,
    place: &[Idx<'c>],
) -> Result<(), Refusal> {
    let (b, module) = (cx.b, cx.body.module);
    let ty = plan.shape.element_type;
    let types = carried(ty);
    let loops = CoveredLoops::new(cx, &plan.window, &plan.shape.dims, place);
    let nothing = types.iter().map(|&t| elem::constant(b, t, &[])).collect();
    let chosen = carried_spans(cx, &loops.spans(), &types, nothing, &mut Vec::new(), &mut |at, so_far| {
        let (at, inside) = loops.element(cx, at);
        accumulate(cx, inside, &types, so_far, |so_far| select(cx, plan, so_far, &at))
    })?;
    let [Elem::One(found), Elem::One(position), _] = chosen[..] else {
        return Err("a window without a choice".into());
    };
    b.if_then(found, || {
        cx.scoped(|| {
            let buffer = cx.buffer(root.slot);
            let old = elem::load(b, ty, buffer, position);
            let new = cx.value(plan.source, place)?;
            let sum = scalar::apply(b, module, plan.attrs.scatter, &[old, new], false)?;
            let sum = *sum.first().ok_or("a scatter function without a result")?;
            elem::store(b, ty, buffer, position, sum);
            Ok(())
        })
    })
}

/// Emits one step through a window. The selected element is kept if `select` prefers it to the element at
/// `at`.
fn select<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &SelectAndScatterPlan<'_>,
    so_far: &[Elem<'c>],
    at: &[Idx<'c>],
) -> Result<Vec<Elem<'c>>, Refusal> {
    let (b, module) = (cx.b, cx.body.module);
    let candidate = cx.value(plan.operand, at)?;
    let preferred = scalar::apply(b, module, plan.attrs.select, &[so_far[2], candidate], false)?;
    let preferred = preferred.first().ok_or("a select function without a result")?.first();
    let keep = b.binary(Binary::Andi, so_far[0].first(), preferred);
    let new = [Elem::One(b.const_bool(true)), Elem::One(cx.position(plan.shape, at)), candidate];
    let next: Vec<V<'c>> =
        flatten(so_far).into_iter().zip(flatten(&new)).map(|(old, new)| b.select(keep, old, new)).collect();
    Ok(regroup(&carried(plan.shape.element_type), &next))
}
