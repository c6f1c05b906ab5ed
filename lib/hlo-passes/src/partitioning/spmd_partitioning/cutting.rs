//! How the loops of an operation may be cut, and which way is cheapest.
//!
//! Candidates are the cuts that the operands and the result have, and what these make together. The cost of one is what
//! devices receive for the operands to be cut so, for the result to be what is wanted, and for what they need of their
//! neighbours' tiles; then how much each computes.

use super::halo::Run;
use super::partial::Combine;
use super::partitioner::Partitioner;
use super::plan::shard_elements;
use super::value::Part;
use crate::partitioning::factors::{Factor, Factors, Kind, Walk, merged};
use crate::partitioning::reaches::{Needed, Reach, reaches, written_at_indices};
use hlo_ir::attr::{Place, TileAssignment};
use hlo_ir::{ArrayShape, Dims, InstrId, Op};

/// The cost of a byte that is received, in elements that are computed.
const BYTE: f64 = 1000.0;

/// More operands than this do not say how loops are cut.
const MAX_SAY: usize = 4;

/// More users than this of a value are not looked at.
const MAX_SHARERS: usize = 16;

/// The loops of an instruction, and how they may be cut.
#[derive(Clone)]
pub(super) struct Cutting {
    /// The operation.
    pub(super) op: Op,
    pub(super) factors: Factors,
    pub(super) reaches: Vec<Reach>,
    /// How partial results are combined, if they can be.
    pub(super) combine: Option<Combine>,
    /// The operands, which are arrays.
    pub(super) parts: Vec<Part>,
    /// Of each operand that is a slice of the part: the dimension that is sliced, and where from and to.
    pub(super) slices: Vec<Option<(usize, i64, i64)>>,
    /// The results.
    pub(super) leaves: Vec<ArrayShape>,
    /// How the result is to lie on the devices.
    pub(super) wanted: TileAssignment,
}

impl Cutting {
    /// What a part of the result needs of an operand, of a loop that is cut into so many parts.
    pub(super) fn needed(&self, reach: &Reach, cut: &TileAssignment) -> Option<Needed> {
        let parts = *cut.tiles().get(reach.to)?;
        let size = self.factors.factors.get(reach.to)?.size;
        // Places of a window that are filled up would have to be left out.
        if reach.window.is_some() && size % parts != 0 {
            return None;
        }
        reach.needed(parts, size / parts + i64::from(size % parts != 0))
    }

    /// What devices need of an operand that is read around the result's index.
    pub(super) fn run(&self, reach: &Reach, cut: &TileAssignment) -> Option<Run> {
        let needed = self.needed(reach, cut)?;
        let size = self.parts.get(reach.operand)?.shape.dims.get(reach.from).copied()?;
        let within = self.sliced(reach).unwrap_or((0, size));
        Some(Run::of_places(reach.from, reach.to, &cut.places(), &needed, within))
    }

    /// From where to where an operand is a slice of the part, along the dimension that is read.
    fn sliced(&self, reach: &Reach) -> Option<(i64, i64)> {
        let (dim, from, to) = self.slices.get(reach.operand).copied().flatten()?;
        (dim == reach.from).then_some((from, to))
    }

    /// How an operand is cut when the loops are: not at all along what is read around the result's index, if it is not cut
    /// there now.
    pub(super) fn operand(&self, n: usize, cut: &TileAssignment) -> TileAssignment {
        let (Some(walk), Some(part)) = (self.factors.operands.get(n), self.parts.get(n)) else {
            return cut.whole(0);
        };
        let reached = |d: usize| self.reaches.iter().any(|r| r.operand == n && r.from == d);
        let whole = |d: usize| part.tiling.tiles()[d] == 1 && reached(d);
        let walk: Vec<Option<usize>> =
            walk.iter().enumerate().map(|(d, f)| f.filter(|_| !whole(d))).collect();
        cut.select(&walk)
    }

    /// The loops whose parts are combined, of those that are cut.
    pub(super) fn combined(&self, cut: &TileAssignment) -> Vec<usize> {
        let factors = self.factors.factors.iter().enumerate();
        factors
            .filter(|(f, factor)| factor.kind == Kind::Combined && cut.tiles()[*f] > 1)
            .map(|(f, _)| f)
            .collect()
    }
}

impl Partitioner<'_> {
    /// The loops of an instruction; `None` if they can't be cut.
    pub(super) fn cutting(&self, id: InstrId) -> Option<Cutting> {
        let parts = (0..self.module[id].operands.len()).map(|n| self.part(n)).collect::<Option<Vec<_>>>()?;
        let op = self.module[id].op.clone();
        let mut factors = Factors::of(self.module, id)?;
        let reaches = reaches(self.module, id, &mut factors);
        self.cutting_of(id, op, parts, factors, reaches)
    }

    /// The loops of an operation that gives what an instruction does.
    pub(super) fn cutting_of(
        &self,
        id: InstrId,
        op: Op,
        parts: Vec<Part>,
        mut factors: Factors,
        reaches: Vec<Reach>,
    ) -> Option<Cutting> {
        let leaves: Vec<ArrayShape> = self.module[id]
            .shape
            .leaves()
            .into_iter()
            .map(|l| l.as_array().cloned())
            .collect::<Option<_>>()?;
        written_at_indices(&op, &mut factors);
        cut_at_indices(&op, &mut factors, &parts);
        let combine = self.combine(id, &op);
        for factor in &mut factors.factors {
            // What can't be combined afterwards is not cut, nor is what has no elements.
            if factor.size < 1 || (factor.kind == Kind::Combined && combine.is_none()) {
                factor.kind = Kind::Whole;
            }
        }
        let wanted = self.wanted(id).into_iter().next()?;
        let slices = vec![None; parts.len()];
        Some(Cutting { op, factors, reaches, combine, parts, slices, leaves, wanted })
    }

    /// The cheapest way to cut the loops.
    pub(super) fn choose(&self, cutting: &Cutting) -> (f64, TileAssignment) {
        let factors = &cutting.factors;
        let of_result = factors.lift(&factors.result, &cutting.wanted);
        let operands = || cutting.parts.iter().zip(&factors.operands).take(MAX_SAY);
        let mut says = vec![of_result.clone()];
        for (part, walk) in operands() {
            let lifted = factors.lift(walk, &part.tiling);
            if !says.contains(&lifted) {
                says.push(lifted);
            }
        }
        let whole = of_result.whole(factors.factors.len());
        let moved: Vec<_> = operands().flat_map(|(part, walk)| moved(factors, walk, &part.tiling)).collect();
        if moved.is_empty() && says.iter().all(TileAssignment::is_whole) {
            let cut = says.into_iter().find(|s| s.groups() > 1).unwrap_or(whole);
            return (self.cost(cutting, &cut), cut);
        }
        let mut candidates: Vec<TileAssignment> = Vec::new();
        let mut add = |candidate: TileAssignment| {
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        };
        for first in 0..says.len() {
            let mut together = says[first].clone();
            for second in (0..says.len()).filter(|&n| n != first) {
                add(merged(&says[first], &says[second]));
                together = merged(&together, &says[second]);
            }
            add(together);
            add(says[first].clone());
        }
        // Each loop of a cut by itself: others may cost more than they save.
        for cut in &says {
            for f in (0..factors.factors.len()).filter(|&f| cut.tiles()[f] > 1) {
                let only: Vec<Option<usize>> =
                    (0..factors.factors.len()).map(|g| (g != f).then_some(g)).collect();
                add(cut.select(&only));
            }
        }
        moved.into_iter().for_each(&mut add);
        add(whole.clone());
        let mut best: Option<(f64, TileAssignment)> = None;
        for candidate in candidates {
            let cost = self.cost(cutting, &candidate);
            if cost.is_finite() && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, candidate));
            }
        }
        best.unwrap_or((f64::INFINITY, whole))
    }

    fn cost(&self, cutting: &Cutting, cut: &TileAssignment) -> f64 {
        let factors = &cutting.factors;
        let operands = cutting.parts.iter().zip(&factors.operands).enumerate();
        let moved: f64 = operands
            .map(|(n, (part, _))| self.reshard_cost(part, &cutting.operand(n, cut)) / self.sharers(n))
            .sum();
        let result = cut.select(&factors.result);
        let mut after = 0.0;
        for leaf in &cutting.leaves {
            let part = self.made(self.scope.at, leaf, &result);
            after += self.combination_cost(&part, cutting, cut);
        }
        let around: f64 = cutting.reaches.iter().map(|reach| self.reach_cost(cutting, reach, cut)).sum();
        (moved + after + around) * BYTE + shard_elements(cut, &factors.sizes())
    }

    /// How many instructions are likely to need an operand in the same sharding: those that are to be cut alike.
    fn sharers(&self, operand: usize) -> f64 {
        let at = &self.module[self.scope.at];
        let users = at.operands.get(operand).map_or(&[][..], |&o| self.module.users(o));
        let alike = users.iter().take(MAX_SHARERS).filter(|&&u| self.module[u].sharding() == at.sharding());
        alike.count().max(1) as f64
    }

    /// How many bytes a device receives of its neighbours' tiles; infinite if they can't be cut so.
    fn reach_cost(&self, cutting: &Cutting, reach: &Reach, cut: &TileAssignment) -> f64 {
        let Some(part) = cutting.parts.get(reach.operand).filter(|_| cut.tiles()[reach.to] > 1) else {
            // The slice is taken where the loop is cut only.
            return if cutting.sliced(reach).is_some() { f64::INFINITY } else { 0.0 };
        };
        if part.shape.dims[reach.from] < 1 {
            return f64::INFINITY;
        }
        let part = self.made(part.id, &part.shape, &cutting.operand(reach.operand, cut));
        let Some(run) = cutting.run(reach, cut) else { return f64::INFINITY };
        run.cost(&part) * part.shape.element_type.byte_size() as f64
    }
}

/// Lets what is read at indices be cut there: devices that do not have what an index says read nothing.
fn cut_at_indices(op: &Op, factors: &mut Factors, parts: &[Part]) {
    let combined = |factors: &mut Factors, d: usize| {
        let size = parts.first().and_then(|p| p.shape.dims.get(d)).copied().unwrap_or(0);
        if let Some(walk @ None) = factors.operands.first_mut().and_then(|walk| walk.get_mut(d)) {
            factors.factors.push(Factor { size, kind: Kind::Combined, runs: None });
            *walk = Some(factors.factors.len() - 1);
        }
    };
    match op {
        Op::DynamicSlice(a) => {
            for d in 0..a.dynamic_slice_sizes.len() {
                combined(factors, d);
            }
        }
        Op::Gather(a) => {
            for &d in &a.start_index_map {
                let d = usize::try_from(d).unwrap_or(usize::MAX);
                if a.slice_sizes.get(d) == Some(&1) {
                    combined(factors, d);
                }
            }
        }
        _ => {}
    }
}

/// The cuts of loops by which those of an operand along dimensions that can't be cut go to others: each device gives parts
/// of its tile for parts of others', which is less than all of them.
fn moved(factors: &Factors, walk: &Walk, tiling: &TileAssignment) -> Vec<TileAssignment> {
    let kept = factors.lift(walk, tiling);
    let lost = |(d, f): (usize, &Option<usize>)| {
        (tiling.tiles()[d] > 1 && f.is_none_or(|f| kept.tiles()[f] == 1)).then_some(d)
    };
    let (places, base) = (tiling.places(), kept.places());
    let mut found = Vec::new();
    for d in walk.iter().enumerate().filter_map(lost) {
        let count = tiling.tiles()[d];
        for &f in walk.iter().flatten() {
            let factor = &factors.factors[f];
            let fits = factor.size % (kept.tiles()[f] * count) == 0;
            if factor.kind != Kind::Kept || factor.runs.is_some() || !fits || factor.size < 1 {
                continue;
            }
            let mut tiles: Dims = kept.tiles().into();
            tiles[f] *= count;
            let place = |(kept, own): (&Place, &Place)| {
                let mut tile = kept.tile.clone();
                tile[f] = tile[f] * count + own.tile[d];
                (tile, kept.group)
            };
            found.extend(TileAssignment::of_places(
                &tiles,
                kept.groups(),
                base.iter().zip(&places).map(place),
            ));
        }
    }
    found
}
