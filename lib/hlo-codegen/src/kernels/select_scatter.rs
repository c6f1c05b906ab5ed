//! `select-and-scatter`: a loop nest over the windows. Each window updates one element of the result.
//!
//! Source: operation semantics, "SelectAndScatter". Windows are processed in row-major order. If several
//! windows select the same element, every run combines their values in the same order. Windows share no
//! elements along dimensions in which they have a single element. These dimensions form the kernel's
//! iterations.

use super::body::{Root, array};
use super::carried_loops::{carried_loops, carried_spans};
use super::covered_loops::CoveredLoops;
use super::element::ElementCx;
use super::index::{self, Idx};
use super::scalar;
use super::window::{accumulate, window_of_rank};
use crate::builder::{Binary, V};
use crate::elem::{self, Elem, flatten, regroup};
use hlo_ir::attr::{SelectAndScatterAttrs, WindowDim};
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op};
use hlo_plan::Refusal;

/// The loops of a `select-and-scatter`.
pub struct Plan<'a> {
    /// The number of independent iterations.
    pub iterations: i64,
    attrs: &'a SelectAndScatterAttrs,
    window: Vec<WindowDim>,
    operand: InstrId,
    source: InstrId,
    initial: InstrId,
    shape: &'a ArrayShape,
    places: &'a ArrayShape,
    /// The dimensions that form the iterations, and the other dimensions.
    independent: Vec<usize>,
    shared: Vec<usize>,
}

impl<'a> Plan<'a> {
    /// Plans a `select-and-scatter`.
    pub fn new(module: &'a Module, id: InstrId) -> Result<Self, Refusal> {
        let Op::SelectAndScatter(attrs) = &module[id].op else {
            return Err("not a select-and-scatter".into());
        };
        let &[operand, source, initial] = &module[id].operands[..] else {
            return Err("a select-and-scatter of other than three operands".into());
        };
        let (shape, places) = (array(module, id)?, array(module, source)?);
        let window = window_of_rank(&attrs.window, shape.rank());
        let single = |d: &usize| {
            let w = &window[*d];
            w.size == 1 && w.stride == 1 && w.lhs_dilate == 1 && w.pad_low == 0 && w.pad_high == 0
        };
        let (independent, shared): (Vec<usize>, Vec<usize>) = (0..shape.rank()).partition(single);
        let iterations = independent.iter().map(|&d| shape.dims[d]).product();
        Ok(Self { iterations, attrs, window, operand, source, initial, shape, places, independent, shared })
    }

    /// Returns the number of elements that are read: those of all windows.
    pub fn work(&self) -> i64 {
        let sizes = self.window.iter().zip(&self.shape.dims);
        let covered = sizes.fold(1i64, |n, (w, &size)| n.saturating_mul(w.most_covered(size)));
        covered.saturating_mul(self.places.element_count() as i64)
    }

    fn sizes(&self, shape: &ArrayShape, dims: &[usize]) -> Vec<i64> {
        dims.iter().map(|&d| shape.dims[d]).collect()
    }
}

/// Emits iterations `begin..end` of a `select-and-scatter`.
pub fn emit<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &Plan<'_>,
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
            plan.shared.iter().zip(at).for_each(|(&d, &i)| index[d] = i);
            index
        };
        cx.scoped(|| {
            let all = plan.sizes(plan.shape, &plan.shared);
            carried_loops(cx, &all, &[], Vec::new(), &mut Vec::new(), &mut |at, _| {
                cx.store(root, &at_all(at), initial)?;
                Ok(Vec::new())
            })?;
            let places = plan.sizes(plan.places, &plan.shared);
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
    plan: &Plan<'_>,
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
    plan: &Plan<'_>,
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
