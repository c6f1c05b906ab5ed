//! Operations each of whose parts is the same operation on parts of its operands: most. The loops are cut in the way that
//! is cheapest ([`super::cutting`]); products, reductions and the like that are cut along what they combine leave partial
//! results, which all devices combine in the end.

use super::cutting::Cutting;
use super::partitioner::Partitioner;
use super::value::{Part, Value};
use crate::partitioning::reaches::Needed;
use hlo_ir::attr::{ComparisonDirection, PaddingDim, SliceDim, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op, Shape};

impl Partitioner<'_> {
    /// The instruction on parts of its operands; `None` if it can't be cut so.
    pub(super) fn by_factors(&mut self, id: InstrId) -> Option<Value> {
        let (cutting, cut) = self.cheapest(id)?;
        let values = self.on_parts(id, &cutting, &cut)?;
        let wanted = self.wanted(id);
        let values: Vec<Value> =
            values.iter().zip(&wanted).map(|(part, to)| Value::Array(self.reshard(part, to))).collect();
        Some(match &self.module[id].shape {
            Shape::Tuple(_) => Value::Tuple(values),
            _ => values.into_iter().next()?,
        })
    }

    /// The loops of an instruction, or of another operation that gives the same, and the cheapest way to cut them.
    fn cheapest(&mut self, id: InstrId) -> Option<(Cutting, TileAssignment)> {
        let plain = self.cutting(id)?;
        let (cost, cut) = self.choose(&plain);
        let Some(other) = self.another_way(id, &plain) else { return Some((plain, cut)) };
        let (other_cost, other_cut) = self.choose(&other);
        let taken = if other_cost < cost + self.saved(id) {
            (other_cost, other, other_cut)
        } else {
            (cost, plain, cut)
        };
        self.scope.costs.insert(id, taken.0);
        Some((taken.1, taken.2))
    }

    /// What need not be done for operands that nothing else uses, if they are not taken.
    fn saved(&self, id: InstrId) -> f64 {
        let alone = |o: &&InstrId| self.module.users(**o).len() == 1;
        self.module[id].operands.iter().filter(alone).filter_map(|o| self.scope.costs.get(o)).sum()
    }

    /// The instruction on parts of its operands, its loops cut in the chosen way: its results.
    fn on_parts(&mut self, id: InstrId, cutting: &Cutting, cut: &TileAssignment) -> Option<Vec<Part>> {
        let combined = cutting.combined(cut);
        let mut parts = self.cut_operands(cutting, cut, &combined)?;
        let mut op = local_op(cutting, cut, &parts);
        self.reach_out(cutting, cut, &mut op, &mut parts);
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

    /// The operands, cut as the loops are. What tiles were filled up with is masked where it is combined.
    fn cut_operands(
        &mut self,
        cutting: &Cutting,
        cut: &TileAssignment,
        combined: &[usize],
    ) -> Option<Vec<Part>> {
        // Indices never lead to it.
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

    /// Gets what devices need of their neighbours' tiles; the operation takes windows of that.
    fn reach_out(&mut self, cutting: &Cutting, cut: &TileAssignment, op: &mut Op, parts: &mut [Part]) {
        for reach in cutting.reaches.iter().filter(|r| cut.tiles()[r.to] > 1) {
            let Some(needed) = cutting.needed(reach, cut) else { continue };
            let Some(run) = cutting.run(reach, cut) else { continue };
            let fill = self.outside(&cutting.op, reach.operand, parts);
            if let Some(part) = parts.get_mut(reach.operand) {
                // By the part of the result that a device makes, whether or not the operand is cut alike.
                let gone_on = self.run_of(part, &run, fill);
                part.id = gone_on;
                // From here on it is no tile of the array, but nothing asks for that along this dimension.
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

    /// What an operation reads outside of an operand.
    fn outside(&mut self, op: &Op, operand: usize, parts: &[Part]) -> Option<InstrId> {
        match op {
            Op::Convolution(_) => self.zero(parts.get(operand)?.shape.element_type),
            Op::ReduceWindow(_) => parts.get(parts.len() / 2 + operand).map(|p| p.id),
            Op::Pad(_) => parts.get(1).map(|p| p.id),
            _ => None,
        }
    }

    /// The parts of a concatenation along a dimension that is cut: of each operand what lies there, if it does.
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

/// The operation with the sizes that parts have.
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
            // Of a batching dimension a slice is one element, however many there are.
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

/// Lets an operation take windows of what was got for them, along a dimension of the result.
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

/// Lets a convolution have a part of a window, whose places lie in what was got for them.
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
