//! Exchanges elements with neighboring tiles.

use super::collectives::groups_by;
use super::partitioner::Partitioner;
use super::value::Part;
use crate::partitioning::reach::Needed;
use hlo_ir::attr::{ComparisonDirection, Place};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Op};

/// A range of elements in the tile at distance `distance`. The positions are relative to the start of the
/// device's own tile.
struct Piece {
    distance: i64,
    begin: i64,
    end: i64,
    /// The devices that need the elements.
    needed_by: Vec<usize>,
}

/// A range of elements along a dimension of the whole array. It has the same size on each device, but its own
/// start.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) dim: usize,
    pub(super) starts: Vec<i64>,
    pub(super) size: i64,
    /// The start and the limit of the valid elements of the array.
    pub(super) within: (i64, i64),
}

impl Run {
    /// Returns the elements along a dimension that devices need for their parts of a factor.
    pub(super) fn of_places(
        dim: usize,
        factor: usize,
        places: &[Place],
        needed: &Needed,
        within: (i64, i64),
    ) -> Self {
        let number = |p: &Place| usize::try_from(p.tile[factor]).unwrap_or(0);
        let starts = places.iter().map(|p| needed.starts.get(number(p)).copied().unwrap_or(0));
        Self { dim, starts: starts.collect(), size: needed.size, within }
    }

    /// Returns the starts relative to the device's own tile.
    fn offsets(&self, part: &Part) -> Vec<i64> {
        let shard = part.local_dims()[self.dim];
        let places = part.tiling.places();
        places.iter().zip(&self.starts).map(|(p, start)| start - p.tile[self.dim] * shard).collect()
    }

    /// Returns the start and the limit of the positions, relative to the device's own tile, that any device
    /// needs.
    fn span(&self, part: &Part) -> (i64, i64) {
        let offsets = self.offsets(part);
        let (first, last) = (offsets.iter().min(), offsets.iter().max());
        (first.copied().unwrap_or(0), last.copied().unwrap_or(0) + self.size)
    }

    fn pieces(&self, part: &Part) -> Vec<Piece> {
        let shard = part.local_dims()[self.dim];
        let (from, to) = self.span(part);
        if shard < 1 {
            return Vec::new();
        }
        let tiles = part.tiling.tiles()[self.dim];
        let places = part.tiling.places();
        let mut pieces = Vec::new();
        for distance in from.div_euclid(shard)..=(to - 1).div_euclid(shard) {
            let (begin, end) = ((distance * shard).max(from), ((distance + 1) * shard).min(to));
            let needs = |device: usize| {
                let (n, start) = (places[device].tile[self.dim], self.starts[device]);
                let (low, high) = ((n * shard + begin).max(start), (n * shard + end).min(start + self.size));
                (0..tiles).contains(&(n + distance)) && low.max(self.within.0) < high.min(self.within.1)
            };
            let needed_by = (0..places.len()).filter(|&device| needs(device)).collect();
            pieces.push(Piece { distance, begin, end, needed_by });
        }
        pieces
    }

    /// Returns the average number of elements that a device receives.
    pub(super) fn cost(&self, part: &Part) -> f64 {
        let shard = part.local_dims()[self.dim].max(1);
        let others: f64 = part.local_dims().iter().map(|&n| n as f64).product::<f64>() / shard as f64;
        let devices = self.starts.len().max(1) as f64;
        let moved = self.pieces(part).into_iter().filter(|p| p.distance != 0);
        moved.map(|p| (p.end - p.begin) as f64 * others * p.needed_by.len() as f64 / devices).sum()
    }
}

impl Partitioner<'_> {
    /// Emits the elements that each device needs. `fill` replaces those that are not valid.
    pub(super) fn run_of(&mut self, part: &Part, run: &Run, fill: Option<InstrId>) -> InstrId {
        let (from, to) = run.span(part);
        let mut values = Vec::new();
        for piece in run.pieces(part) {
            values.push(self.piece(part, run, &piece));
        }
        let mut value = self.joined(part, run.dim, &values, to - from);
        let mut dims = part.local_dims();
        dims[run.dim] = run.size;
        if to - from > run.size {
            let zero = self.index(0);
            let offset = self.of_device(run.offsets(part).iter().map(|o| o - from).collect());
            let mut operands = vec![value];
            operands.extend((0..dims.len()).map(|d| if d == run.dim { offset } else { zero }));
            let shape = ArrayShape::new(part.shape.element_type, dims.iter().copied());
            value = self.add(shape, Op::dynamic_slice(dims.iter().copied()), &operands);
        }
        let (first, end) = run.within;
        let outside = run.starts.iter().any(|&s| s < first || s + run.size > end);
        let Some(fill) = fill.filter(|_| outside) else { return value };
        let start = self.of_device(run.starts.clone());
        let index = self.global_index(&dims, run.dim, start);
        let from_first = self.compared(index, ComparisonDirection::Ge, first, &dims);
        let to_last = self.compared(index, ComparisonDirection::Lt, end, &dims);
        let inside = self.same(Op::And, &[from_first, to_last]);
        self.select(inside, value, fill, &dims)
    }

    /// Emits a range of elements of another tile, on the devices that need it.
    fn piece(&mut self, part: &Part, run: &Run, piece: &Piece) -> InstrId {
        let begin = piece.begin - piece.distance * part.local_dims()[run.dim];
        let size = piece.end - piece.begin;
        if piece.needed_by.is_empty() {
            let mut dims = part.local_dims();
            dims[run.dim] = size;
            return match self.zero(part.shape.element_type) {
                Some(zero) => self.spread(zero, &dims),
                None => part.id,
            };
        }
        let value = self.sliced(part.id, run.dim, begin, size);
        if piece.distance == 0 {
            return value;
        }
        let others = |p: &Place| {
            let mut tile = p.tile.clone();
            tile[run.dim] = 0;
            tile
        };
        let mut pairs = Vec::new();
        for line in groups_by(&part.tiling, others, |p| p.tile[run.dim]) {
            for (n, device) in line.iter().enumerate().filter(|(_, d)| piece.needed_by.contains(d)) {
                let source = usize::try_from(n as i64 + piece.distance).ok();
                pairs.extend(source.and_then(|s| line.get(s)).map(|&source| (source, *device)));
            }
        }
        pairs.sort_unstable();
        self.permute(value, &pairs)
    }

    fn joined(&mut self, part: &Part, dim: usize, values: &[InstrId], size: i64) -> InstrId {
        if let [one] = values {
            return *one;
        }
        let mut dims = part.local_dims();
        dims[dim] = size;
        let shape = ArrayShape::new(part.shape.element_type, dims);
        self.add(shape, Op::concatenate(dim as i64), values)
    }
}
