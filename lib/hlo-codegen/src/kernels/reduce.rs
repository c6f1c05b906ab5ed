//! Reductions: one result element as a loop over the reduced dimensions.
//!
//! Source: operation semantics, "Reduce": the order in which elements are combined is free. It is fixed here by the
//! shapes alone.

use super::body::array;
use super::carried::{LoopStep, Span, carried_loops, round_all};
use super::element::ElementCx;
use super::extremum::Extremum;
use super::index::Idx;
use super::{scalar, sums};
use crate::elem::Elem;
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::{ElementType, InstrId, Op};
use hlo_plan::Refusal;

/// A reduction's parts.
pub struct Parts<'a> {
    /// The arrays.
    pub operands: &'a [InstrId],
    /// Their initial values.
    pub inits: &'a [InstrId],
    /// The attributes.
    pub attrs: &'a ReduceAttrs,
    /// The element type of each array.
    pub types: Vec<ElementType>,
    /// What it is, if it gives extrema of floats.
    extremum: Option<Extremum>,
}

impl Parts<'_> {
    /// The types of what is carried from element to element.
    pub fn carried(&self) -> Vec<ElementType> {
        self.extremum.map_or_else(|| self.types.clone(), |e| vec![e.integers])
    }

    /// What is carried to the first element.
    pub fn start<'c>(&self, cx: &ElementCx<'_, 'c>) -> Result<Vec<Elem<'c>>, Refusal> {
        let inits = self.inits.iter().map(|&i| cx.value(i, &[])).collect::<Result<Vec<_>, _>>()?;
        Ok(match self.extremum {
            Some(e) => vec![Elem::One(e.integer(cx.b, inits[0].first()))],
            None => inits,
        })
    }

    /// The results, of what is carried from the last element.
    pub fn finish<'c>(&self, cx: &ElementCx<'_, 'c>, carried: Vec<Elem<'c>>) -> Vec<Elem<'c>> {
        match self.extremum {
            Some(e) => vec![Elem::One(e.float(cx.b, carried[0].first()))],
            None => round_all(cx, &self.types, carried),
        }
    }
}

/// Takes a `reduce` apart.
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

/// The result elements (one an operand) of a reduction at an index.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
    let p = parts(cx, id)?;
    let module = cx.body.module;
    let shape = array(module, p.operands[0])?;
    // The reduced dimensions from the slowest to the fastest varying one.
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

/// [`carried_loops`] over what is reduced, in blocks if it is a long sum: what is carried from the last element.
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

/// One step: what is carried, combined with the operands' elements.
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

/// The operand index whose reduced dimensions are `at` and whose other dimensions are the result's index.
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
