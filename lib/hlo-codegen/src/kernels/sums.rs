//! Long sums: loops that add up blocks, then the blocks' sums in blocks of their own, so that the error of a sum grows
//! with the logarithm of its length. Added one after the other, 2²⁴ ones and all that come after them are 2²⁴ in `f32`.
//!
//! Which elements make a block follows from the loops' sizes alone.

use super::carried::{LoopStep, Span, carried_spans};
use super::element::ElementCx;
use super::index::Idx;
use super::scalar;
use crate::builder::{Binary, V};
use crate::elem::{self, Elem};
use crate::ops::elementwise;
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, Module};
use hlo_plan::Refusal;

/// The elements of a block, which one loop adds up: enough for it to be vectorised, so that each lane has a few dozen.
const BLOCK: i64 = 2048;
/// So many blocks' sums are added up to one of the next level.
const FANOUT: i64 = 32;

/// The type of the accumulator if the computation is a sum of two floats or complex numbers.
pub fn summed_type(module: &Module, computation: ComputationId) -> Option<ElementType> {
    match scalar::single_binary_op(module, computation) {
        Some((ElementwiseOp::Add, ty)) if ty.is_float() || ty.is_complex() => {
            Some(scalar::accumulator_type(ty))
        }
        _ => None,
    }
}

/// The neutral element of addition, which keeps the sign of a zero: -0.
pub fn nothing<'c>(cx: &ElementCx<'_, 'c>, ty: ElementType) -> Elem<'c> {
    let part = ty.real_type();
    let minus_zero = match part {
        ElementType::F64 => (-0f64).to_le_bytes().to_vec(),
        _ => (-0f32).to_le_bytes().to_vec(),
    };
    elem::constant(cx.b, ty, &minus_zero.repeat(ty.byte_size() / part.byte_size()))
}

/// `a + b`, in no other order with anything around it.
pub fn plus<'c>(
    cx: &ElementCx<'_, 'c>,
    ty: ElementType,
    a: Elem<'c>,
    b: Elem<'c>,
) -> Result<Elem<'c>, Refusal> {
    elementwise::emit(cx.b, ElementwiseOp::Add, ty, &[(a, ty), (b, ty)]).map_err(Refusal::from)
}

/// As [`carried_spans`] for a `body` that adds to its one accumulator, of type `ty`: in blocks if the sum is long.
pub fn summed_spans<'c>(
    cx: &ElementCx<'_, 'c>,
    spans: &[Span<'c>],
    ty: ElementType,
    init: Elem<'c>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Elem<'c>, Refusal> {
    let sum = Sum { cx, ty };
    if elements(spans) <= BLOCK {
        return sum.block(spans, init, index, body);
    }
    let all = sum.nest(spans, index, body)?;
    plus(cx, ty, init, all)
}

/// The number of iterations of nested loops, at most.
pub fn elements(spans: &[Span<'_>]) -> i64 {
    spans.iter().fold(1, |n, s| n.saturating_mul(s.size()))
}

/// Steps through `length` indices, so many that each has `unit` indices or a power of `FANOUT` times as many, and
/// that there are at most `FANOUT` of them.
pub fn step_size(length: i64, unit: i64) -> i64 {
    let mut step = unit;
    while step.saturating_mul(FANOUT) < length {
        step *= FANOUT;
    }
    step
}

struct Sum<'s, 'a, 'c> {
    cx: &'s ElementCx<'a, 'c>,
    ty: ElementType,
}

/// Some indices of a loop.
struct Range<'c> {
    bounds: [V<'c>; 2],
    /// How many there are, at most.
    length: i64,
    /// True if there are that many.
    exact: bool,
}

impl<'c> Sum<'_, '_, 'c> {
    /// One after the other, from `init` on.
    fn block(
        &self,
        spans: &[Span<'c>],
        init: Elem<'c>,
        index: &mut Vec<Idx<'c>>,
        body: LoopStep<'_, 'c>,
    ) -> Result<Elem<'c>, Refusal> {
        let sum = carried_spans(self.cx, spans, &[self.ty], vec![init], index, body)?;
        sum.first().copied().ok_or_else(|| "a sum without a result".into())
    }

    /// The sum over nested loops.
    fn nest(
        &self,
        spans: &[Span<'c>],
        index: &mut Vec<Idx<'c>>,
        body: LoopStep<'_, 'c>,
    ) -> Result<Elem<'c>, Refusal> {
        let Some((outer, inner)) = spans.split_first().filter(|_| elements(spans) > BLOCK) else {
            return self.block(spans, nothing(self.cx, self.ty), index, body);
        };
        let range = Range { bounds: outer.bounds(self.cx.b), length: outer.size(), exact: !outer.is_part() };
        self.range(outer.size(), range, inner, index, body)
    }

    /// The sum over some indices of a loop of `size`, and over the loops in it.
    fn range(
        &self,
        size: i64,
        range: Range<'c>,
        inner: &[Span<'c>],
        index: &mut Vec<Idx<'c>>,
        body: LoopStep<'_, 'c>,
    ) -> Result<Elem<'c>, Refusal> {
        let (b, [lower, upper]) = (self.cx.b, range.bounds);
        let inside = elements(inner);
        if range.length.saturating_mul(inside) <= BLOCK {
            let spans: Vec<_> =
                std::iter::once(Span::part(size, lower, upper)).chain(inner.iter().copied()).collect();
            return self.block(&spans, nothing(self.cx, self.ty), index, body);
        }
        if range.length == 1 {
            index.push(Idx::value(lower, 0, size - 1));
            let sum = self.nest(inner, index, body);
            index.pop();
            return sum;
        }
        let step = step_size(range.length, (BLOCK / inside).max(1));
        let exact = range.exact && range.length % step == 0;
        let sum = b.for_carry(lower, upper, step, &nothing(self.cx, self.ty).flatten(), |start, sum| {
            self.cx.scoped(|| -> Result<Vec<V<'c>>, Refusal> {
                let end = b.index_add(start, b.index(step));
                let end = if exact { end } else { b.binary(Binary::Smin, end, upper) };
                let part = Range { bounds: [start, end], length: step, exact };
                let part = self.range(size, part, inner, index, body)?;
                Ok(plus(self.cx, self.ty, Elem::from_values(self.ty, sum), part)?.flatten())
            })
        })?;
        Ok(Elem::from_values(self.ty, &sum))
    }
}
