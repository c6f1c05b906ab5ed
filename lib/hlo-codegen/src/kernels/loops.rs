//! Emission of loop nests over the elements of a result.

use super::element::ElementCx;
use super::index::{self, Idx};
use crate::builder::{Binary, V};
use crate::elem;
use hlo_ir::{ElementType, InstrId, Op};
use hlo_kernel::loops::{LoopNest, Tiles};
use hlo_plan::{Refusal, array};

/// A loop nest during emission.
struct Nest<'s, 'a, 'c> {
    cx: &'s ElementCx<'a, 'c>,
    nest: &'s LoopNest,
}

/// The code for an element, given its index.
type ElementStep<'s, 'c> = &'s mut dyn FnMut(&[Idx<'c>]) -> Result<(), Refusal>;

impl<'c> Nest<'_, '_, 'c> {
    /// Emits the nest for iterations `begin..end`. `body` receives the index of each element.
    fn emit(&self, begin: V<'c>, end: V<'c>, body: ElementStep<'_, 'c>) -> Result<(), Refusal> {
        let (b, nest) = (self.cx.b, self.nest);
        // A single loop may be split into pieces like an innermost one.
        if nest.order.len() == 1 && nest.split == 1 {
            let mut index = vec![Idx::constant(0); nest.dims.len()];
            return self.inner(0, Some((begin, end)), &mut index, body);
        }
        b.for_loop(begin, end, 1, |i| {
            let mut index = vec![Idx::constant(0); nest.dims.len()];
            let position = Idx::value(i, 0, nest.iterations.max(1) - 1);
            index::set_along(b, position, &nest.dims, &nest.order[..nest.split], &mut index);
            self.cx.scoped(|| self.inner(nest.split, None, &mut index, body))
        })
    }

    /// Emits the loops from `level` on. `part` restricts the first of these loops.
    fn inner(
        &self,
        level: usize,
        part: Option<(V<'c>, V<'c>)>,
        index: &mut Vec<Idx<'c>>,
        body: ElementStep<'_, 'c>,
    ) -> Result<(), Refusal> {
        let Some(&d) = self.nest.order.get(level) else { return body(index) };
        let b = self.cx.b;
        let mut from = 0;
        let innermost = level + 1 == self.nest.order.len();
        let whole = [self.nest.dims[d]];
        let pieces = if innermost { &self.nest.pieces[..] } else { &whole };
        for &to in pieces {
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
                self.cx.scoped(|| self.inner(level + 1, None, index, body))
            })?;
            from = to;
        }
        Ok(())
    }
}

/// Emits a kernel whose results have the same dimensions.
pub fn emit<'c>(cx: &ElementCx<'_, 'c>, nest: &LoopNest, begin: V<'c>, end: V<'c>) -> Result<(), Refusal> {
    if let Some(tiles) = &nest.tiles {
        return emit_tiled(cx, nest, tiles, begin, end);
    }
    Nest { cx, nest }.emit(begin, end, &mut |index| {
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
    nest: &LoopNest,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let module = cx.body.module;
    let Op::DynamicUpdateSlice = &module[root].op else { return Err("not a dynamic-update-slice".into()) };
    let (operand, update) = (module[root].operands[0], module[root].operands[1]);
    let (whole, window) = (array(module, operand)?, array(module, update)?);
    let starts = cx.dynamic_starts(root, 2, whole, window)?;
    let result = cx.body.roots[0];
    Nest { cx, nest }.emit(begin, end, &mut |index| {
        let value = cx.value(update, index)?;
        let target: Vec<Idx<'c>> = index.iter().zip(&starts).map(|(i, s)| s.add(cx.b, *i)).collect();
        cx.store(&result, &target, value)
    })
}

/// Emits a nest tile by tile: see [`Tiles`].
fn emit_tiled<'c>(
    cx: &ElementCx<'_, 'c>,
    nest: &LoopNest,
    tiles: &Tiles,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let mut arrays = Vec::new();
    for root in &cx.body.roots {
        let ty = cx.body.root_shape(root)?.element_type;
        arrays.push((ty, cx.stack_array(ty, tiles.side * tiles.stride)));
    }
    cx.b.for_loop(begin, end, 1, |i| {
        let position = Idx::value(i, 0, nest.iterations.max(1) - 1);
        cx.scoped(|| row_of_tiles(cx, nest, tiles, position, &arrays))
    })
}

/// The work for an element of a tile, given its index and its position in the tile's array.
type TileStep<'a, 'c> = &'a dyn Fn(&[Idx<'c>], V<'c>) -> Result<(), Refusal>;

/// Emits one iteration of [`emit_tiled`]: all tiles along the result for one tile across it.
fn row_of_tiles<'c>(
    cx: &ElementCx<'_, 'c>,
    nest: &LoopNest,
    tiles: &Tiles,
    position: Idx<'c>,
    arrays: &[(ElementType, V<'c>)],
) -> Result<(), Refusal> {
    let (b, e, d) = (cx.b, tiles.across, tiles.along);
    let (others, tile) = position.divide(b, tiles.count(nest.dims[e]));
    let mut outer = vec![Idx::constant(0); nest.dims.len()];
    index::set_along(b, others, &nest.dims, &nest.order[..nest.split], &mut outer);
    let end_of = |start: V<'c>, size: i64| {
        let (tile, size) = (b.index(tiles.side), b.index(size));
        b.binary(Binary::Smin, b.index_add(start, tile), size)
    };
    let e_start = tile.times(b, tiles.side).emit(b);
    let e_end = end_of(e_start, nest.dims[e]);
    let (zero, all) = (b.index(0), b.index(nest.dims[d]));
    let stride = b.index(tiles.stride);
    b.for_loop(zero, all, tiles.side, |d_start| {
        let d_end = end_of(d_start, nest.dims[d]);
        let visit = |i: V<'c>, j: V<'c>, body: TileStep<'_, 'c>| {
            cx.scoped(|| {
                let mut index = outer.clone();
                index[e] = Idx::value(i, 0, nest.dims[e] - 1);
                index[d] = Idx::value(j, 0, nest.dims[d] - 1);
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
