//! Windowed reductions, one result element at a time.
//!
//! Source: operation semantics, "ReduceWindow".

use super::body::array;
use super::carried::{LoopStep, Span, carried_spans, round_all};
use super::element::ElementCx;
use super::index::Idx;
use super::{scalar, sums};
use crate::builder::{Binary, IntPredicate, V};
use crate::elem::{self, Elem, flatten, regroup};
use hlo_ir::attr::{Window, WindowDim};
use hlo_ir::{ElementType, InstrId, Op};
use hlo_plan::Refusal;

/// In windows of fewer elements along a dimension each one is tested for being on the array: such loops are unrolled,
/// and the loop around them has vectors.
const MIN_CLIPPED: i64 = 16;

/// Windows of no more elements have no loops: LLVM, which would unroll them, stops at two dimensions, and the loop around gets no
/// vectors then.
const MAX_UNROLLED: i64 = 16;

/// The result elements (one an operand) of a `reduce-window` at an index. As in XLA, `rhs_reversal` means nothing
/// here: elements are combined in row-major order.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
    let module = cx.body.module;
    let instr = &module[id];
    let Op::ReduceWindow(attrs) = &instr.op else { return Err("not a reduce-window".into()) };
    let (operands, inits) = instr.operands.split_at(instr.operands.len() / 2);
    let types: Vec<ElementType> =
        operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
    let dims = array(module, operands[0])?.dims.clone();
    let window = window_of_rank(&attrs.window, dims.len());
    let spans: Vec<Span<'c>> =
        window.iter().enumerate().map(|(d, w)| span(cx, w, index[d], dims[d])).collect();
    let init = inits.iter().map(|&i| cx.value(i, &[])).collect::<Result<Vec<_>, _>>()?;
    let b = cx.b;
    let mut step = |at: &[Idx<'c>], acc: &[Elem<'c>]| {
        let mut inside: Option<V<'c>> = None;
        let mut inner = Vec::with_capacity(dims.len());
        for (d, w) in window.iter().enumerate() {
            let offset = at[d].times(b, w.rhs_dilate);
            let position = index[d].times(b, w.stride).add(b, offset).plus(w.pad_low.saturating_neg());
            let position = match spans[d].is_part() {
                true => position.within(0, last_position(w, dims[d])),
                false => position,
            };
            inner.push(base_index(cx, position, dims[d], w.lhs_dilate, &mut inside));
        }
        accumulate(cx, inside, &types, acc, |acc| {
            let mut arguments = acc.to_vec();
            for &o in operands {
                arguments.push(cx.value(o, &inner)?);
            }
            scalar::apply(b, module, attrs.to_apply, &arguments, true)
        })
    };
    let at = &mut Vec::new();
    if spans.iter().all(|s| !s.is_part()) && sums::elements(&spans) <= MAX_UNROLLED {
        let sizes: Vec<i64> = spans.iter().map(Span::size).collect();
        let out = one_by_one(&sizes, init, at, &mut step)?;
        return Ok(round_all(cx, &types, out));
    }
    let out = match (sums::summed_type(module, attrs.to_apply), &init[..]) {
        (Some(ty), &[init]) => vec![sums::summed_spans(cx, &spans, ty, init, at, &mut step)?],
        _ => carried_spans(cx, &spans, &types, init, at, &mut step)?,
    };
    Ok(round_all(cx, &types, out))
}

/// The places of a window one after the other, in row-major order, without loops.
fn one_by_one<'c>(
    sizes: &[i64],
    init: Vec<Elem<'c>>,
    at: &mut Vec<Idx<'c>>,
    step: LoopStep<'_, 'c>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let Some((&size, rest)) = sizes.split_first() else { return step(at, &init) };
    let mut acc = init;
    for place in 0..size {
        at.push(Idx::constant(place));
        let next = one_by_one(rest, acc, at, step);
        at.pop();
        acc = next?;
    }
    Ok(acc)
}

/// The window's dimensions, trivial ones where none are written.
pub fn window_of_rank(window: &Window, rank: usize) -> Vec<WindowDim> {
    if window.dims.is_empty() { vec![WindowDim::default(); rank] } else { window.dims.clone() }
}

/// The position of the last element of a dimension of `size` elements.
fn last_position(w: &WindowDim, size: i64) -> i64 {
    (size - 1).saturating_mul(w.lhs_dilate)
}

/// The elements of a long window at `at` that are not before or after the array: a loop over them alone takes less time,
/// and loads in it have no condition. (Masked loads trap into microcode where a masked-off lane is outside of mapped
/// memory.)
fn span<'c>(cx: &ElementCx<'_, 'c>, w: &WindowDim, at: Idx<'c>, size: i64) -> Span<'c> {
    let b = cx.b;
    let (first, last) = (at.times(b, w.stride).plus(w.pad_low.saturating_neg()), last_position(w, size));
    let reach = (w.size - 1).saturating_mul(w.rhs_dilate);
    if w.size < MIN_CLIPPED || (first.lo >= 0 && first.hi.saturating_add(reach) <= last) {
        return Span::whole(w.size);
    }
    // How many window elements are before a position, at most all.
    let before = |position: i64| {
        let distance = first.subtracted_from(b, position.saturating_add(w.rhs_dilate - 1));
        let (lo, hi) = (distance.lo.max(0), distance.hi.max(0));
        let distance = b.binary(Binary::Smax, distance.emit(b), b.index(0));
        let count = Idx::value(distance, lo, hi).divide(b, w.rhs_dilate).0.emit(b);
        b.binary(Binary::Smin, count, b.index(w.size))
    };
    Span::part(w.size, before(0), before(last.saturating_add(1)))
}

/// The index into a dimension of `size` elements that are `dilation` apart; adds to `inside` what must hold for the
/// position to be on an element.
pub fn base_index<'c>(
    cx: &ElementCx<'_, 'c>,
    position: Idx<'c>,
    size: i64,
    dilation: i64,
    inside: &mut Option<V<'c>>,
) -> Idx<'c> {
    let b = cx.b;
    let mut require = |v: V<'c>| {
        *inside = Some(inside.map_or(v, |i| b.binary(Binary::Andi, i, v)));
    };
    let last = (size - 1).saturating_mul(dilation);
    if position.lo < 0 {
        let zero = b.index(0);
        require(b.cmpi(IntPredicate::Sge, position.emit(b), zero));
    }
    if position.hi > last {
        let limit = b.index(last);
        require(b.cmpi(IntPredicate::Sle, position.emit(b), limit));
    }
    let position = position.within(0, last.max(0));
    let (q, r) = position.divide(b, dilation);
    if r.as_constant() != Some(0) {
        let zero = b.index(0);
        require(b.cmpi(IntPredicate::Eq, r.emit(b), zero));
    }
    q
}

/// `if inside { step(acc) } else { acc }`.
pub fn accumulate<'c>(
    cx: &ElementCx<'_, 'c>,
    inside: Option<V<'c>>,
    types: &[ElementType],
    acc: &[Elem<'c>],
    step: impl Fn(&[Elem<'c>]) -> Result<Vec<Elem<'c>>, Refusal>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let Some(inside) = inside else { return step(acc) };
    let flat: Vec<_> = types.iter().flat_map(|&t| elem::types(cx.b, t)).collect();
    let out =
        cx.b.if_else(inside, &flat, || cx.scoped(|| step(acc)).map(|v| flatten(&v)), || Ok(flatten(acc)))?;
    Ok(regroup(types, &out))
}
