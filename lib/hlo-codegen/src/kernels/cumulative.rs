//! Emission of cumulative reductions: see [`hlo_kernel::cumulative`].

use super::carried_loops::round_all;
use super::columns;
use super::element::ElementCx;
use super::index::{self, Idx};
use super::scalar;
use super::sums;
use crate::builder::{Binary, V};
use crate::elem::{self, Elem, flatten, regroup};
use hlo_ir::{ComputationId, Dims, ElementType, InstrId, Op};
use hlo_kernel::accumulator_type;
use hlo_kernel::cumulative::{ColumnTiles, CumulativePlan, INTERLEAVED_LINES};
use hlo_plan::{Refusal, array};

/// Emits iterations `begin..end`.
pub fn emit<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &CumulativePlan,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let (b, module) = (cx.b, cx.body.module);
    let root = &module[plan.root];
    let Op::ReduceWindow(attrs) = &root.op else { return Err("not a reduce-window".into()) };
    let (operands, inits) = root.operands.split_at(root.operands.len() / 2);
    let types: Vec<ElementType> =
        operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
    let dims = &array(module, operands[0])?.dims;
    let run = Run { cx, plan, operands, inits, types, dims, apply: attrs.to_apply };
    match plan.minor {
        Some(tiles) => run.tiles(tiles, begin, end),
        None => {
            let together = b.index(INTERLEAVED_LINES);
            let groups = b.binary(Binary::Divsi, b.index_sub(end, begin), together);
            let next = b.index_add(begin, b.index_mul(groups, together));
            b.for_loop(begin, next, INTERLEAVED_LINES, |first| {
                cx.scoped(|| run.lines(first, INTERLEAVED_LINES))
            })?;
            b.for_loop(next, end, 1, |first| cx.scoped(|| run.lines(first, 1)))
        }
    }
}

/// A cumulative reduction during emission.
struct Run<'s, 'a, 'c> {
    cx: &'s ElementCx<'a, 'c>,
    plan: &'s CumulativePlan,
    operands: &'s [InstrId],
    inits: &'s [InstrId],
    types: Vec<ElementType>,
    dims: &'s Dims,
    apply: ComputationId,
}

impl<'c> Run<'_, '_, 'c> {
    fn inits(&self) -> Result<Vec<Elem<'c>>, Refusal> {
        self.inits.iter().map(|&i| self.cx.value(i, &[])).collect()
    }

    /// Returns the type of a sum, and the initial value of its blocks.
    fn nothing(&self) -> (ElementType, Elem<'c>) {
        let ty = accumulator_type(self.types[0]);
        (ty, sums::nothing(self.cx, ty))
    }

    /// Returns the index of iteration `at` in the outer dimensions, and zero in the others.
    fn index(&self, at: Idx<'c>) -> Vec<Idx<'c>> {
        let mut index = vec![Idx::constant(0); self.dims.len()];
        index::set_along(self.cx.b, at, self.dims, &self.plan.outer, &mut index);
        index
    }

    /// Returns the position of step `step` in the dimension of the reduction.
    fn place(&self, step: V<'c>) -> Idx<'c> {
        let last = self.dims[self.plan.dimension] - 1;
        if self.plan.backwards {
            Idx::value(self.cx.b.index_sub(self.cx.b.index(last), step), 0, last)
        } else {
            Idx::value(step, 0, last)
        }
    }

    /// Computes the totals at an index from those before. Stores them, or their sum with the total of the
    /// blocks `before`.
    fn next(
        &self,
        totals: &[Elem<'c>],
        before: Option<Elem<'c>>,
        index: &[Idx<'c>],
    ) -> Result<Vec<Elem<'c>>, Refusal> {
        let cx = self.cx;
        let here = self.operands.iter().map(|&o| cx.value(o, index)).collect::<Result<Vec<_>, _>>()?;
        let arguments = if self.plan.backwards { [&here, totals].concat() } else { [totals, &here].concat() };
        let next = scalar::apply(cx.b, cx.body.module, self.apply, &arguments, true)?;
        let whole = match before {
            Some(before) => vec![sums::plus(cx, self.nothing().0, before, next[0])?],
            None => next.clone(),
        };
        let rounded = round_all(cx, &self.types, whole);
        for root in &cx.body.roots {
            cx.store(root, index, rounded[root.leaf])?;
        }
        Ok(next)
    }

    /// Emits the steps along the dimension, in blocks for a sum of floats, else in one loop. `body` receives
    /// the first step and the step after the last.
    fn blocks(
        &self,
        carried: &[V<'c>],
        mut body: impl FnMut([V<'c>; 2], &[V<'c>]) -> Result<Vec<V<'c>>, Refusal>,
    ) -> Result<(), Refusal> {
        let b = self.cx.b;
        let [zero, steps] = [0, self.dims[self.plan.dimension]].map(|n| b.index(n));
        match self.plan.block {
            None => body([zero, steps], carried).map(drop),
            Some(block) => b
                .for_carry(zero, steps, block, carried, |first, carried| {
                    let end = b.binary(Binary::Smin, b.index_add(first, b.index(block)), steps);
                    self.cx.scoped(|| body([first, end], carried))
                })
                .map(drop),
        }
    }

    /// Emits several lines along the dimension that varies fastest, or that is the only one of a size other
    /// than 1.
    fn lines(&self, first: V<'c>, count: i64) -> Result<(), Refusal> {
        let b = self.cx.b;
        let number = |n: i64| Idx::value(b.index_add(first, b.index(n)), 0, self.plan.iterations - 1);
        let lines: Vec<Vec<Idx<'c>>> = (0..count).map(|n| self.index(number(n))).collect();
        let inits = flatten(&self.inits()?);
        let values = inits.len().max(1);
        self.blocks(&inits.repeat(lines.len()), |[first, end], outer| {
            let (ty, nothing) = self.nothing();
            let start = if self.plan.block.is_some() {
                flatten(&[nothing]).repeat(lines.len())
            } else {
                outer.to_vec()
            };
            let totals = b.for_carry(first, end, 1, &start, |step, carried| -> Result<_, Refusal> {
                let mut all = Vec::with_capacity(carried.len());
                for ((line, totals), before) in
                    lines.iter().zip(carried.chunks(values)).zip(outer.chunks(values))
                {
                    let mut index = line.clone();
                    index[self.plan.dimension] = self.place(step);
                    let before = self.plan.block.map(|_| Elem::from_values(ty, before));
                    let totals = regroup(&self.types, totals);
                    all.extend(flatten(&self.cx.scoped(|| self.next(&totals, before, &index))?));
                }
                Ok(all)
            })?;
            if self.plan.block.is_none() {
                return Ok(totals);
            }
            let sums = outer.chunks(values).zip(totals.chunks(values)).map(|(before, block)| {
                let [before, block] = [before, block].map(|values| Elem::from_values(ty, values));
                sums::plus(self.cx, ty, before, block)
            });
            Ok(flatten(&sums.collect::<Result<Vec<_>, _>>()?))
        })
    }

    /// Emits tiles of the fastest varying dimension. The totals of a tile are on the stack, and the steps run
    /// along the dimension of the reduction.
    fn tiles(&self, tiles: ColumnTiles, begin: V<'c>, end: V<'c>) -> Result<(), Refusal> {
        let (cx, b) = (self.cx, self.cx.b);
        let wide: Vec<ElementType> = self.types.iter().map(|&t| accumulator_type(t)).collect();
        let arrays = || wide.iter().map(|&ty| cx.stack_array(ty, tiles.size)).collect::<Vec<V<'c>>>();
        let (totals, before) = (arrays(), self.plan.block.map(|_| arrays()));
        let all = self.dims[tiles.dimension];
        b.for_loop(begin, end, 1, |at| {
            let (outer, tile) = Idx::value(at, 0, self.plan.iterations - 1).divide(b, tiles.count);
            let index = self.index(outer);
            let [first, count] = columns::tile_bounds(b, tile.emit(b), tiles.size, all);
            let tile = Tile { cx, wide: &wide, count };
            tile.fill(before.as_ref().unwrap_or(&totals), &self.inits()?)?;
            self.blocks(&[], |[lower, upper], _| {
                if before.is_some() {
                    tile.fill(&totals, &[self.nothing().1])?;
                }
                b.for_loop(lower, upper, 1, |step| {
                    let mut index = index.clone();
                    index[self.plan.dimension] = self.place(step);
                    tile.each(|column| {
                        index[tiles.dimension] = Idx::value(b.index_add(first, column), 0, all - 1);
                        let sum = before.as_ref().map(|before| tile.load(before, column)[0]);
                        let next = self.next(&tile.load(&totals, column), sum, &index)?;
                        tile.store(&totals, column, &next);
                        Ok(())
                    })
                })?;
                if let Some(before) = &before {
                    tile.each(|column| {
                        let [sum, block] = [before, &totals].map(|arrays| tile.load(arrays, column)[0]);
                        tile.store(before, column, &[sums::plus(cx, wide[0], sum, block)?]);
                        Ok(())
                    })?;
                }
                Ok(Vec::new())
            })
        })
    }
}

/// Arrays on the stack, with an element for each column of a tile.
struct Tile<'s, 'a, 'c> {
    cx: &'s ElementCx<'a, 'c>,
    /// The types of the arrays' elements.
    wide: &'s [ElementType],
    count: V<'c>,
}

impl<'c> Tile<'_, '_, 'c> {
    fn each(&self, body: impl FnOnce(V<'c>) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let b = self.cx.b;
        b.for_loop(b.index(0), self.count, 1, |column| self.cx.scoped(|| body(column)))
    }

    fn load(&self, arrays: &[V<'c>], column: V<'c>) -> Vec<Elem<'c>> {
        self.wide.iter().zip(arrays).map(|(&ty, &array)| elem::load(self.cx.b, ty, array, column)).collect()
    }

    fn store(&self, arrays: &[V<'c>], column: V<'c>, values: &[Elem<'c>]) {
        for ((&ty, &array), &value) in self.wide.iter().zip(arrays).zip(values) {
            elem::store(self.cx.b, ty, array, column, value);
        }
    }

    fn fill(&self, arrays: &[V<'c>], values: &[Elem<'c>]) -> Result<(), Refusal> {
        self.each(|column| {
            self.store(arrays, column, values);
            Ok(())
        })
    }
}
