//! Reductions: one result element as a loop over the reduced dimensions, and column reductions by tile.
//!
//! Source: operation semantics, "Reduce": the order in which elements are combined is free. It is fixed here by the
//! shapes alone.

use super::body::{Root, array};
use super::element::ElementCx;
use super::index::Idx;
use super::scalar;
use crate::builder::V;
use crate::elem::{self, Elem};
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::{ElementType, InstrId, Op};

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
pub fn parts<'a>(cx: &ElementCx<'a, '_>, id: InstrId) -> Result<Parts<'a>, String> {
    let module = cx.body.module;
    let instr = &module[id];
    let Op::Reduce(attrs) = &instr.op else { return Err("not a reduce".into()) };
    let (operands, inits) = instr.operands.split_at(instr.operands.len() / 2);
    let types =
        operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, String>>()?;
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
pub type LoopStep<'a, 'c> = &'a mut dyn FnMut(&[Idx<'c>], &[Elem<'c>]) -> Result<Vec<Elem<'c>>, String>;

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
}

/// Emits nested loops `0..size` that carry elements; `body` gets the index of every loop, outermost first.
pub fn carried_loops<'c>(
    cx: &ElementCx<'_, 'c>,
    sizes: &[i64],
    types: &[ElementType],
    init: Vec<Elem<'c>>,
    index: &mut Vec<Idx<'c>>,
    body: LoopStep<'_, 'c>,
) -> Result<Vec<Elem<'c>>, String> {
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
) -> Result<Vec<Elem<'c>>, String> {
    let Some((&Span { size, part }, rest)) = spans.split_first() else { return body(index, &init) };
    if size == 1 && part.is_none() {
        index.push(Idx::constant(0));
        let out = carried_spans(cx, rest, types, init, index, body);
        index.pop();
        return out;
    }
    let b = cx.b;
    let [lower, upper] = part.unwrap_or_else(|| [b.index(0), b.index(size)]);
    let mut failed = None;
    let out = b.for_carry(lower, upper, 1, &flatten(&init), |i, carried| {
        index.push(Idx::value(i, 0, size - 1));
        let inner = regroup(types, carried);
        let next = cx.scoped(|| carried_spans(cx, rest, types, inner, index, body));
        index.pop();
        next.map(|e| flatten(&e)).unwrap_or_else(|e| {
            failed = Some(e);
            carried.to_vec()
        })
    });
    failed.map_or_else(|| Ok(regroup(types, &out)), Err)
}

/// The result elements (one an operand) of a reduction at an index.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, String> {
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
    let out = carried_loops(cx, &sizes, &p.types, init, &mut Vec::new(), &mut |at, acc| {
        let full = full_index(shape.rank(), &p.attrs.dimensions, index, &reduced, at);
        combine(cx, &p, acc, &full)
    })?;
    Ok(round_all(cx, &p.types, out))
}

/// One step: the accumulators combined with the operands' elements.
pub fn combine<'c>(
    cx: &ElementCx<'_, 'c>,
    p: &Parts<'_>,
    acc: &[Elem<'c>],
    index: &[Idx<'c>],
) -> Result<Vec<Elem<'c>>, String> {
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

/// How a column reduction is cut: see [`column_plan`].
pub struct ColumnPlan {
    /// The kept dimensions of the result, slowest first, without the fastest.
    pub outer: Vec<usize>,
    /// The fastest dimension of the result.
    pub minor: usize,
    /// Columns a tile.
    pub tile: i64,
    /// Tiles along the fastest dimension.
    pub tiles: i64,
}

/// A reduction that keeps the dimension that varies fastest in its operand is done for a tile of columns at a
/// time, so that memory is read in order. `None` if the reduction is not of this kind.
pub fn column_plan(cx_module: &hlo_ir::Module, id: InstrId) -> Option<ColumnPlan> {
    let instr = &cx_module[id];
    let Op::Reduce(attrs) = &instr.op else { return None };
    let operand = array(cx_module, instr.operands[0]).ok()?;
    let result = array(cx_module, id).ok()?;
    let fastest = operand.minor_to_major().into_iter().find(|&d| operand.dims[d] != 1)?;
    if attrs.dimensions.contains(&(fastest as i64)) || operand.dims[fastest] < 8 {
        return None;
    }
    let kept: Vec<usize> = (0..operand.rank()).filter(|d| !attrs.dimensions.contains(&(*d as i64))).collect();
    let minor = kept.iter().position(|&d| d == fastest)?;
    let order = result.minor_to_major();
    let outer: Vec<usize> = order.into_iter().rev().filter(|&d| d != minor).collect();
    let columns = result.dims[minor];
    let tile = columns.min(1024);
    Some(ColumnPlan { outer, minor, tile, tiles: (columns + tile - 1) / tile })
}

/// Emits one tile of a column reduction: `index` is the result's index with the tile's first column in place of
/// the fastest dimension; `accumulators` are arrays of [`ColumnPlan::tile`] elements on the stack.
pub fn column_tile<'c>(
    cx: &ElementCx<'_, 'c>,
    id: InstrId,
    slot: usize,
    plan: &ColumnPlan,
    index: &[Idx<'c>],
    tile_number: V<'c>,
    accumulator: V<'c>,
) -> Result<(), String> {
    let p = parts(cx, id)?;
    let b = cx.b;
    let root = Root { id, leaf: 0, slot };
    let result = array(cx.body.module, id)?;
    let operand = array(cx.body.module, p.operands[0])?;
    let columns = result.dims[plan.minor];
    let ty = p.types[0];
    let tile = b.index(plan.tile);
    let start = b.index_mul(tile_number, tile);
    let size = if columns % plan.tile == 0 {
        tile
    } else {
        let all = b.index(columns);
        let left = b.index_sub(all, start);
        b.binary("llvm.intr.smin", tile, left)
    };
    let zero = b.index(0);
    let mut error = None;
    let init = cx.value(p.inits[0], &[])?;
    let wide = scalar::accumulator_type(ty);
    b.for_loop(zero, size, 1, |c| elem::store(b, wide, accumulator, c, init));
    let reduced: Vec<usize> = operand
        .minor_to_major()
        .into_iter()
        .rev()
        .filter(|&d| p.attrs.dimensions.contains(&(d as i64)))
        .collect();
    let sizes: Vec<i64> = reduced.iter().map(|&d| operand.dims[d]).collect();
    carried_loops(cx, &sizes, &[], Vec::new(), &mut Vec::new(), &mut |at, _| {
        b.for_loop(zero, size, 1, |c| {
            let step = cx.scoped(|| -> Result<(), String> {
                let column = b.index_add(start, c);
                let mut here = index.to_vec();
                here[plan.minor] = Idx::value(column, 0, columns - 1);
                let full = full_index(operand.rank(), &p.attrs.dimensions, &here, &reduced, at);
                let acc = elem::load(b, wide, accumulator, c);
                let next = combine(cx, &p, &[acc], &full)?;
                elem::store(b, wide, accumulator, c, next[0]);
                Ok(())
            });
            error = error.take().or(step.err());
        });
        Ok(Vec::new())
    })?;
    b.for_loop(zero, size, 1, |c| {
        let step = cx.scoped(|| -> Result<(), String> {
            let column = b.index_add(start, c);
            let mut here = index.to_vec();
            here[plan.minor] = Idx::value(column, 0, columns - 1);
            let acc = elem::load(b, wide, accumulator, c);
            let rounded = round_all(cx, &[ty], vec![acc]);
            cx.store(&root, &here, rounded[0])
        });
        error = error.take().or(step.err());
    });
    error.map_or(Ok(()), Err)
}
