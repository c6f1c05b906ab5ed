//! Loop nests over the elements of a result.

use super::body::{Body, Root, array};
use super::element::ElementCx;
use super::index::{self, Idx};
use super::loop_splitting;
use super::tiling;
use crate::builder::{Binary, V};
use crate::elem;
use hlo_analysis::cost_model::TARGET_PARALLEL_ITERATIONS;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};
use hlo_plan::Refusal;

/// A loop nest. The dimensions are ordered from the slowest to the fastest varying one. The first `split`
/// dimensions form the iterations, which threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopPlan {
    /// The number of iterations.
    pub iterations: i64,
    /// Whether the nest is one loop over the linear positions of all elements.
    pub flat: bool,
    dims: Vec<i64>,
    order: Vec<usize>,
    split: usize,
    /// Whether the nest runs over the results' own index.
    of_results: bool,
    /// Two dimensions whose loops are tiled together: the one along which some input is read, and the fastest
    /// one.
    tiled: Option<(usize, usize)>,
}

/// Side length of a tile: a few dozen cache lines, which the first-level cache can store.
const TILE_SIDE: i64 = 32;
/// Distance of a tile's rows on the stack. It is odd, so that a column uses different cache banks.
const TILE_STRIDE: i64 = 33;
/// Maximum number of results whose tiles are kept on the stack, with at most 16 KiB each.
const MAX_TILED_RESULTS: usize = 16;

impl LoopPlan {
    /// Creates the nest over a shape, in memory order.
    pub fn of_shape(shape: &ArrayShape) -> Self {
        let order: Vec<usize> =
            shape.minor_to_major().into_iter().rev().filter(|&d| shape.dims[d] != 1).collect();
        let mut split = 0;
        let mut iterations = 1i64;
        while split < order.len() && iterations < TARGET_PARALLEL_ITERATIONS {
            let last = split + 1 == order.len();
            // The innermost loop stays whole, so that it is vectorised, unless there is no other loop to
            // share.
            if last && split > 0 {
                break;
            }
            iterations *= shape.dims[order[split]];
            split += 1;
        }
        if shape.dims.contains(&0) {
            iterations = 0;
        }
        Self {
            iterations,
            flat: false,
            dims: shape.dims.to_vec(),
            order,
            split,
            of_results: false,
            tiled: None,
        }
    }

    /// Creates the nest over the results of a kernel, which have the same dimensions.
    pub fn of_body(body: &Body<'_>) -> Result<Self, Refusal> {
        let root = body.roots[0].id;
        let leaves = body.module[root].shape.leaves();
        let shape = leaves.first().and_then(|s| s.as_array()).ok_or("a kernel without an array result")?;
        if body.is_flat() {
            let n = shape.element_count() as i64;
            let dims = vec![n];
            return Ok(Self {
                iterations: n,
                flat: true,
                dims,
                order: vec![0],
                split: 1,
                of_results: true,
                tiled: None,
            });
        }
        let plan = Self { of_results: true, ..Self::of_shape(shape) };
        let across = plan.order.last().and_then(|&d| Some((tiling::transposed_dimension(body, d)?, d)));
        Ok(match across {
            Some((e, d)) if body.roots.len() <= MAX_TILED_RESULTS => plan.tiled(e, d),
            _ => plan,
        })
    }

    /// Returns the same nest with dimensions `e` and `d` in tiles. The iterations are the other dimensions
    /// times the tiles of `e`.
    fn tiled(self, e: usize, d: usize) -> Self {
        let mut order: Vec<usize> = self.order.iter().copied().filter(|&k| k != e && k != d).collect();
        let split = order.len();
        let others: i64 = order.iter().map(|&k| self.dims[k]).product();
        order.extend([e, d]);
        let tiles = (self.dims[e] + TILE_SIDE - 1) / TILE_SIDE;
        Self { iterations: others * tiles, order, split, tiled: Some((e, d)), ..self }
    }

    /// Emits the nest for iterations `begin..end`. `body` receives the index of each element.
    pub fn emit<'c>(
        &self,
        cx: &ElementCx<'_, 'c>,
        begin: V<'c>,
        end: V<'c>,
        body: &mut dyn FnMut(&[Idx<'c>]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let b = cx.b;
        // A single loop may be split into pieces like an innermost one.
        if self.order.len() == 1 && self.split == 1 && self.of_results {
            let mut index = vec![Idx::constant(0); self.dims.len()];
            return self.inner(cx, 0, Some((begin, end)), &mut index, body);
        }
        b.for_loop(begin, end, 1, |i| {
            let mut index = vec![Idx::constant(0); self.dims.len()];
            let position = Idx::value(i, 0, self.iterations.max(1) - 1);
            index::set_along(b, position, &self.dims, &self.order[..self.split], &mut index);
            cx.scoped(|| self.inner(cx, self.split, None, &mut index, body))
        })
    }

    /// Emits the loops from `level` on. `part` restricts the first of these loops.
    fn inner<'c>(
        &self,
        cx: &ElementCx<'_, 'c>,
        level: usize,
        part: Option<(V<'c>, V<'c>)>,
        index: &mut Vec<Idx<'c>>,
        body: &mut dyn FnMut(&[Idx<'c>]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Some(&d) = self.order.get(level) else { return body(index) };
        let b = cx.b;
        let mut from = 0;
        let innermost = level + 1 == self.order.len();
        // LLVM moves tests on the other loops' indices out of the innermost loop.
        let pieces = if innermost && self.of_results {
            loop_splitting::of(cx.body, d, self.dims[d])
        } else {
            vec![self.dims[d]]
        };
        for &to in &pieces {
            let (lower, upper) = match part {
                None => (b.index(from), b.index(to)),
                Some(part) if pieces.len() == 1 => part,
                Some((begin, end)) => {
                    let lower = b.binary(Binary::Maxsi, begin, b.index(from));
                    (lower, b.binary(Binary::Minsi, end, b.index(to)))
                }
            };
            b.for_loop(lower, upper, 1, |i| {
                index[d] = Idx::value(i, from, (to - 1).max(from));
                cx.scoped(|| self.inner(cx, level + 1, None, index, body))
            })?;
            from = to;
        }
        Ok(())
    }
}

/// Emits a kernel whose results have the same dimensions.
pub fn emit<'c>(cx: &ElementCx<'_, 'c>, plan: &LoopPlan, begin: V<'c>, end: V<'c>) -> Result<(), Refusal> {
    if let Some((e, d)) = plan.tiled {
        return emit_tiled(cx, plan, e, d, begin, end);
    }
    plan.emit(cx, begin, end, &mut |index| {
        // All elements are computed before any is stored, because a result may share its buffer with an
        // operand.
        let values = cx.root_values(index)?;
        for (root, value) in cx.body.roots.iter().zip(values) {
            cx.store(root, index, value)?;
        }
        Ok(())
    })
}

/// Emits a dynamic-update-slice in place: only the elements of the update are written.
pub fn emit_update<'c>(
    cx: &ElementCx<'_, 'c>,
    root: InstrId,
    slot: usize,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let module = cx.body.module;
    let Op::DynamicUpdateSlice = &module[root].op else { return Err("not a dynamic-update-slice".into()) };
    let (operand, update) = (module[root].operands[0], module[root].operands[1]);
    let (whole, window) = (array(module, operand)?, array(module, update)?);
    let starts = cx.dynamic_starts(root, 2, whole, window)?;
    LoopPlan::of_shape(window).emit(cx, begin, end, &mut |index| {
        let value = cx.value(update, index)?;
        let target: Vec<Idx<'c>> = index.iter().zip(&starts).map(|(i, s)| s.add(cx.b, *i)).collect();
        cx.store(&Root { id: root, leaf: 0, slot }, &target, value)
    })
}

/// Emits a nest tile by tile. The values of a tile are computed along `e`, the memory order of the input,
/// into an array on the stack. They are stored along `d`, the memory order of the result. Without the array,
/// rows whose distance is a power of two would evict each other from the cache.
fn emit_tiled<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &LoopPlan,
    e: usize,
    d: usize,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let b = cx.b;
    let mut arrays = Vec::new();
    for root in &cx.body.roots {
        let ty = cx.root_shape(root)?.element_type;
        arrays.push((ty, cx.stack_array(ty, TILE_SIDE * TILE_STRIDE)));
    }
    b.for_loop(begin, end, 1, |i| {
        let position = Idx::value(i, 0, plan.iterations.max(1) - 1);
        cx.scoped(|| row_of_tiles(cx, plan, e, d, position, &arrays))
    })
}

/// The work for an element of a tile, given its index and its position in the tile's array.
type TileStep<'a, 'c> = &'a dyn Fn(&[Idx<'c>], V<'c>) -> Result<(), Refusal>;

/// Emits one iteration of [`emit_tiled`]: all tiles along `d` for one tile of `e`.
fn row_of_tiles<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &LoopPlan,
    e: usize,
    d: usize,
    position: Idx<'c>,
    arrays: &[(ElementType, V<'c>)],
) -> Result<(), Refusal> {
    let b = cx.b;
    let tiles = (plan.dims[e] + TILE_SIDE - 1) / TILE_SIDE;
    let (others, tile) = position.divide(b, tiles);
    let mut outer = vec![Idx::constant(0); plan.dims.len()];
    index::set_along(b, others, &plan.dims, &plan.order[..plan.split], &mut outer);
    let end_of = |start: V<'c>, size: i64| {
        let (tile, size) = (b.index(TILE_SIDE), b.index(size));
        b.binary(Binary::Smin, b.index_add(start, tile), size)
    };
    let e_start = tile.times(b, TILE_SIDE).emit(b);
    let e_end = end_of(e_start, plan.dims[e]);
    let (zero, all) = (b.index(0), b.index(plan.dims[d]));
    let stride = b.index(TILE_STRIDE);
    b.for_loop(zero, all, TILE_SIDE, |d_start| {
        let d_end = end_of(d_start, plan.dims[d]);
        let visit = |i: V<'c>, j: V<'c>, body: TileStep<'_, 'c>| {
            cx.scoped(|| {
                let mut index = outer.clone();
                index[e] = Idx::value(i, 0, plan.dims[e] - 1);
                index[d] = Idx::value(j, 0, plan.dims[d] - 1);
                let row = b.index_mul(b.index_sub(j, d_start), stride);
                body(&index, b.index_add(row, b.index_sub(i, e_start)))
            })
        };
        let compute = |index: &[Idx<'c>], at: V<'c>| {
            for (value, &(ty, base)) in cx.root_values(index)?.into_iter().zip(arrays) {
                elem::store(b, ty, base, at, value);
            }
            Ok(())
        };
        let write = |index: &[Idx<'c>], at: V<'c>| {
            for (root, &(ty, base)) in cx.body.roots.iter().zip(arrays) {
                cx.store(root, index, elem::load(b, ty, base, at))?;
            }
            Ok(())
        };
        b.for_loop(d_start, d_end, 1, |j| b.for_loop(e_start, e_end, 1, |i| visit(i, j, &compute)))?;
        b.for_loop(e_start, e_end, 1, |i| b.for_loop(d_start, d_end, 1, |j| visit(i, j, &write)))
    })
}
