//! What devices need of their neighbours' tiles.

use super::collectives::groups_by;
use super::partitioner::Partitioner;
use super::value::Part;
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Op};

/// A run of elements of the tile that is `distance` tiles further, as places relative to the own tile's beginning.
struct Piece {
    distance: i64,
    begin: i64,
    end: i64,
    /// The tiles that need it.
    needed_by: Vec<usize>,
}

/// The elements from an index of the whole on, of each tile another one, so many along a dimension.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    pub(super) dim: usize,
    pub(super) starts: &'a [i64],
    pub(super) size: i64,
}

impl Run<'_> {
    fn shard(&self, part: &Part) -> i64 {
        part.local_dims()[self.dim]
    }

    /// The places, relative to the own tile, that some tile needs: from, to.
    fn span(&self, shard: i64) -> (i64, i64) {
        let relative = |(n, start): (usize, &i64)| start - n as i64 * shard;
        let begin = self.starts.iter().enumerate().map(relative).min().unwrap_or(0);
        let end = self.starts.iter().enumerate().map(relative).max().unwrap_or(0);
        (begin, end + self.size)
    }

    fn pieces(&self, part: &Part) -> Vec<Piece> {
        let shard = self.shard(part);
        let (from, to) = self.span(shard);
        if shard < 1 {
            return Vec::new();
        }
        let tiles = self.starts.len() as i64;
        let whole = part.shape.dims[self.dim];
        let mut pieces = Vec::new();
        for distance in from.div_euclid(shard)..=(to - 1).div_euclid(shard) {
            let (begin, end) = ((distance * shard).max(from), ((distance + 1) * shard).min(to));
            let needs = |n: i64| {
                let start = self.starts[n as usize];
                let (low, high) = ((n * shard + begin).max(start), (n * shard + end).min(start + self.size));
                (0..tiles).contains(&(n + distance)) && low < high.min(whole)
            };
            let needed_by = (0..tiles).filter(|&n| needs(n)).map(|n| n as usize).collect();
            pieces.push(Piece { distance, begin, end, needed_by });
        }
        pieces
    }

    /// How many elements a device receives for it.
    pub(super) fn cost(&self, part: &Part) -> f64 {
        let shard = self.shard(part).max(1);
        let others: f64 = part.local_dims().iter().map(|&n| n as f64).product::<f64>() / shard as f64;
        let tiles = self.starts.len().max(1) as f64;
        let moved = self.pieces(part).into_iter().filter(|p| p.distance != 0);
        moved.map(|p| (p.end - p.begin) as f64 * others * p.needed_by.len() as f64 / tiles).sum()
    }
}

impl Partitioner<'_> {
    /// What each device needs of an array that is cut along a dimension; the scalar in place of what is outside of it.
    pub(super) fn run_of(&mut self, part: &Part, run: &Run<'_>, fill: Option<InstrId>) -> InstrId {
        let shard = run.shard(part);
        let (from, to) = run.span(shard);
        let mut values = Vec::new();
        for piece in run.pieces(part) {
            values.push(self.piece(part, run, &piece));
        }
        let mut value = self.joined(part, run.dim, &values, to - from);
        let mut dims = part.local_dims();
        dims[run.dim] = run.size;
        let offsets: Vec<i64> =
            run.starts.iter().enumerate().map(|(n, start)| start - n as i64 * shard - from).collect();
        let places = part.tiling.places();
        let of_tile = |numbers: &[i64]| -> Vec<i64> {
            places.iter().map(|p| numbers[usize::try_from(p.tile[run.dim]).unwrap_or(0)]).collect()
        };
        if to - from > run.size {
            let zero = self.index(0);
            let offset = self.of_device(of_tile(&offsets));
            let mut operands = vec![value];
            operands.extend((0..dims.len()).map(|d| if d == run.dim { offset } else { zero }));
            let shape = ArrayShape::new(part.shape.element_type, dims.iter().copied());
            value = self.add(shape, Op::dynamic_slice(dims.iter().copied()), &operands);
        }
        let whole = part.shape.dims[run.dim];
        let outside = run.starts.iter().any(|&s| s < 0 || s + run.size > whole);
        let Some(fill) = fill.filter(|_| outside) else { return value };
        let start = self.of_device(of_tile(run.starts));
        let index = self.global_index(&dims, run.dim, start);
        let from_first = self.compared(index, ComparisonDirection::Ge, 0, &dims);
        let to_last = self.compared(index, ComparisonDirection::Lt, whole, &dims);
        let inside = self.same(Op::And, &[from_first, to_last]);
        self.select(inside, value, fill, &dims)
    }

    /// The run of elements of another tile, on the devices that need it.
    fn piece(&mut self, part: &Part, run: &Run<'_>, piece: &Piece) -> InstrId {
        let begin = piece.begin - piece.distance * run.shard(part);
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
        let others = |p: &hlo_ir::attr::Place| {
            let mut tile = p.tile.clone();
            tile[run.dim] = 0;
            tile
        };
        let mut pairs = Vec::new();
        for line in groups_by(&part.tiling, others, |p| p.tile[run.dim]) {
            for &n in &piece.needed_by {
                let source = usize::try_from(n as i64 + piece.distance).ok();
                pairs.extend(source.and_then(|s| line.get(s)).zip(line.get(n)).map(|(&s, &t)| (s, t)));
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
