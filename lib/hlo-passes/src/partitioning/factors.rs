//! The loops that an operation is made of, as far as they can be cut among devices: its *factors*.
//!
//! A factor is walked by dimensions of operands and of the result. Where all of these are cut alike, each device computes
//! its part of the operation from its parts of the operands: all that partitioning of most operations is. The factors
//! follow from what each operation reads ([`hlo_ir::access`]).

use super::convolutions;
use hlo_ir::access::{Access, Axis, access};
use hlo_ir::attr::{TileAssignment, WindowDim};
use hlo_ir::{Dims, InstrId, Module, Op, Shape};

/// What cutting a factor means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each device has a part of the result.
    Kept,
    /// Each device has a part of what is combined: the results of all must be.
    Combined,
    /// It can't be cut by cutting the operands: elements of one part depend on those of others.
    Whole,
}

/// A factor of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Factor {
    /// How many indices it runs over.
    pub(super) size: i64,
    /// What cutting it means.
    pub(super) kind: Kind,
    /// The number of runs of indices, as long as each other, none of which is cut: groups. Values that walk it may have
    /// other sizes.
    pub(super) runs: Option<i64>,
}

impl Factor {
    /// True if it can be cut into so many parts.
    fn allows(&self, parts: i64) -> bool {
        self.kind != Kind::Whole && self.runs.is_none_or(|runs| runs % parts == 0)
    }
}

/// For each dimension of a value the factor that walks it.
pub(super) type Walk = Vec<Option<usize>>;

/// The factors of an operation, and who walks them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Factors {
    pub(super) factors: Vec<Factor>,
    /// Of each operand.
    pub(super) operands: Vec<Walk>,
    /// Of the result; of each of the arrays of a tuple.
    pub(super) result: Walk,
}

impl Factors {
    /// The factors of an instruction; `None` if it is not said what it reads, or it is not a function of it alone.
    pub(super) fn of(module: &Module, id: InstrId) -> Option<Self> {
        let instruction = &module[id];
        if !instruction.opcode().traits().by_parts {
            return None;
        }
        let operands: Vec<&Shape> = instruction.operands.iter().map(|&o| &module[o].shape).collect();
        Self::of_op(&instruction.op, &operands, &instruction.shape)
    }

    /// The factors of an operation on operands of these shapes.
    pub(super) fn of_op(op: &Op, operands: &[&Shape], result: &Shape) -> Option<Self> {
        let leaves = result.leaves();
        let first = leaves.first()?.as_array()?;
        let alike = leaves.iter().all(|l| l.as_array().is_some_and(|a| a.same_dims(first)));
        if !alike || !first.is_static() {
            return None;
        }
        if let (Op::Convolution(a), [input, kernel]) = (op, operands) {
            let array = |s: &'_ Shape| s.as_array().filter(|a| a.is_static()).cloned();
            return convolutions::factors(a, &array(input)?, &array(kernel)?, first);
        }
        let plain = |size: i64, kind: Kind| Factor { size, kind, runs: None };
        let mut found = Self {
            factors: first.dims.iter().map(|&size| plain(size, Kind::Whole)).collect(),
            operands: Vec::new(),
            result: (0..first.rank()).map(Some).collect(),
        };
        let mut combined: Vec<(usize, usize)> = Vec::new();
        // The dimensions of the result on whose index more depends than the same index of operands.
        let mut bound = index_bound(op);
        for (n, shape) in operands.iter().enumerate() {
            let array = shape.as_array().filter(|a| a.is_static())?;
            let Access::Axes(axes) = access(op, n, operands, result) else { return None };
            if axes.len() != array.rank() {
                return None;
            }
            let mut walk = Walk::new();
            for (axis, &size) in axes.iter().zip(&array.dims) {
                walk.push(match *axis {
                    Axis::Along(along) if along.is_same() && first.dims.get(along.dim) == Some(&size) => {
                        Some(along.dim)
                    }
                    Axis::All(k) => {
                        let known = combined.iter().find(|(other, _)| *other == k).map(|&(_, f)| f);
                        let factor = known.unwrap_or_else(|| {
                            found.factors.push(plain(size, all_kind(op)));
                            combined.push((k, found.factors.len() - 1));
                            found.factors.len() - 1
                        });
                        (found.factors[factor].size == size).then_some(factor)
                    }
                    Axis::Group { dim, .. } | Axis::Tap { dim, .. } => {
                        bound.push(dim);
                        None
                    }
                    _ => {
                        bound.extend(axis.dim());
                        None
                    }
                });
            }
            found.operands.push(walk);
        }
        for f in first.rank()..found.factors.len() {
            let walked = |n: usize| found.operands.get(n).is_some_and(|walk| walk.contains(&Some(f)));
            if !combining(op, operands.len()).all(walked) {
                found.factors[f].kind = Kind::Whole;
            }
        }
        for d in 0..first.rank() {
            let read = found.operands.iter().any(|walk| walk.contains(&Some(d)));
            if (read || matches!(op, Op::Broadcast(_))) && !bound.contains(&d) {
                found.factors[d].kind = Kind::Kept;
            }
        }
        if let (Op::SelectAndScatter(a), [_, source, ..]) = (op, operands) {
            found.cut_between_windows(&a.window.dims, &source.as_array()?.dims);
        }
        Some(found)
    }

    /// Lets what is scattered to windows that lie beside each other be cut between them.
    fn cut_between_windows(&mut self, window: &[WindowDim], source: &[i64]) {
        for (d, (w, &count)) in window.iter().zip(source).enumerate() {
            let beside = WindowDim { size: w.stride, stride: w.stride, ..WindowDim::default() };
            let Some(factor) = self.factors.get_mut(d).filter(|f| f.size == count * w.stride) else {
                continue;
            };
            if *w == beside && w.stride > 1 && count > 0 {
                (factor.kind, factor.runs) = (Kind::Kept, Some(count));
                self.operands
                    .iter_mut()
                    .take(2)
                    .filter_map(|walk| walk.get_mut(d))
                    .for_each(|f| *f = Some(d));
            }
        }
    }

    /// The assignment of factors by which a value is cut as it is: of those of its dimensions that are walked by a factor
    /// that can be cut.
    pub(super) fn lift(&self, walk: &Walk, tiling: &TileAssignment) -> TileAssignment {
        let from: Vec<Option<usize>> = (0..self.factors.len())
            .map(|f| {
                let d = walk.iter().position(|&w| w == Some(f));
                d.filter(|&d| self.factors[f].allows(tiling.tiles()[d]))
            })
            .collect();
        tiling.select(&from)
    }

    /// The sizes of the factors.
    pub(super) fn sizes(&self) -> Dims {
        self.factors.iter().map(|f| f.size).collect()
    }
}

/// What cutting that means which all of is read.
fn all_kind(op: &Op) -> Kind {
    match op {
        Op::Dot(_) | Op::Reduce(_) | Op::Scatter(_) => Kind::Combined,
        _ => Kind::Whole,
    }
}

/// The operands whose elements are combined: each must be cut where the combination is.
fn combining(op: &Op, count: usize) -> std::ops::Range<usize> {
    match op {
        Op::Dot(_) => 0..2,
        Op::Scatter(_) => count / 2..count,
        _ => 0..count / 2,
    }
}

/// The dimensions of the result that are counted through: operands say indices in them.
fn index_bound(op: &Op) -> Vec<usize> {
    match op {
        Op::Scatter(a) => a.inserted_window_dims.iter().filter_map(|&d| usize::try_from(d).ok()).collect(),
        _ => Vec::new(),
    }
}

/// The assignment that cuts what either cuts: all that `first` does, and of `second` what goes with it. Both are of the
/// same dimensions.
pub(super) fn merged(first: &TileAssignment, second: &TileAssignment) -> TileAssignment {
    if first == second || second.is_replicated() {
        return first.clone();
    }
    if first.is_replicated() {
        return second.clone();
    }
    let (places, others) = (first.places(), second.places());
    // Groups are the program's own: whoever has them keeps them.
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
