//! Windowed reductions, one result element at a time.
//!
//! Source: operation semantics, "ReduceWindow".

use super::carried_loops::{LoopStep, Span, carried_spans, round_all};
use super::covered_loops::CoveredLoops;
use super::element::ElementCx;
use super::index::Idx;
use super::{scalar, sums};
use crate::builder::V;
use crate::elem::{self, Elem, flatten, regroup};
use hlo_ir::{ElementType, InstrId, Op};
use hlo_kernel::summed_type;
use hlo_plan::{Refusal, array};

/// Maximum number of elements of a window that is emitted without loops. LLVM would unroll such loops, but
/// not beyond two dimensions, and would then not vectorize the surrounding loop.
const MAX_UNROLLED: i64 = 16;

/// Emits the result elements (one per operand) of a `reduce-window` at an index. As in XLA, `rhs_reversal`
/// has no effect here: elements are combined in row-major order.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
    let module = cx.body.module;
    let instr = &module[id];
    let Op::ReduceWindow(attrs) = &instr.op else { return Err("not a reduce-window".into()) };
    let (operands, inits) = instr.operands.split_at(instr.operands.len() / 2);
    let types: Vec<ElementType> =
        operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
    let dims = array(module, operands[0])?.dims.clone();
    let window = attrs.window.of_rank(dims.len());
    let loops = CoveredLoops::new(cx, &window, &dims, index);
    let spans = loops.spans();
    let init = inits.iter().map(|&i| cx.value(i, &[])).collect::<Result<Vec<_>, _>>()?;
    let b = cx.b;
    let mut step = |at: &[Idx<'c>], acc: &[Elem<'c>]| {
        let (inner, inside) = loops.element(cx, at);
        accumulate(cx, inside, &types, acc, |acc| {
            let mut arguments = acc.to_vec();
            for &o in operands {
                arguments.push(cx.value(o, &inner)?);
            }
            scalar::apply(b, module, attrs.to_apply, &arguments, true)
        })
    };
    let at = &mut Vec::new();
    if spans.iter().all(|s| !s.is_part())
        && spans.iter().fold(1, |n: i64, s| n.saturating_mul(s.size())) <= MAX_UNROLLED
    {
        let sizes: Vec<i64> = spans.iter().map(Span::size).collect();
        let out = one_by_one(&sizes, init, at, &mut step)?;
        return Ok(round_all(cx, &types, out));
    }
    let out = match (summed_type(module, attrs.to_apply), &init[..]) {
        (Some(ty), &[init]) => {
            vec![sums::summed_spans(cx, &sums::blocks_of(&spans), &spans, ty, init, at, &mut step)?]
        }
        _ => carried_spans(cx, &spans, &types, init, at, &mut step)?,
    };
    Ok(round_all(cx, &types, out))
}

/// Emits the elements of a window one after the other in row-major order, without loops.
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

/// Emits `if inside { step(acc) } else { acc }`.
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
