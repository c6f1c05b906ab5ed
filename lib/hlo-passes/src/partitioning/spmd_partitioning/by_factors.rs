//! Operations each of whose parts is the same operation on parts of its operands: most.
//!
//! Which loops are cut among which devices is chosen by what it costs: candidates are the cuts that the operands and the
//! result have, and what these make together. Products, reductions and the like that are cut along what they combine leave
//! partial results, which all devices combine in the end.

use super::partial::Combine;
use super::partitioner::Partitioner;
use super::plan::shard_elements;
use super::value::{Part, Value};
use crate::partitioning::factors::{Factors, Kind, merged};
use hlo_ir::attr::TileAssignment;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Op, Shape};

/// The cost of a byte that is received, in elements that are computed.
const BYTE: f64 = 1000.0;

/// More operands than this do not say how loops are cut.
const MAX_SAY: usize = 4;

impl Partitioner<'_> {
    /// The instruction on parts of its operands; `None` if it can't be cut so.
    pub(super) fn by_factors(&mut self, id: InstrId) -> Option<Value> {
        let mut factors = Factors::of(self.module, id)?;
        let combine = self.combine(id);
        if combine.is_none() {
            // What can't be combined afterwards is not cut.
            let uncut = factors.factors.iter_mut().filter(|f| f.kind == Kind::Combined);
            uncut.for_each(|f| f.kind = Kind::Whole);
        }
        let parts = (0..self.module[id].operands.len()).map(|n| self.part(n)).collect::<Option<Vec<_>>>()?;
        let leaves: Vec<ArrayShape> =
            self.module[id].shape.leaves().into_iter().map(|l| l.as_array().cloned()).collect::<Option<_>>()?;
        let wanted = self.wanted(id);
        let chosen = self.choose(&factors, &parts, &leaves, wanted.first()?);
        let values = self.on_parts(id, &factors, &chosen, &parts, &leaves, combine, wanted.first()?)?;
        let values: Vec<Value> =
            values.iter().zip(&wanted).map(|(part, to)| Value::Array(self.reshard(part, to))).collect();
        Some(match &self.module[id].shape {
            Shape::Tuple(_) => Value::Tuple(values),
            _ => values.into_iter().next()?,
        })
    }

    /// The cheapest way to cut the loops.
    fn choose(
        &self,
        factors: &Factors,
        parts: &[Part],
        leaves: &[ArrayShape],
        wanted: &TileAssignment,
    ) -> TileAssignment {
        let of_result = factors.lift(&factors.result, wanted);
        let mut says = vec![of_result.clone()];
        for (part, walk) in parts.iter().zip(&factors.operands).take(MAX_SAY) {
            let lifted = factors.lift(walk, &part.tiling);
            if !says.contains(&lifted) {
                says.push(lifted);
            }
        }
        let mut candidates = vec![of_result.whole(factors.factors.len())];
        for first in 0..says.len() {
            let mut together = says[first].clone();
            candidates.push(together.clone());
            for second in (0..says.len()).filter(|&n| n != first) {
                candidates.push(merged(&says[first], &says[second]));
                together = merged(&together, &says[second]);
            }
            candidates.push(together);
        }
        let mut best: Option<(f64, TileAssignment)> = None;
        for (n, candidate) in candidates.iter().enumerate() {
            if candidates[..n].contains(candidate) {
                continue;
            }
            let cost = self.cost(factors, candidate, parts, leaves, wanted);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, candidate.clone()));
            }
        }
        best.map_or(of_result, |(_, candidate)| candidate)
    }

    fn cost(
        &self,
        factors: &Factors,
        cut: &TileAssignment,
        parts: &[Part],
        leaves: &[ArrayShape],
        wanted: &TileAssignment,
    ) -> f64 {
        let operands = parts.iter().zip(&factors.operands);
        let moved: f64 = operands.map(|(part, walk)| self.reshard_cost(part, &cut.select(walk))).sum();
        let computed = shard_elements(cut, &factors.sizes());
        let result = cut.select(&factors.result);
        let after: f64 = leaves
            .iter()
            .map(|leaf| {
                let part = self.made(self.scope.at, leaf, &result);
                self.combination_cost(&part, factors, cut, wanted)
            })
            .sum();
        (moved + after) * BYTE + computed
    }

    /// The instruction on parts of its operands, its loops cut in the chosen way: its results.
    #[allow(clippy::too_many_arguments, reason = "they are what was found out of the instruction")]
    fn on_parts(
        &mut self,
        id: InstrId,
        factors: &Factors,
        cut: &TileAssignment,
        parts: &[Part],
        leaves: &[ArrayShape],
        combine: Option<Combine>,
        wanted: &TileAssignment,
    ) -> Option<Vec<Part>> {
        let combined: Vec<usize> = (0..factors.factors.len())
            .filter(|&f| factors.factors[f].kind == Kind::Combined && cut.tiles()[f] > 1)
            .collect();
        let combine = combine.filter(|_| !combined.is_empty());
        let mut operands = Vec::with_capacity(parts.len());
        for (n, (part, walk)) in parts.iter().zip(&factors.operands).enumerate() {
            let part = self.reshard(part, &cut.select(walk));
            let filled: Vec<usize> =
                (0..walk.len()).filter(|&d| walk[d].is_some_and(|f| combined.contains(&f))).collect();
            operands.push(match &combine {
                Some(combine) if filled.iter().any(|&d| part.is_filled_up(d)) => {
                    let fill = self.neutral(combine, n, &part)?;
                    self.masked(&part, &filled, fill)
                }
                _ => part.id,
            });
        }
        let start = combine.as_ref().and_then(|c| self.start(c, &mut operands));
        let tiling = cut.select(&factors.result);
        let op = self.local_op(id, factors, &operands);
        let shapes: Vec<Shape> = leaves.iter().map(|l| self.shard_shape(l, &tiling).into()).collect();
        let results = match self.module[id].shape {
            Shape::Tuple(_) => {
                let made = self.add(Shape::tuple(shapes), op, &operands);
                (0..leaves.len()).map(|n| self.element(made, n)).collect::<Option<Vec<_>>>()?
            }
            _ => vec![self.add(shapes.into_iter().next()?, op, &operands)],
        };
        let parts: Vec<Part> =
            results.into_iter().zip(leaves).map(|(id, leaf)| self.made(id, leaf, &tiling)).collect();
        Some(match combine {
            Some(combine) => self.combined(&combine, parts, cut, &combined, wanted, start),
            None => parts,
        })
    }

    /// The operation with the sizes that parts have.
    fn local_op(&self, id: InstrId, factors: &Factors, operands: &[InstrId]) -> Op {
        let mut op = self.module[id].op.clone();
        let local = operands.first().and_then(|&o| self.array_of(o));
        let (Some(local), Some(walk)) = (local, factors.operands.first()) else { return op };
        let cut = walk.iter().zip(&local.dims).map(|(f, &size)| f.map(|_| size));
        match &mut op {
            Op::Slice(a) => {
                for (range, size) in a.slice.iter_mut().zip(cut) {
                    if let Some(size) = size {
                        range.limit = size;
                    }
                }
            }
            Op::DynamicSlice(a) => {
                for (range, size) in a.dynamic_slice_sizes.iter_mut().zip(cut) {
                    *range = size.unwrap_or(*range);
                }
            }
            Op::Gather(a) => {
                // Of a batching dimension a slice is one element, however many there are.
                let batching = a.operand_batching_dims.clone();
                for (d, (range, size)) in a.slice_sizes.iter_mut().zip(cut).enumerate() {
                    if !batching.contains(&(d as i64)) {
                        *range = size.unwrap_or(*range);
                    }
                }
            }
            _ => {}
        }
        op
    }
}
