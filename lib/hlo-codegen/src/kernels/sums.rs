//! Long sums, computed in blocks. Loops add up blocks of elements, and then the sums of the blocks, again in
//! blocks. The error of a sum then grows with the logarithm of its length. With sequential addition in `f32`,
//! a sum of ones stays at 2²⁴ once it has reached that value.
//!
//! The loop sizes alone determine the blocks.

use super::carried_loops::{LoopStep, Span, carried_spans};
use super::element::ElementCx;
use super::index::Idx;
use super::scalar;
use crate::builder::{Binary, V};
use crate::elem::{self, Elem};
use crate::ops::elementwise;
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, Module};
use hlo_plan::Refusal;

/// Number of elements of a block, which one loop adds up. The block is long enough for the loop to be
/// vectorised, with a few dozen elements per vector lane.
const BLOCK_ELEMENTS: i64 = 2048;
/// Number of block sums that are added up to one sum of the next level.
const FANOUT: i64 = 32;

/// Returns the type of the accumulator if the computation adds two floats or complex numbers.
pub fn summed_type(module: &Module, computation: ComputationId) -> Option<ElementType> {
    match scalar::single_binary_op(module, computation) {
        Some((ElementwiseOp::Add, ty)) if ty.is_float() || ty.is_complex() => {
            Some(scalar::accumulator_type(ty))
        }
        _ => None,
    }
}

/// Returns the neutral element of addition, -0, which preserves the sign of a zero.
pub fn nothing<'c>(cx: &ElementCx<'_, 'c>, ty: ElementType) -> Elem<'c> {
    let part = ty.real_type();
    let minus_zero = match part {
        ElementType::F64 => (-0f64).to_le_bytes().to_vec(),
        _ => (-0f32).to_le_bytes().to_vec(),
    };
    elem::constant(cx.b, ty, &minus_zero.repeat(ty.byte_size() / part.byte_size()))
}

/// Emits `a + b`. The addition is not reassociated with others.
pub fn plus<'c>(
    cx: &ElementCx<'_, 'c>,
    ty: ElementType,
    a: Elem<'c>,
    b: Elem<'c>,
) -> Result<Elem<'c>, Refusal> {
    elementwise::emit(cx.b, ElementwiseOp::Add, ty, &[(a, ty), (b, ty)]).map_err(Refusal::from)
}

/// Like [`carried_spans`], for a `body` that adds to one accumulator of type `ty`. A long sum is computed in
/// blocks.
pub fn summed_spans<'c>(
    cx: &ElementCx<'_, 'c>,
    spans: &[Span<'c>],
    ty: ElementType,
    init: Elem<'c>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Elem<'c>, Refusal> {
    let sum = Sum { cx, ty };
    if elements(spans) <= BLOCK_ELEMENTS {
        return sum.block(spans, init, index, body);
    }
    let all = sum.nest(spans, index, body)?;
    plus(cx, ty, init, all)
}

/// Returns the maximum number of iterations of nested loops.
pub fn elements(spans: &[Span<'_>]) -> i64 {
    spans.iter().fold(1, |n, s| n.saturating_mul(s.size()))
}

/// Returns the step size of a loop over `length` indices: `unit` times a power of `FANOUT`, such that there
/// are at most `FANOUT` steps.
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

/// A range of indices of a loop.
struct Range<'c> {
    bounds: [V<'c>; 2],
    /// The maximum number of indices.
    length: i64,
    /// Whether the range has exactly this number of indices.
    exact: bool,
}

impl<'c> Sum<'_, '_, 'c> {
    /// Emits a sequential sum that starts from `init`.
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

    /// Emits the sum over nested loops.
    fn nest(
        &self,
        spans: &[Span<'c>],
        index: &mut Vec<Idx<'c>>,
        body: LoopStep<'_, 'c>,
    ) -> Result<Elem<'c>, Refusal> {
        let Some((outer, inner)) = spans.split_first().filter(|_| elements(spans) > BLOCK_ELEMENTS) else {
            return self.block(spans, nothing(self.cx, self.ty), index, body);
        };
        let range = Range { bounds: outer.bounds(self.cx.b), length: outer.size(), exact: !outer.is_part() };
        self.range(outer.size(), range, inner, index, body)
    }

    /// Emits the sum over a range of indices of a loop of `size`, and over the loops in it.
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
        if range.length.saturating_mul(inside) <= BLOCK_ELEMENTS {
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
        let step = step_size(range.length, (BLOCK_ELEMENTS / inside).max(1));
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
