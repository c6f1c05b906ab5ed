//! Loops with loop-carried elements, used by reductions, windows, products and scatters.

use super::element::ElementCx;
use super::index::Idx;
use crate::builder::{Builder, V};
use crate::elem::{self, Elem, flatten, regroup};
use hlo_ir::ElementType;
use hlo_kernel::Extent;
use hlo_plan::Refusal;

/// The body of loops that carry elements. It maps the loops' indices and the current elements to the next
/// elements.
pub type LoopStep<'a, 'c> = &'a mut dyn FnMut(&[Idx<'c>], &[Elem<'c>]) -> Result<Vec<Elem<'c>>, Refusal>;

/// The indices of a loop.
#[derive(Clone, Copy)]
pub struct Span<'c> {
    /// All indices are in `0..size`.
    size: i64,
    /// The first index and the index after the last, if the loop runs over a part of `0..size`.
    part: Option<[V<'c>; 2]>,
}

impl<'c> Span<'c> {
    /// Returns the span `0..size`.
    pub fn whole(size: i64) -> Self {
        Self { size, part: None }
    }

    /// Returns the part `lower..upper` of `0..size`. Both bounds must be in `0..=size`.
    pub fn part(size: i64, lower: V<'c>, upper: V<'c>) -> Self {
        Self { size, part: Some([lower, upper]) }
    }

    /// Returns whether the span is only a part of `0..size`.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// Returns the maximum number of indices.
    pub fn size(&self) -> i64 {
        self.size
    }

    /// Returns the number of indices as far as it is known.
    pub fn extent(&self) -> Extent {
        Extent { size: self.size, exact: !self.is_part() }
    }

    /// Returns the same spans with the first restricted to the indices from `lower` to before `upper`.
    pub fn restricted(spans: &[Self], [lower, upper]: [V<'c>; 2]) -> Vec<Self> {
        let mut spans = spans.to_vec();
        if let Some(first) = spans.first_mut() {
            *first = Self::part(first.size, lower, upper);
        }
        spans
    }

    /// Returns the first index and the index after the last.
    pub fn bounds(&self, b: &Builder<'c>) -> [V<'c>; 2] {
        self.part.unwrap_or_else(|| [b.index(0), b.index(self.size)])
    }
}

/// Emits nested loops `0..size` that carry elements. `body` receives the index of every loop, outermost
/// first.
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

/// Like [`carried_loops`], but for loops over parts of their ranges.
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

/// Rounds accumulators to the types of the results. Narrow floats are accumulated in a wider type and rounded
/// once.
pub fn round_all<'c>(cx: &ElementCx<'_, 'c>, types: &[ElementType], values: Vec<Elem<'c>>) -> Vec<Elem<'c>> {
    let round = |(&ty, e): (&ElementType, Elem<'c>)| match e {
        Elem::One(v) if ty.is_float() => Elem::One(elem::round_to(cx.b, ty, v)),
        other => other,
    };
    types.iter().zip(values).map(round).collect()
}
