//! Orders of dimensions in memory, and how operations that move no data transform them.

use hlo_ir::access::{Access, Axis};
use hlo_ir::{ArrayShape, Dims, InstrId, Module, Shape, reshape_groups};
use smallvec::SmallVec;

/// The dimensions of an array from the fastest to the slowest varying.
pub type Order = SmallVec<[u32; 6]>;

/// Returns the order in which the last dimension varies fastest.
pub(super) fn row_major(rank: usize) -> Order {
    (0..rank as u32).rev().collect()
}

/// Returns the order of an array's dimensions.
pub(super) fn order_of(array: &ArrayShape) -> Order {
    array.minor_to_major().iter().map(|&d| d as u32).collect()
}

/// Checks whether the elements of an array of these sizes have the same positions in memory in both orders.
pub fn same_in_memory(dims: &[i64], a: &[u32], b: &[u32]) -> bool {
    let larger = |d: &&u32| dims.get(**d as usize) != Some(&1);
    a == b || dims.contains(&0) || a.iter().filter(larger).eq(b.iter().filter(larger))
}

/// Returns an order with the same positions in memory in which dimensions of size 1 are placed as in
/// row-major order, next to the following larger dimension.
pub fn canonical(dims: &[i64], order: &[u32]) -> Order {
    // All orders of an empty array are equivalent.
    let some = !dims.contains(&0);
    some.then(|| reshape(dims, dims, order)).flatten().unwrap_or_else(|| row_major(order.len()))
}

/// The relation between the orders of an operand and a result for which the operation moves no data, or reads
/// and writes both in memory order.
#[derive(Clone, Debug)]
pub enum Link {
    /// For each dimension of the operand, the corresponding dimension of the result, or `None` if it is
    /// reduced. The result has `rank` dimensions, some of which may be new.
    Axes {
        /// The dimension of the result, if any, for each dimension of the operand.
        map: SmallVec<[Option<u32>; 6]>,
        /// The rank of the result.
        rank: usize,
    },
    /// A `reshape` between the given sizes.
    Reshape {
        /// The sizes of the operand.
        from: Dims,
        /// The sizes of the result.
        to: Dims,
    },
}

impl Link {
    /// Returns the relation between the order of an operand and that of the result, or `None` if they are
    /// unrelated. It depends on which elements of the operand the instruction reads.
    pub(super) fn of(module: &Module, id: InstrId, operand: usize) -> Option<Link> {
        let from = module[*module[id].operands.get(operand)?].shape.as_array()?;
        let leaves = module[id].shape.leaves();
        let to = leaves.first()?.as_array()?;
        match module.access(id, operand) {
            Access::Axes(axes) => {
                let link = |axis: &Axis| match axis {
                    Axis::All(_) => Some(None),
                    axis => axis.same().map(|d| Some(d as u32)),
                };
                Some(Link::Axes { map: axes.iter().map(link).collect::<Option<_>>()?, rank: to.rank() })
            }
            Access::SamePosition => Some(Link::Reshape { from: from.dims.clone(), to: to.dims.clone() }),
            Access::Any => None,
        }
    }

    /// Returns the result's order for an order of the operand. New dimensions stay at their row-major
    /// positions. The operand's dimensions take the remaining positions in their own order.
    pub fn forward(&self, operand: &[u32]) -> Option<Order> {
        match self {
            Link::Axes { map, rank } => {
                let mut slowest_first = Vec::with_capacity(operand.len());
                for &d in operand.iter().rev() {
                    slowest_first.extend(*map.get(d as usize)?);
                }
                let mut kept = slowest_first.into_iter();
                let mut out = Order::new();
                for d in 0..*rank as u32 {
                    out.push(if map.contains(&Some(d)) { kept.next()? } else { d });
                }
                out.reverse();
                Some(out)
            }
            Link::Reshape { from, to } => reshape(from, to, operand),
        }
    }

    /// Returns the operand's order for an order of the result, if there is exactly one.
    pub fn backward(&self, result: &[u32]) -> Option<Order> {
        match self {
            Link::Axes { map, .. } => {
                let place = |d: &u32| map.iter().position(|m| *m == Some(*d)).map(|i| i as u32);
                let order: Order = result.iter().filter_map(place).collect();
                (order.len() == map.len()).then_some(order)
            }
            Link::Reshape { from, to } => reshape(to, from, result),
        }
    }
}

/// Returns the order in which an array of sizes `to` has the same memory layout as one of sizes `from` in
/// `order`. Returns `None` if there is none.
fn reshape(from: &[i64], to: &[i64], order: &[u32]) -> Option<Order> {
    let larger = |dims: &[i64]| (0..dims.len()).filter(|&d| dims[d] != 1).collect::<Vec<usize>>();
    let (kept_from, kept_to) = (larger(from), larger(to));
    let sizes = |dims: &[i64], kept: &[usize]| kept.iter().map(|&d| dims[d]).collect::<Vec<i64>>();
    let groups = reshape_groups(&sizes(from, &kept_from), &sizes(to, &kept_to))?;
    // Slowest first, without dimensions of size 1.
    let mut rest = order.iter().rev().map(|&d| d as usize).filter(|&d| from.get(d) != Some(&1)).peekable();
    let mut out: Vec<usize> = Vec::with_capacity(to.len());
    while let Some(&first) = rest.peek() {
        // Dimensions that are split or merged must be adjacent and row-major.
        let (of, becomes) = groups.iter().find(|(of, _)| kept_from.get(of.start) == Some(&first))?;
        for d in kept_from.get(of.clone())? {
            rest.next_if_eq(d)?;
        }
        out.extend(kept_to.get(becomes.clone())?);
    }
    // Dimensions of size 1 come before the following larger dimension, as in row-major order.
    for d in (0..to.len()).rev().filter(|&d| to[d] == 1) {
        let next = kept_to.iter().find(|&&k| k > d);
        let before = (to.get(d + 1) == Some(&1)).then_some(d + 1);
        let at = before.or(next.copied()).and_then(|e| out.iter().position(|&o| o == e));
        out.insert(at.unwrap_or(out.len()), d);
    }
    (out.len() == to.len()).then(|| out.into_iter().rev().map(|d| d as u32).collect())
}

/// Returns the arrays of a shape with the indices of their leaves.
pub(super) fn arrays(shape: &Shape) -> impl Iterator<Item = (usize, &ArrayShape)> {
    shape.leaves().into_iter().enumerate().filter_map(|(n, leaf)| Some((n, leaf.as_array()?)))
}
