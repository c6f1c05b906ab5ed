//! Emission of reductions: each result element is a loop over the reduced dimensions.

use super::carried_loops::{LoopStep, Span, carried_loops, round_all};
use super::element::ElementCx;
use super::index::Idx;
use super::{extremum, scalar, sums};
use crate::elem::Elem;
use hlo_ir::InstrId;
use hlo_kernel::{Combine, Reduction};
use hlo_plan::{Refusal, array};

/// Emits the initial loop-carried values.
pub fn start<'c>(cx: &ElementCx<'_, 'c>, p: &Reduction<'_>) -> Result<Vec<Elem<'c>>, Refusal> {
    let inits = p.inits.iter().map(|&i| cx.value(i, &[])).collect::<Result<Vec<_>, _>>()?;
    Ok(match p.combine {
        Combine::Extremum(e) => vec![Elem::One(extremum::integer(cx.b, e, inits[0].first()))],
        Combine::Sum(_) | Combine::Computation => inits,
    })
}

/// Emits the results, given the final loop-carried values.
pub fn finish<'c>(cx: &ElementCx<'_, 'c>, p: &Reduction<'_>, carried: Vec<Elem<'c>>) -> Vec<Elem<'c>> {
    match p.combine {
        Combine::Extremum(e) => vec![Elem::One(extremum::float(cx.b, e, carried[0].first()))],
        Combine::Sum(_) | Combine::Computation => round_all(cx, &p.types, carried),
    }
}

/// Emits the result elements (one per operand) of a reduction at an index.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
    let p = &cx.body.reduction(id)?;
    let out = reducing_loops(cx, p, &mut Vec::new(), &mut |at, acc| {
        combine(cx, p, acc, &full_index(cx, p, index, at)?)
    })?;
    Ok(finish(cx, p, out))
}

/// Emits [`carried_loops`] over the reduced dimensions, in blocks if the reduction is a long sum. Returns the
/// final loop-carried values.
pub fn reducing_loops<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Reduction<'_>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let init = start(cx, p)?;
    match (p.combine, &init[..]) {
        (Combine::Sum(ty), &[init]) => {
            let spans: Vec<Span<'c>> = p.sizes.iter().map(|&size| Span::whole(size)).collect();
            Ok(vec![sums::summed_spans(cx, &p.blocks, &spans, ty, init, index, body)?])
        }
        _ => carried_loops(cx, &p.sizes, &p.carried(), init, index, body),
    }
}

/// Emits one step: combines the loop-carried values with the operands' elements.
pub fn combine<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Reduction<'_>,
    acc: &[Elem<'c>],
    index: &[Idx<'c>],
) -> Result<Vec<Elem<'c>>, Refusal> {
    if let Combine::Extremum(e) = p.combine {
        let here = extremum::integer(cx.b, e, cx.value(p.operands[0], index)?.first());
        return Ok(vec![Elem::One(extremum::combine(cx.b, e, acc[0].first(), here))]);
    }
    let mut arguments = acc.to_vec();
    for &o in p.operands {
        arguments.push(cx.value(o, index)?);
    }
    scalar::apply(cx.b, cx.body.module, p.attrs.to_apply, &arguments, true)
}

/// Returns the operand index whose reduced dimensions are `at` and whose other dimensions are the result's
/// index.
pub fn full_index<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Reduction<'_>,
    result: &[Idx<'c>],
    at: &[Idx<'c>],
) -> Result<Vec<Idx<'c>>, Refusal> {
    let rank = array(cx.body.module, p.operands[0])?.rank();
    let mut kept = result.iter();
    let index = |d: usize| match p.reduced.iter().position(|&r| r == d) {
        Some(k) => at[k],
        None => kept.next().copied().unwrap_or(Idx::constant(0)),
    };
    Ok((0..rank).map(index).collect())
}
