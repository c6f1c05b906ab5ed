//! The loops of an operation that can be split among devices: its *factors*.
//!
//! Each dimension of an operand or of the result is the index of at most one factor. If all dimensions of a
//! factor are split in the same way, each device computes its part of the operation from its parts of the
//! operands. Most operations are partitioned this way.

use hlo_ir::Dims;
use hlo_ir::attr::TileAssignment;

/// The effect of splitting a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each device has a part of the result.
    Kept,
    /// Each device combines a part of the elements. The devices' results must then be combined.
    Combined,
    /// The factor cannot be split by splitting the operands, because elements of one part depend on elements
    /// of other parts.
    Whole,
}

/// A factor of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Number of indices.
    pub(super) size: i64,
    /// The effect of splitting the factor.
    pub kind: Kind,
    /// Number of runs of indices of equal length, such as groups, that must not be split. Values may have
    /// other sizes along the factor.
    pub(super) runs: Option<i64>,
}

impl Factor {
    /// Returns whether the factor can be split into this many parts.
    fn allows(&self, parts: i64) -> bool {
        self.kind != Kind::Whole && self.runs.is_none_or(|runs| runs % parts == 0)
    }
}

/// The factor of each dimension of a value, if any.
pub type DimensionFactors = Vec<Option<usize>>;

/// The factors of an operation, and the factors of the dimensions of its operands and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// The factors.
    pub factors: Vec<Factor>,
    /// The factors of the dimensions of each operand.
    pub operands: Vec<DimensionFactors>,
    /// The factors of the dimensions of the result, or of each array of a tuple.
    pub(super) result: DimensionFactors,
}

impl Factors {
    /// Converts the tile assignment of a value to a partition of the factors. Dimensions without a factor
    /// that can be split are not split.
    pub(super) fn lift(&self, walk: &DimensionFactors, tiling: &TileAssignment) -> TileAssignment {
        let from: Vec<Option<usize>> = (0..self.factors.len())
            .map(|f| {
                let d = walk.iter().position(|&w| w == Some(f));
                d.filter(|&d| self.factors[f].allows(tiling.tiles()[d]))
            })
            .collect();
        tiling.select(&from)
    }

    /// Returns the sizes of the factors.
    pub(super) fn sizes(&self) -> Dims {
        self.factors.iter().map(|f| f.size).collect()
    }
}

/// Combines two tile assignments: splits everything that `first` splits, and whatever `second` additionally
/// splits that is compatible with it. Both must have the same rank.
pub(super) fn merged(first: &TileAssignment, second: &TileAssignment) -> TileAssignment {
    if first == second || second.is_replicated() {
        return first.clone();
    }
    if first.is_replicated() {
        return second.clone();
    }
    let (places, others) = (first.places(), second.places());
    // Groups belong to manual regions of the program, so they must be preserved.
    let (groups, by_second) = match (first.groups(), second.groups()) {
        (1, n) if n > 1 => (n, true),
        (n, _) => (n, false),
    };
    let group: Vec<usize> = if by_second { &others } else { &places }.iter().map(|p| p.group).collect();
    let mut tiles: Dims = first.tiles().into();
    let mut tile: Vec<Dims> = places.iter().map(|p| p.tile.clone()).collect();
    let assignment = |tiles: &[i64], tile: &[Dims]| {
        TileAssignment::of_places(tiles, groups, tile.iter().cloned().zip(group.iter().copied()))
    };
    let mut best = match assignment(&tiles, &tile) {
        Some(found) => found,
        None => return first.clone(),
    };
    for d in 0..tiles.len() {
        let (a, b) = (tiles[d], second.tiles()[d]);
        let finer = b > a && b % a == 0 && tile.iter().zip(&others).all(|(t, o)| o.tile[d] / (b / a) == t[d]);
        if !finer {
            continue;
        }
        let (before, kept) = (tiles.clone(), tile.clone());
        tiles[d] = b;
        tile.iter_mut().zip(&others).for_each(|(t, o)| t[d] = o.tile[d]);
        match assignment(&tiles, &tile) {
            Some(found) => best = found,
            None => (tiles, tile) = (before, kept),
        }
    }
    best
}
