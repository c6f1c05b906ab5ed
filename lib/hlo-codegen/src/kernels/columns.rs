//! Column reductions: reductions that keep the fastest varying dimension, computed for a tile of columns at a
//! time.
//!
//! Sums of many rows are computed in blocks, as in [`sums`]. Each level of blocks has an array of
//! accumulators.

use super::body::{Root, array};
use super::carried_loops::{Span, carried_spans};
use super::element::ElementCx;
use super::index::{self, Idx};
use super::reduce::{Parts, combine, full_index, parts};
use super::scalar;
use super::sums::{self, elements, step_size};
use crate::builder::{Binary, Builder, V};
use crate::elem::{self, Elem};
use hlo_ir::{ElementType, InstrId, Op};
use hlo_plan::Refusal;

/// Number of rows of a block, which are added to the same accumulators sequentially.
const BLOCK_ROWS: i64 = 64;

/// Target number of tiles to share among threads. It does not depend on the number of threads.
const TARGET_TILES: i64 = 8;

/// Limits of the number of columns of a tile. The minimum is a few cache lines per row. With the maximum, all
/// levels of blocks stay in cache. The number is a multiple of whole vectors.
const MIN_TILE_COLUMNS: i64 = 128;
const MAX_TILE_COLUMNS: i64 = 1024;
const TILE_COLUMN_MULTIPLE: i64 = 64;

/// Pairs of the maximum work per element and the number of rows that are read together. Rows are far apart in
/// memory. Reading several of them together overlaps the memory accesses for one accumulator.
const ROWS_PER_PASS: [(i64, i64); 2] = [(12, 8), (48, 4)];

/// The division of a column reduction into tiles: see [`plan`].
pub struct ColumnPlan {
    /// The kept dimensions of the result, slowest first, without the fastest.
    pub outer: Vec<usize>,
    /// The fastest dimension of the result.
    pub minor: usize,
    /// Number of columns of a tile.
    pub tile: i64,
    /// Number of tiles along the fastest dimension.
    pub tiles: i64,
}

/// Plans a reduction that keeps the fastest varying dimension of its operand. It is computed for a tile of
/// columns at a time, so that memory is read in order. Returns `None` if the reduction is not of this kind.
pub fn plan(module: &hlo_ir::Module, id: InstrId) -> Option<ColumnPlan> {
    let instr = &module[id];
    let Op::Reduce(attrs) = &instr.op else { return None };
    let operand = array(module, instr.operands[0]).ok()?;
    let result = array(module, id).ok()?;
    let fastest = operand.minor_to_major().into_iter().find(|&d| operand.dims[d] != 1)?;
    if attrs.dimensions.contains(&(fastest as i64)) || operand.dims[fastest] < 8 {
        return None;
    }
    let kept: Vec<usize> = (0..operand.rank()).filter(|d| !attrs.dimensions.contains(&(*d as i64))).collect();
    let minor = kept.iter().position(|&d| d == fastest)?;
    let order = result.minor_to_major();
    let outer: Vec<usize> = order.into_iter().rev().filter(|&d| d != minor).collect();
    let columns = result.dims[minor];
    let others: i64 = outer.iter().map(|&d| result.dims[d]).product();
    let tile = tile_size(columns, others);
    Some(ColumnPlan { outer, minor, tile, tiles: (columns + tile - 1) / tile })
}

/// Returns the number of columns of a tile, given the number of columns and the number of other independent
/// parts.
pub fn tile_size(columns: i64, others: i64) -> i64 {
    let wanted = columns / (TARGET_TILES / others.max(1)).max(1);
    (wanted / TILE_COLUMN_MULTIPLE * TILE_COLUMN_MULTIPLE)
        .clamp(MIN_TILE_COLUMNS, MAX_TILE_COLUMNS)
        .min(columns)
}

/// Returns the first column of a tile and its number of columns. The last tile may have fewer.
pub fn tile_bounds<'c>(b: &Builder<'c>, number: V<'c>, tile: i64, columns: i64) -> [V<'c>; 2] {
    let size = b.index(tile);
    let first = b.index_mul(number, size);
    let count = match columns % tile {
        0 => size,
        _ => b.binary(Binary::Smin, size, b.index_sub(b.index(columns), first)),
    };
    [first, count]
}

/// Emits tiles `begin..end` of a column reduction.
pub fn emit<'c>(
    cx: &ElementCx<'_, 'c>,
    root: InstrId,
    slot: usize,
    plan: &ColumnPlan,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let b = cx.b;
    let parts = parts(cx, root)?;
    let (result, operand) = (array(cx.body.module, root)?, array(cx.body.module, parts.operands[0])?);
    let reduced: Vec<usize> = operand
        .minor_to_major()
        .into_iter()
        .rev()
        .filter(|&d| parts.attrs.dimensions.contains(&(d as i64)))
        .collect();
    let ty = scalar::accumulator_type(parts.carried()[0]);
    let is_sum = sums::summed_type(cx.body.module, parts.attrs.to_apply) == Some(ty);
    let rows: Vec<i64> = reduced.iter().map(|&d| operand.dims[d]).collect();
    let levels = if is_sum { 1 + depth(&rows) } else { 1 };
    let accumulators = (0..levels).map(|_| cx.stack_array(ty, plan.tile)).collect();
    let weight = super::cost_per_element(cx.body);
    let together = ROWS_PER_PASS.iter().find(|(work, _)| weight <= *work).map_or(1, |&(_, rows)| rows);
    let (tile, minor) = (plan.tile, plan.minor);
    let columns = Columns { cx, parts, ty, is_sum, reduced, accumulators, tile, minor, together };
    let outer: i64 = plan.outer.iter().map(|&d| result.dims[d]).product();
    b.for_loop(begin, end, 1, |i| {
        let at = Idx::value(i, 0, outer * plan.tiles - 1);
        let (rest, tile) = at.divide(b, plan.tiles);
        let mut index = vec![Idx::constant(0); result.rank()];
        index::set_along(b, rest, &result.dims, &plan.outer, &mut index);
        let root = Root { id: root, leaf: 0, slot };
        cx.scoped(|| columns.tile(&root, &index, tile.emit(b), &rows))
    })
}

/// Returns the number of levels of blocks above the lowest in a sum over nested loops.
fn depth(sizes: &[i64]) -> usize {
    let inside = |sizes: &[i64]| sizes.iter().fold(1, |n: i64, &s| n.saturating_mul(s));
    let Some((&outer, inner)) = sizes.split_first().filter(|_| inside(sizes) > BLOCK_ROWS) else { return 0 };
    let (mut length, mut levels) = (outer, 0);
    while length.saturating_mul(inside(inner)) > BLOCK_ROWS && length > 1 {
        length = step_size(length, (BLOCK_ROWS / inside(inner)).max(1));
        levels += 1;
    }
    levels + if length == 1 { depth(inner) } else { 0 }
}

/// A column reduction during emission.
struct Columns<'s, 'a, 'c> {
    cx: &'s ElementCx<'a, 'c>,
    parts: Parts<'a>,
    /// The type of the accumulators.
    ty: ElementType,
    is_sum: bool,
    /// The reduced dimensions, slowest first.
    reduced: Vec<usize>,
    /// Arrays of a tile's length on the stack, one for each level of blocks.
    accumulators: Vec<V<'c>>,
    tile: i64,
    minor: usize,
    /// Number of rows that are read together.
    together: i64,
}

/// The columns of a tile.
struct Tile<'i, 'c> {
    /// The result's index, except for the column.
    index: &'i [Idx<'c>],
    first: V<'c>,
    count: V<'c>,
    /// Number of columns of all tiles.
    of: i64,
}

impl<'c> Columns<'_, '_, 'c> {
    /// Emits one tile. `index` is the result's index, except for the column.
    fn tile(&self, root: &Root, index: &[Idx<'c>], number: V<'c>, rows: &[i64]) -> Result<(), Refusal> {
        let b = self.cx.b;
        let of = array(self.cx.body.module, root.id)?.dims[self.minor];
        let [first, count] = tile_bounds(b, number, self.tile, of);
        let tile = Tile { index, first, count, of };
        let start = self.parts.start(self.cx)?;
        self.fill(0, &tile, start[0])?;
        let spans: Vec<Span<'c>> = rows.iter().map(|&size| Span::whole(size)).collect();
        self.rows(0, &tile, &spans, &mut Vec::new())?;
        self.each(&tile, |column, here| {
            let sum = elem::load(b, self.ty, self.accumulators[0], column);
            self.cx.store(root, here, self.parts.finish(self.cx, vec![sum])[0])
        })
    }

    /// Emits `body` for each column, with the column's number in the tile and the result's index.
    fn each(
        &self,
        tile: &Tile<'_, 'c>,
        mut body: impl FnMut(V<'c>, &[Idx<'c>]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let b = self.cx.b;
        b.for_loop(b.index(0), tile.count, 1, |column| {
            let mut here = tile.index.to_vec();
            here[self.minor] = Idx::value(b.index_add(tile.first, column), 0, tile.of - 1);
            self.cx.scoped(|| body(column, &here))
        })
    }

    /// Sets the accumulators of a level.
    fn fill(&self, level: usize, tile: &Tile<'_, 'c>, value: Elem<'c>) -> Result<(), Refusal> {
        let b = self.cx.b;
        b.for_loop(b.index(0), tile.count, 1, |column| {
            elem::store(b, self.ty, self.accumulators[level], column, value);
            Ok(())
        })
    }

    /// Combines rows with the accumulators of a level, one after the other.
    fn block(
        &self,
        level: usize,
        tile: &Tile<'_, 'c>,
        spans: &[Span<'c>],
        at: &mut Vec<Idx<'c>>,
    ) -> Result<(), Refusal> {
        let (cx, b) = (self.cx, self.cx.b);
        let Some((last, before)) = spans.split_last() else {
            return self.combined(level, tile, std::slice::from_ref(at));
        };
        carried_spans(cx, before, &[], Vec::new(), at, &mut |at, _| {
            let row = |index: Idx<'c>| -> Vec<Idx<'c>> { at.iter().copied().chain([index]).collect() };
            let count = last.size();
            let number = |first: V<'c>, n: i64| Idx::value(b.index_add(first, b.index(n)), 0, count - 1);
            let [lower, upper] = last.bounds(b);
            let (together, mut next) = (self.together, lower);
            if together > 1 && count >= together {
                let rows = b.binary(Binary::Divsi, b.index_sub(upper, lower), b.index(together));
                next = b.index_add(lower, b.index_mul(rows, b.index(together)));
                b.for_loop(lower, next, together, |first| {
                    let rows: Vec<_> = (0..together).map(|n| row(number(first, n))).collect();
                    cx.scoped(|| self.combined(level, tile, &rows))
                })?;
            }
            if together == 1 || last.is_part() || count % together != 0 {
                b.for_loop(next, upper, 1, |first| {
                    cx.scoped(|| self.combined(level, tile, &[row(Idx::value(first, 0, count - 1))]))
                })?;
            }
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Combines several rows with the accumulators of a level. For each column, the rows are combined one
    /// after the other.
    fn combined(&self, level: usize, tile: &Tile<'_, 'c>, rows: &[Vec<Idx<'c>>]) -> Result<(), Refusal> {
        let cx = self.cx;
        let rank = array(cx.body.module, self.parts.operands[0])?.rank();
        self.each(tile, |column, here| {
            let mut sum = elem::load(cx.b, self.ty, self.accumulators[level], column);
            for row in rows {
                let full = full_index(rank, &self.parts.attrs.dimensions, here, &self.reduced, row);
                sum = combine(cx, &self.parts, &[sum], &full)?[0];
            }
            elem::store(cx.b, self.ty, self.accumulators[level], column, sum);
            Ok(())
        })
    }

    /// Combines the rows of nested loops with the accumulators of a level.
    fn rows(
        &self,
        level: usize,
        tile: &Tile<'_, 'c>,
        spans: &[Span<'c>],
        at: &mut Vec<Idx<'c>>,
    ) -> Result<(), Refusal> {
        match spans.split_first() {
            Some((outer, inner)) if self.is_sum && elements(spans) > BLOCK_ROWS => {
                let size = outer.size();
                self.range(level, tile, (size, size), outer.bounds(self.cx.b), inner, at)
            }
            _ => self.block(level, tile, spans, at),
        }
    }

    /// Like [`Columns::rows`], but for at most `length` indices of a loop of `size`, and the loops in it.
    fn range(
        &self,
        level: usize,
        tile: &Tile<'_, 'c>,
        (size, length): (i64, i64),
        [lower, upper]: [V<'c>; 2],
        inner: &[Span<'c>],
        at: &mut Vec<Idx<'c>>,
    ) -> Result<(), Refusal> {
        let (b, inside) = (self.cx.b, elements(inner));
        if length.saturating_mul(inside) <= BLOCK_ROWS {
            let mut spans = vec![Span::part(size, lower, upper)];
            spans.extend_from_slice(inner);
            return self.block(level, tile, &spans, at);
        }
        if length == 1 {
            at.push(Idx::value(lower, 0, size - 1));
            let done = self.rows(level, tile, inner, at);
            at.pop();
            return done;
        }
        let step = step_size(length, (BLOCK_ROWS / inside).max(1));
        b.for_loop(lower, upper, step, |start| {
            let end = b.binary(Binary::Smin, b.index_add(start, b.index(step)), upper);
            self.cx.scoped(|| {
                self.fill(level + 1, tile, sums::nothing(self.cx, self.ty))?;
                self.range(level + 1, tile, (size, step), [start, end], inner, at)?;
                self.each(tile, |column, _| {
                    let [sum, part] = [level, level + 1]
                        .map(|level| elem::load(b, self.ty, self.accumulators[level], column));
                    let sum = sums::plus(self.cx, self.ty, sum, part)?;
                    elem::store(b, self.ty, self.accumulators[level], column, sum);
                    Ok(())
                })
            })
        })
    }
}
