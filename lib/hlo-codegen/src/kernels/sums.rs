//! Emission of long sums in blocks: see [`SumBlocks`].

use super::carried_loops::{LoopStep, Span, carried_spans};
use super::element::ElementCx;
use super::index::Idx;
use crate::builder::{Binary, V};
use crate::elem::{self, Elem};
use crate::ops::elementwise;
use hlo_ir::{ElementType, ElementwiseOp};
use hlo_kernel::{BLOCK_ELEMENTS, SumBlocks};
use hlo_plan::Refusal;

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

/// Returns the blocks of a sum over nested loops.
pub fn blocks_of(spans: &[Span<'_>]) -> SumBlocks {
    SumBlocks::of(&spans.iter().map(Span::extent).collect::<Vec<_>>(), BLOCK_ELEMENTS)
}

/// Like [`carried_spans`], for a `body` that adds to one accumulator of type `ty`, in blocks.
pub fn summed_spans<'c>(
    cx: &ElementCx<'_, 'c>,
    blocks: &SumBlocks,
    spans: &[Span<'c>],
    ty: ElementType,
    init: Elem<'c>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Elem<'c>, Refusal> {
    let sum = Sum { cx, ty };
    if *blocks == SumBlocks::Sequence {
        return sum.sequence(spans, init, index, body);
    }
    let all = sum.blocks(blocks, spans, index, body)?;
    plus(cx, ty, init, all)
}

struct Sum<'s, 'a, 'c> {
    cx: &'s ElementCx<'a, 'c>,
    ty: ElementType,
}

impl<'c> Sum<'_, '_, 'c> {
    /// Emits a sequential sum that starts from `init`.
    fn sequence(
        &self,
        spans: &[Span<'c>],
        init: Elem<'c>,
        index: &mut Vec<Idx<'c>>,
        body: LoopStep<'_, 'c>,
    ) -> Result<Elem<'c>, Refusal> {
        let sum = carried_spans(self.cx, spans, &[self.ty], vec![init], index, body)?;
        sum.first().copied().ok_or_else(|| "a sum without a result".into())
    }

    /// Emits the sum over nested loops that are divided into blocks.
    fn blocks(
        &self,
        blocks: &SumBlocks,
        spans: &[Span<'c>],
        index: &mut Vec<Idx<'c>>,
        body: LoopStep<'_, 'c>,
    ) -> Result<Elem<'c>, Refusal> {
        let (cx, b) = (self.cx, self.cx.b);
        let nothing = || nothing(cx, self.ty);
        match (blocks, spans.split_first()) {
            (SumBlocks::Sequence, _) | (_, None) => self.sequence(spans, nothing(), index, body),
            (SumBlocks::Inside(blocks), Some((outer, inner))) => {
                let [lower, _] = outer.bounds(b);
                index.push(Idx::value(lower, 0, outer.size() - 1));
                let sum = self.blocks(blocks, inner, index, body);
                index.pop();
                sum
            }
            (SumBlocks::Parts { step, exact, part }, Some((outer, _))) => {
                let [lower, upper] = outer.bounds(b);
                let sum = b.for_carry(lower, upper, *step, &nothing().flatten(), |start, sum| {
                    cx.scoped(|| -> Result<Vec<V<'c>>, Refusal> {
                        let end = b.index_add(start, b.index(*step));
                        let end = if *exact { end } else { b.binary(Binary::Smin, end, upper) };
                        let spans = Span::restricted(spans, [start, end]);
                        let part = self.blocks(part, &spans, index, body)?;
                        Ok(plus(cx, self.ty, Elem::from_values(self.ty, sum), part)?.flatten())
                    })
                })?;
                Ok(Elem::from_values(self.ty, &sum))
            }
        }
    }
}
