//! Reductions: one result element as a loop over the reduced dimensions.
//!
//! Source: operation semantics, "Reduce": the order in which elements are combined is free. It is fixed here by the
//! shapes alone.

use super::body::array;
use super::element::ElementCx;
use super::index::Idx;
use super::{scalar, sums};
use crate::builder::{Builder, V};
use crate::elem::{self, Elem};
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
}

/// Takes a `reduce` apart.
pub fn parts<'a>(cx: &ElementCx<'a, '_>, id: InstrId) -> Result<Parts<'a>, Refusal> {
    let module = cx.body.module;
    let instr = &module[id];
    let Op::Reduce(attrs) = &instr.op else { return Err("not a reduce".into()) };
    let (operands, inits) = instr.operands.split_at(instr.operands.len() / 2);
    let types =
        operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
    Ok(Parts { operands, inits, attrs, types })
}

/// Groups flat SSA values into elements of the given types.
pub fn regroup<'c>(types: &[ElementType], values: &[V<'c>]) -> Vec<Elem<'c>> {
    let mut rest = values;
    types
        .iter()
        .map(|&ty| {
            let (now, later) = rest.split_at(if ty.is_complex() { 2 } else { 1 });
            rest = later;
            Elem::from_values(ty, now)
        })
        .collect()
}

/// Flattens elements to SSA values.
pub fn flatten<'c>(elements: &[Elem<'c>]) -> Vec<V<'c>> {
    elements.iter().flat_map(Elem::flatten).collect()
}

/// The body of loops that carry elements: from the loops' indices and the elements so far to the next elements.
pub type LoopStep<'a, 'c> = &'a mut dyn FnMut(&[Idx<'c>], &[Elem<'c>]) -> Result<Vec<Elem<'c>>, Refusal>;

/// The indices of a loop.
#[derive(Clone, Copy)]
pub struct Span<'c> {
    /// All indices are in `0..size`.
    size: i64,
    /// The first one and the one after the last, if they are fewer than that.
    part: Option<[V<'c>; 2]>,
}

impl<'c> Span<'c> {
    /// `0..size`.
    pub fn whole(size: i64) -> Self {
        Self { size, part: None }
    }

    /// Those of `0..size` that are also in `lower..upper`, neither of them outside of `0..=size`.
    pub fn part(size: i64, lower: V<'c>, upper: V<'c>) -> Self {
        Self { size, part: Some([lower, upper]) }
    }

    /// True if it is not `0..size`.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// The number of indices, at most.
    pub fn size(&self) -> i64 {
        self.size
    }

    /// The first index and the one after the last.
    pub fn bounds(&self, b: &Builder<'c>) -> [V<'c>; 2] {
        self.part.unwrap_or_else(|| [b.index(0), b.index(self.size)])
    }
}

/// Emits nested loops `0..size` that carry elements; `body` gets the index of every loop, outermost first.
pub fn carried_loops<'c>(
    cx: &ElementCx<'_, 'c>,
    sizes: &[i64],
    types: &[ElementType],
    init: Vec<Elem<'c>>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let spans: Vec<Span<'c>> = sizes.iter().map(|&size| Span::whole(size)).collect();
    carried_spans(cx, &spans, types, init, index, body)
}

/// The same for loops over parts of their ranges.
pub fn carried_spans<'c>(
    cx: &ElementCx<'_, 'c>,
    spans: &[Span<'c>],
    types: &[ElementType],
    init: Vec<Elem<'c>>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let Some((&span, rest)) = spans.split_first() else { return body(index, &init) };
    let size = span.size;
    if size == 1 && !span.is_part() {
        index.push(Idx::constant(0));
        let out = carried_spans(cx, rest, types, init, index, body);
        index.pop();
        return out;
    }
    let b = cx.b;
    let [lower, upper] = span.bounds(b);
    let out = b.for_carry(lower, upper, 1, &flatten(&init), |i, carried| {
        index.push(Idx::value(i, 0, size - 1));
        let inner = regroup(types, carried);
        let next = cx.scoped(|| carried_spans(cx, rest, types, inner, index, body));
        index.pop();
        next.map(|e| flatten(&e))
    })?;
    Ok(regroup(types, &out))
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
    let init = p.inits.iter().map(|&i| cx.value(i, &[])).collect::<Result<Vec<_>, _>>()?;
    let out = reducing_loops(cx, &p, &sizes, init, &mut Vec::new(), &mut |at, acc| {
        let full = full_index(shape.rank(), &p.attrs.dimensions, index, &reduced, at);
        combine(cx, &p, acc, &full)
    })?;
    Ok(round_all(cx, &p.types, out))
}

/// [`carried_loops`] over what is reduced, in blocks if it is a long sum.
pub fn reducing_loops<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Parts<'_>,
    sizes: &[i64],
    init: Vec<Elem<'c>>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    match (sums::summed_type(cx.body.module, p.attrs.to_apply), &init[..]) {
        (Some(ty), &[init]) => {
            let spans: Vec<Span<'c>> = sizes.iter().map(|&size| Span::whole(size)).collect();
            Ok(vec![sums::summed_spans(cx, &spans, ty, init, index, body)?])
        }
        _ => carried_loops(cx, sizes, &p.types, init, index, body),
    }
}

/// One step: the accumulators combined with the operands' elements.
pub fn combine<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Parts<'_>,
    acc: &[Elem<'c>],
    index: &[Idx<'c>],
) -> Result<Vec<Elem<'c>>, Refusal> {
    let mut arguments = acc.to_vec();
    for &o in p.operands {
        arguments.push(cx.value(o, index)?);
    }
    scalar::apply(cx.b, cx.body.module, p.attrs.to_apply, &arguments, true)
}

/// Accumulators of narrow floats are carried wide; the result is rounded once.
pub fn round_all<'c>(cx: &ElementCx<'_, 'c>, types: &[ElementType], values: Vec<Elem<'c>>) -> Vec<Elem<'c>> {
    let round = |(&ty, e): (&ElementType, Elem<'c>)| match e {
        Elem::One(v) if ty.is_float() => Elem::One(elem::round_to(cx.b, ty, v)),
        other => other,
    };
    types.iter().zip(values).map(round).collect()
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
