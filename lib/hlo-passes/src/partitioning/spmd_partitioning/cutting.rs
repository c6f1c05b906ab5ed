//! Selects how the factors of an operation are split among devices.
//!
//! The candidates are the partitions that follow from the shardings of the operands and of the result, and
//! combinations of them. The cost of a candidate is the number of bytes that devices receive: to reshard the
//! operands and the result, and for elements of neighboring tiles. The number of elements that each device
//! computes comes second.

use super::halo::Run;
use super::partial::{Combine, sharing};
use super::partitioner::Partitioner;
use super::plan::shard_elements;
use super::value::Part;
use crate::partitioning::channels::scattered;
use crate::partitioning::factors::{DimensionFactors, Factor, Factors, Kind, merged};
use crate::partitioning::reach::{Needed, Reach};
use crate::partitioning::reaches::{reaches, written_at_indices};
use hlo_ir::attr::{Place, TileAssignment};
use hlo_ir::{ArrayShape, Dims, InstrId, Op};

/// The cost of a received byte, relative to the cost of computing one element.
const COST_PER_BYTE: f64 = 1000.0;

/// Maximum number of operands whose shardings produce candidates.
const MAX_CANDIDATE_OPERANDS: usize = 4;

/// Maximum number of users of a value that are examined.
const MAX_EXAMINED_USERS: usize = 16;

/// The factors of an instruction, and the facts needed to split them.
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
    /// For each operand that is a slice of the part: the sliced dimension, the start and the limit.
    pub(super) slices: Vec<Option<(usize, i64, i64)>>,
    /// The shapes of the results.
    pub(super) leaves: Vec<ArrayShape>,
    /// The required sharding of the result.
    pub(super) wanted: TileAssignment,
}

impl Cutting {
    /// Returns the elements of an operand that the parts of a factor need, for a partition of the factors.
    pub(super) fn needed(&self, reach: &Reach, cut: &TileAssignment) -> Option<Needed> {
        let parts = *cut.tiles().get(reach.to)?;
        let size = self.factors.factors.get(reach.to)?.size;
        // If the window does not divide evenly, the operation would have to skip positions.
        if reach.window.is_some() && size % parts != 0 {
            return None;
        }
        reach.needed(parts, size / parts + i64::from(size % parts != 0))
    }

    /// Returns the elements that devices need of an operand that is read around the index of a factor.
    pub(super) fn run(&self, reach: &Reach, cut: &TileAssignment) -> Option<Run> {
        let needed = self.needed(reach, cut)?;
        let size = self.parts.get(reach.operand)?.shape.dims.get(reach.from).copied()?;
        let within = self.sliced(reach).unwrap_or((0, size));
        Some(Run::of_places(reach.from, reach.to, &cut.places(), &needed, within))
    }

    /// Returns the start and the limit of the slice, if the operand is a slice along the dimension of
    /// `reach`.
    fn sliced(&self, reach: &Reach) -> Option<(i64, i64)> {
        let (dim, from, to) = self.slices.get(reach.operand).copied().flatten()?;
        (dim == reach.from).then_some((from, to))
    }

    /// Returns the sharding of an operand for a partition of the factors. A dimension that is read around the
    /// index of a factor stays whole if it is whole now.
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

    /// Returns the split factors whose parts are combined.
    pub(super) fn combined(&self, cut: &TileAssignment) -> Vec<usize> {
        let factors = self.factors.factors.iter().enumerate();
        factors
            .filter(|(f, factor)| factor.kind == Kind::Combined && cut.tiles()[*f] > 1)
            .map(|(f, _)| f)
            .collect()
    }
}

impl Partitioner<'_> {
    /// Returns the factors of an instruction, or `None` if it cannot be partitioned.
    pub(super) fn cutting(&self, id: InstrId) -> Option<Cutting> {
        let parts = (0..self.module[id].operands.len()).map(|n| self.part(n)).collect::<Option<Vec<_>>>()?;
        let op = self.module[id].op.clone();
        let mut factors = Factors::of(self.module, id)?;
        let reaches = reaches(self.module, id, &mut factors);
        self.cutting_of(id, op, parts, factors, reaches)
    }

    /// Returns the factors of an operation that is equivalent to an instruction.
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
            // A factor must not be split if partial results cannot be combined, or if it has no elements.
            if factor.size < 1 || (factor.kind == Kind::Combined && combine.is_none()) {
                factor.kind = Kind::Whole;
            }
        }
        let wanted = self.required_shardings(id).into_iter().next()?;
        let slices = vec![None; parts.len()];
        Some(Cutting { op, factors, reaches, combine, parts, slices, leaves, wanted })
    }

    /// Returns the cheapest partition of the factors, and its cost.
    pub(super) fn choose(&self, cutting: &Cutting) -> (f64, TileAssignment) {
        let factors = &cutting.factors;
        let of_result = factors.lift(&factors.result, &cutting.wanted);
        let operands = || cutting.parts.iter().zip(&factors.operands).take(MAX_CANDIDATE_OPERANDS);
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
        // Each split factor on its own, because splitting others may cost more than it saves.
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
        (moved + after + around) * COST_PER_BYTE + shard_elements(cut, &factors.sizes())
    }

    /// Returns the number of instructions that likely need an operand in the same sharding: the users with
    /// the sharding of the current instruction.
    fn sharers(&self, operand: usize) -> f64 {
        let at = &self.module[self.scope.at];
        let users = at.operands.get(operand).map_or(&[][..], |&o| self.module.users(o));
        let alike =
            users.iter().take(MAX_EXAMINED_USERS).filter(|&&u| self.module[u].sharding() == at.sharding());
        alike.count().max(1) as f64
    }

    /// Returns the number of bytes that a device receives to combine partial results and convert them to the
    /// required sharding.
    fn combination_cost(&self, part: &Part, cutting: &Cutting, cut: &TileAssignment) -> f64 {
        let (loops, wanted) = (cutting.combined(cut), &cutting.wanted);
        let dims = &part.shape.dims;
        let elements = shard_elements(&part.tiling, dims);
        let bytes = part.shape.element_type.byte_size() as f64;
        let moved = if loops.is_empty() {
            self.resharding_plan(&part.tiling, wanted, dims).cost
        } else {
            let groups = sharing(cut, &loops);
            let count = groups.first().map_or(1, Vec::len) as f64;
            let once = elements * (count - 1.0) / count;
            match scattered(&part.tiling, &groups, wanted, dims) {
                Some(_) => once,
                None => 2.0 * once + self.resharding_plan(&part.tiling, wanted, dims).cost,
            }
        };
        moved * bytes
    }

    /// Returns the number of bytes that a device receives from neighboring tiles, or infinity if this
    /// partition is not possible.
    fn reach_cost(&self, cutting: &Cutting, reach: &Reach, cut: &TileAssignment) -> f64 {
        let Some(part) = cutting.parts.get(reach.operand).filter(|_| cut.tiles()[reach.to] > 1) else {
            // The slice is only taken if the factor is split.
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

/// Allows splitting dimensions that are read at indices. A device reads nothing if its tile does not contain
/// the index.
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

/// Returns partitions that replace the split of a dimension that cannot be split by a split of another
/// dimension. Devices exchange parts of their tiles, which sends less than gathering them.
fn moved(factors: &Factors, walk: &DimensionFactors, tiling: &TileAssignment) -> Vec<TileAssignment> {
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
