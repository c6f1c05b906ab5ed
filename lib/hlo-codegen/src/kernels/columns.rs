//! Emission of column reductions: see [`hlo_kernel::columns`].

use super::carried_loops::{Span, carried_spans};
use super::element::ElementCx;
use super::index::{self, Idx};
use super::reduce::{combine, finish, full_index, start};
use super::sums;
use crate::builder::{Binary, Builder, V};
use crate::elem::{self, Elem};
use hlo_ir::ElementType;
use hlo_kernel::columns::ColumnPlan;
use hlo_kernel::{Reduction, Root, SumBlocks};
use hlo_plan::{Refusal, array};

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
pub fn emit<'c>(cx: &ElementCx<'_, 'c>, plan: &ColumnPlan, begin: V<'c>, end: V<'c>) -> Result<(), Refusal> {
    let b = cx.b;
    let (root, reduction) = (&cx.body.roots[0], &cx.body.reduction(plan.root)?);
    let result = cx.body.root_shape(root)?;
    let ty = plan.accumulator;
    let accumulators = (0..=plan.blocks.levels()).map(|_| cx.stack_array(ty, plan.tile)).collect();
    let columns = Columns { cx, plan, reduction, ty, accumulators };
    b.for_loop(begin, end, 1, |i| {
        let at = Idx::value(i, 0, plan.iterations - 1);
        let (rest, tile) = at.divide(b, plan.tiles);
        let mut index = vec![Idx::constant(0); result.rank()];
        index::set_along(b, rest, &result.dims, &plan.outer, &mut index);
        cx.scoped(|| columns.tile(root, &index, tile.emit(b)))
    })
}

/// A column reduction during emission.
struct Columns<'s, 'a, 'c> {
    cx: &'s ElementCx<'a, 'c>,
    plan: &'s ColumnPlan,
    reduction: &'s Reduction<'a>,
    /// The type of the accumulators.
    ty: ElementType,
    /// Arrays of a tile's length on the stack, one for each level of blocks.
    accumulators: Vec<V<'c>>,
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
    fn tile(&self, root: &Root, index: &[Idx<'c>], number: V<'c>) -> Result<(), Refusal> {
        let b = self.cx.b;
        let of = array(self.cx.body.module, root.id)?.dims[self.plan.minor];
        let [first, count] = tile_bounds(b, number, self.plan.tile, of);
        let tile = Tile { index, first, count, of };
        let start = start(self.cx, self.reduction)?;
        self.fill(0, &tile, start[0])?;
        let spans: Vec<Span<'c>> = self.reduction.sizes.iter().map(|&size| Span::whole(size)).collect();
        self.rows(&self.plan.blocks, 0, &tile, &spans, &mut Vec::new())?;
        self.each(&tile, |column, here| {
            let sum = elem::load(b, self.ty, self.accumulators[0], column);
            self.cx.store(root, here, finish(self.cx, self.reduction, vec![sum])[0])
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
            here[self.plan.minor] = Idx::value(b.index_add(tile.first, column), 0, tile.of - 1);
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
            let (together, mut next) = (self.plan.together, lower);
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
        self.each(tile, |column, here| {
            let mut sum = elem::load(cx.b, self.ty, self.accumulators[level], column);
            for row in rows {
                let full = full_index(cx, self.reduction, here, row)?;
                sum = combine(cx, self.reduction, &[sum], &full)?[0];
            }
            elem::store(cx.b, self.ty, self.accumulators[level], column, sum);
            Ok(())
        })
    }

    /// Combines the rows of nested loops, which are divided into blocks, with the accumulators of a level.
    fn rows(
        &self,
        blocks: &SumBlocks,
        level: usize,
        tile: &Tile<'_, 'c>,
        spans: &[Span<'c>],
        at: &mut Vec<Idx<'c>>,
    ) -> Result<(), Refusal> {
        let b = self.cx.b;
        match (blocks, spans.split_first()) {
            (SumBlocks::Sequence, _) | (_, None) => self.block(level, tile, spans, at),
            (SumBlocks::Inside(blocks), Some((outer, inner))) => {
                let [lower, _] = outer.bounds(b);
                at.push(Idx::value(lower, 0, outer.size() - 1));
                let done = self.rows(blocks, level, tile, inner, at);
                at.pop();
                done
            }
            (SumBlocks::Parts { step, part, .. }, Some((outer, _))) => {
                let [lower, upper] = outer.bounds(b);
                b.for_loop(lower, upper, *step, |start| {
                    let end = b.binary(Binary::Smin, b.index_add(start, b.index(*step)), upper);
                    let spans = Span::restricted(spans, [start, end]);
                    self.cx.scoped(|| {
                        self.fill(level + 1, tile, sums::nothing(self.cx, self.ty))?;
                        self.rows(part, level + 1, tile, &spans, at)?;
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
    }
}
