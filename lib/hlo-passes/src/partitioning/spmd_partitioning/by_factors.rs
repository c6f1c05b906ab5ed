//! Operations whose parts are the same operation on parts of the operands, which most are. The factors are
//! split in the cheapest way ([`super::cutting`]). Products, reductions and similar operations whose combined
//! factors are split produce partial results, which the devices then combine.

use super::cutting::Cutting;
use super::partitioner::Partitioner;
use super::value::{Part, Value};
use crate::partitioning::reach::Needed;
use hlo_ir::attr::{ComparisonDirection, PaddingDim, SliceDim, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op, Shape};

impl Partitioner<'_> {
    /// Partitions the instruction by its factors. Returns `None` if this is not possible.
    pub(super) fn by_factors(&mut self, id: InstrId) -> Option<Value> {
        let (cutting, cut) = self.cheapest(id)?;
        let values = self.emit_on_parts(id, &cutting, &cut)?;
        let wanted = self.required_shardings(id);
        let values: Vec<Value> =
            values.iter().zip(&wanted).map(|(part, to)| Value::Array(self.reshard(part, to))).collect();
        Some(match &self.module[id].shape {
            Shape::Tuple(_) => Value::Tuple(values),
            _ => values.into_iter().next()?,
        })
    }

    /// Returns the factors of an instruction, or of an equivalent operation, and the cheapest partition of
    /// them.
    fn cheapest(&mut self, id: InstrId) -> Option<(Cutting, TileAssignment)> {
        let plain = self.cutting(id)?;
        let (cost, cut) = self.choose(&plain);
        let Some(other) = self.alternative(id, &plain) else { return Some((plain, cut)) };
        let (other_cost, other_cut) = self.choose(&other);
        let taken = if other_cost < cost + self.unshared_operand_cost(id) {
            (other_cost, other, other_cut)
        } else {
            (cost, plain, cut)
        };
        self.scope.costs.insert(id, taken.0);
        Some((taken.1, taken.2))
    }

    /// Returns the cost of the operands that nothing else uses. It is saved if the alternative does not use
    /// them.
    fn unshared_operand_cost(&self, id: InstrId) -> f64 {
        let alone = |o: &&InstrId| self.module.users(**o).len() == 1;
        self.module[id].operands.iter().filter(alone).filter_map(|o| self.scope.costs.get(o)).sum()
    }

    /// Emits the instruction on parts of its operands for a partition of the factors. Returns its results.
    fn emit_on_parts(&mut self, id: InstrId, cutting: &Cutting, cut: &TileAssignment) -> Option<Vec<Part>> {
        let combined = cutting.combined(cut);
        let mut parts = self.cut_operands(cutting, cut, &combined)?;
        let mut op = local_op(cutting, cut, &parts);
        self.fetch_halos(cutting, cut, &mut op, &mut parts);
        let tiling = cut.select(&cutting.factors.result);
        let mut operands: Vec<InstrId> = parts.iter().map(|p| p.id).collect();
        let start = match &cutting.combine {
            Some(combine) if !combined.is_empty() => self.start(combine, &mut operands),
            _ => None,
        };
        let shapes: Vec<Shape> = cutting.leaves.iter().map(|l| self.shard_shape(l, &tiling).into()).collect();
        let results = match (&self.module[id].shape, &op) {
            (Shape::Tuple(_), _) => {
                let made = self.add(Shape::tuple(shapes), op, &operands);
                (0..cutting.leaves.len()).map(|n| self.element(made, n)).collect::<Option<Vec<_>>>()?
            }
            (_, Op::Concatenate(a)) if is_cut(cut, a.dimension()) => {
                vec![self.chosen_by_index(id, cutting, &parts, &tiling)?]
            }
            (_, Op::DynamicSlice(_) | Op::DynamicUpdateSlice | Op::Gather(_) | Op::Scatter(_)) => {
                vec![self.at_indices(cutting, cut, &op, parts)?]
            }
            _ => vec![self.add(shapes.into_iter().next()?, op, &operands)],
        };
        let made = results.into_iter().zip(&cutting.leaves);
        let made: Vec<Part> = made.map(|(id, leaf)| self.made(id, leaf, &tiling)).collect();
        Some(match &cutting.combine {
            Some(combine) if !combined.is_empty() => {
                self.combined(combine, made, cut, &combined, &cutting.wanted, start)
            }
            _ => made,
        })
    }

    /// Reshards the operands for a partition of the factors. Masks padding along combined factors.
    fn cut_operands(
        &mut self,
        cutting: &Cutting,
        cut: &TileAssignment,
        combined: &[usize],
    ) -> Option<Vec<Part>> {
        // Indices never point to the padding.
        let indexed = matches!(cutting.op, Op::DynamicSlice(_) | Op::Gather(_));
        let mut parts = Vec::with_capacity(cutting.parts.len());
        for (n, (part, walk)) in cutting.parts.iter().zip(&cutting.factors.operands).enumerate() {
            let part = self.reshard(part, &cutting.operand(n, cut));
            let counts = |d: &usize| walk[*d].is_some_and(|f| combined.contains(&f)) && part.is_filled_up(*d);
            let filled: Vec<usize> = (0..walk.len()).filter(counts).collect();
            parts.push(match &cutting.combine {
                Some(combine) if !filled.is_empty() && !indexed => {
                    let fill = self.neutral(combine, n, &part)?;
                    Part { id: self.masked(&part, &filled, fill), ..part }
                }
                _ => part,
            });
        }
        Some(parts)
    }

    /// Gets the elements that devices need from neighboring tiles, and adapts the windows of the operation
    /// to them.
    fn fetch_halos(&mut self, cutting: &Cutting, cut: &TileAssignment, op: &mut Op, parts: &mut [Part]) {
        for reach in cutting.reaches.iter().filter(|r| cut.tiles()[r.to] > 1) {
            let Some(needed) = cutting.needed(reach, cut) else { continue };
            let Some(run) = cutting.run(reach, cut) else { continue };
            let fill = self.outside(&cutting.op, reach.operand, parts);
            if let Some(part) = parts.get_mut(reach.operand) {
                // The run depends on the device's part of the factor, even if the operand is split
                // differently.
                let gone_on = self.run_of(part, &run, fill);
                part.id = gone_on;
                // The result is no longer a tile of the array, but nothing uses its position along this
                // dimension.
                part.shape.dims[reach.from] = needed.size * part.tiling.tiles()[reach.from];
            }
            match reach.window {
                Some(n) => take_part_of_window(
                    op,
                    n,
                    cutting.factors.factors[reach.to].size / cut.tiles()[reach.to],
                    &needed,
                ),
                None => take_windows(op, reach.to, &needed),
            }
        }
    }

    /// Returns the value that an operation reads outside of an operand.
    fn outside(&mut self, op: &Op, operand: usize, parts: &[Part]) -> Option<InstrId> {
        match op {
            Op::Convolution(_) => self.zero(parts.get(operand)?.shape.element_type),
            Op::ReduceWindow(_) => parts.get(parts.len() / 2 + operand).map(|p| p.id),
            Op::Pad(_) => parts.get(1).map(|p| p.id),
            _ => None,
        }
    }

    /// Emits a device's part of a concatenation along a split dimension: selects from the operands by global
    /// index.
    fn chosen_by_index(
        &mut self,
        id: InstrId,
        cutting: &Cutting,
        parts: &[Part],
        tiling: &TileAssignment,
    ) -> Option<InstrId> {
        let Op::Concatenate(a) = &self.module[id].op else { return None };
        let d = usize::try_from(a.dimension()).ok()?;
        let whole = self.made(id, cutting.leaves.first()?, tiling);
        let dims = whole.local_dims();
        let start = self.tile_start(&whole, d);
        let index = self.global_index(&dims, d, start);
        let mut end = whole.shape.dims[d];
        let mut value = parts.last()?.id;
        let operands = self.module[id].operands.iter();
        let sizes: Vec<i64> =
            operands.map(|&o| self.module[o].shape.as_array().map_or(0, |a| a.dims[d])).collect();
        for (part, size) in parts.iter().rev().skip(1).zip(sizes.iter().rev()) {
            end -= size;
            let before = self.compared(index, ComparisonDirection::Lt, end, &dims);
            let shape = self.shape_of(part.id);
            value = self.add(shape, Op::Select, &[before, part.id, value]);
        }
        Some(value)
    }
}

/// Returns the operation with the sizes of the parts.
fn local_op(cutting: &Cutting, cut_of: &TileAssignment, parts: &[Part]) -> Op {
    let mut op = cutting.op.clone();
    let (Some(part), Some(walk)) = (parts.first(), cutting.factors.operands.first()) else { return op };
    let local = part.local_dims();
    let cut = |d: usize| walk.get(d).copied().flatten().filter(|_| part.tiling.tiles()[d] > 1);
    match &mut op {
        Op::Slice(a) => {
            for (d, range) in a.slice.iter_mut().enumerate().filter(|(d, _)| cut(*d).is_some()) {
                *range = SliceDim { start: 0, limit: local[d], stride: range.stride };
            }
        }
        Op::DynamicSlice(a) => {
            let kept = |d: usize| cut(d).is_some_and(|f| f < cutting.factors.result.len());
            for (d, size) in a.dynamic_slice_sizes.iter_mut().enumerate().filter(|(d, _)| kept(*d)) {
                *size = local[d];
            }
        }
        Op::Gather(a) => {
            // Slices have size 1 along a batching dimension, whatever its size.
            let kept = |d: usize| cut(d).is_some_and(|f| f < cutting.factors.result.len());
            let batching = a.operand_batching_dims.clone();
            for (d, size) in a.slice_sizes.iter_mut().enumerate().filter(|(d, _)| kept(*d)) {
                *size = if batching.contains(&(d as i64)) { *size } else { local[d] };
            }
        }
        Op::Convolution(a) => {
            let features = usize::try_from(a.dim_labels.output_feature).ok();
            let count = features.and_then(|d| cut_of.tiles().get(d)).copied().unwrap_or(1).max(1);
            for groups in [&mut a.feature_group_count.0, &mut a.batch_group_count.0] {
                *groups = if *groups > 1 { *groups / count } else { *groups };
            }
        }
        _ => {}
    }
    op
}

/// Adapts the windows of an operation along a dimension of the result to the elements in `needed`.
fn take_windows(op: &mut Op, to: usize, needed: &Needed) {
    let [low, high] = needed.padding;
    match op {
        Op::Slice(a) => {
            if let Some(range) = a.slice.get_mut(to) {
                *range = SliceDim { start: 0, limit: needed.size, stride: range.stride };
            }
        }
        Op::Pad(a) => {
            if let Some(padding) = a.padding.get_mut(to) {
                *padding = PaddingDim::default();
            }
        }
        Op::ReduceWindow(a) => {
            if let Some(w) = a.window.dims.get_mut(to) {
                (w.pad_low, w.pad_high) = (low, high);
            }
        }
        Op::Convolution(a) => {
            let place = a.dim_labels.output_spatial.iter().position(|&d| d == to as i64);
            if let Some(w) = place.and_then(|n| a.window.dims.get_mut(n)) {
                (w.pad_low, w.pad_high) = (low, high);
            }
        }
        _ => {}
    }
}

/// Adapts a convolution to a part of its window, of which `needed` contains the elements.
fn take_part_of_window(op: &mut Op, dim: usize, size: i64, needed: &Needed) {
    if let Op::Convolution(a) = op
        && let Some(w) = a.window.dims.get_mut(dim)
    {
        w.size = size;
        [w.pad_low, w.pad_high] = needed.padding;
    }
}

fn is_cut(cut: &TileAssignment, d: i64) -> bool {
    usize::try_from(d).ok().and_then(|d| cut.tiles().get(d)).is_some_and(|&n| n > 1)
}
