//! Reductions: each result element is a loop over the reduced dimensions.
//!
//! Source: operation semantics, "Reduce": the order in which elements are combined is unspecified. Here it
//! depends on the shapes only.

use super::body::array;
use super::carried_loops::{LoopStep, Span, carried_loops, round_all};
use super::element::ElementCx;
use super::extremum::Extremum;
use super::index::Idx;
use super::{scalar, sums};
use crate::elem::Elem;
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::{ElementType, InstrId, Op};
use hlo_plan::Refusal;

/// The parts of a reduction.
pub struct Parts<'a> {
    /// The arrays.
    pub operands: &'a [InstrId],
    /// Their initial values.
    pub inits: &'a [InstrId],
    /// The attributes.
    pub attrs: &'a ReduceAttrs,
    /// The element type of each array.
    pub types: Vec<ElementType>,
    /// The extremum, if the reduction computes the maximum or minimum of floats.
    extremum: Option<Extremum>,
}

impl Parts<'_> {
    /// Returns the types of the loop-carried values.
    pub fn carried(&self) -> Vec<ElementType> {
        self.extremum.map_or_else(|| self.types.clone(), |e| vec![e.integers])
    }

    /// Returns the initial loop-carried values.
    pub fn start<'c>(&self, cx: &ElementCx<'_, 'c>) -> Result<Vec<Elem<'c>>, Refusal> {
        let inits = self.inits.iter().map(|&i| cx.value(i, &[])).collect::<Result<Vec<_>, _>>()?;
        Ok(match self.extremum {
            Some(e) => vec![Elem::One(e.integer(cx.b, inits[0].first()))],
            None => inits,
        })
    }

    /// Returns the results, given the final loop-carried values.
    pub fn finish<'c>(&self, cx: &ElementCx<'_, 'c>, carried: Vec<Elem<'c>>) -> Vec<Elem<'c>> {
        match self.extremum {
            Some(e) => vec![Elem::One(e.float(cx.b, carried[0].first()))],
            None => round_all(cx, &self.types, carried),
        }
    }
}

/// Returns the parts of a `reduce`.
pub fn parts<'a>(cx: &ElementCx<'a, '_>, id: InstrId) -> Result<Parts<'a>, Refusal> {
    let module = cx.body.module;
    let instr = &module[id];
    let Op::Reduce(attrs) = &instr.op else { return Err("not a reduce".into()) };
    let (operands, inits) = instr.operands.split_at(instr.operands.len() / 2);
    let types =
        operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
    let extremum = (operands.len() == 1).then(|| Extremum::of(module, attrs.to_apply)).flatten();
    Ok(Parts { operands, inits, attrs, types, extremum })
}

/// Emits the result elements (one per operand) of a reduction at an index.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
    let p = parts(cx, id)?;
    let module = cx.body.module;
    let shape = array(module, p.operands[0])?;
    // The reduced dimensions, the slowest varying first.
    let reduced: Vec<usize> = shape
        .minor_to_major()
        .into_iter()
        .rev()
        .filter(|&d| p.attrs.dimensions.contains(&(d as i64)))
        .collect();
    let sizes: Vec<i64> = reduced.iter().map(|&d| shape.dims[d]).collect();
    let out = reducing_loops(cx, &p, &sizes, &mut Vec::new(), &mut |at, acc| {
        let full = full_index(shape.rank(), &p.attrs.dimensions, index, &reduced, at);
        combine(cx, &p, acc, &full)
    })?;
    Ok(p.finish(cx, out))
}

/// Emits [`carried_loops`] over the reduced dimensions, in blocks if the reduction is a long sum. Returns the
/// final loop-carried values.
pub fn reducing_loops<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Parts<'_>,
    sizes: &[i64],
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let init = p.start(cx)?;
    match (sums::summed_type(cx.body.module, p.attrs.to_apply), &init[..]) {
        (Some(ty), &[init]) => {
            let spans: Vec<Span<'c>> = sizes.iter().map(|&size| Span::whole(size)).collect();
            Ok(vec![sums::summed_spans(cx, &spans, ty, init, index, body)?])
        }
        _ => carried_loops(cx, sizes, &p.carried(), init, index, body),
    }
}

/// Emits one step: combines the loop-carried values with the operands' elements.
pub fn combine<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Parts<'_>,
    acc: &[Elem<'c>],
    index: &[Idx<'c>],
) -> Result<Vec<Elem<'c>>, Refusal> {
    if let Some(e) = p.extremum {
        let here = e.integer(cx.b, cx.value(p.operands[0], index)?.first());
        return Ok(vec![Elem::One(e.combine(cx.b, acc[0].first(), here))]);
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
    rank: usize,
    dimensions: &[i64],
    result: &[Idx<'c>],
    reduced: &[usize],
    at: &[Idx<'c>],
) -> Vec<Idx<'c>> {
    let mut kept = result.iter();
    (0..rank)
        .map(|d| {
            if dimensions.contains(&(d as i64)) {
                let k = reduced.iter().position(|&r| r == d);
                k.map_or(Idx::constant(0), |k| at[k])
            } else {
                kept.next().copied().unwrap_or(Idx::constant(0))
            }
        })
        .collect()
}
