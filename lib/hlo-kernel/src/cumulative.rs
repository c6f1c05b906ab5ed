//! Cumulative reductions: windows that extend from each element to the first or the last element of a
//! dimension. They are computed as totals that are carried from element to element. This applies the
//! computation once per element, while separate windows would apply it once per element of each window.
//!
//! Totals from the first element combine elements exactly as the windows do. Totals from the last element
//! assume that the computation is associative and that the initial value is neutral, as the operation
//! semantics ("Reduce") require. Sums of floats are computed in blocks, and the sum of the preceding blocks
//! is added to each block. The error then grows at most with the square root of the number of elements.

use crate::{Body, columns, summed_type};
use hlo_analysis::{Cumulative, cumulative};
use hlo_ir::{InstrId, Op};
use hlo_plan::array;

/// Minimum length of a window. Shorter ones are unrolled.
const MIN_WINDOW_LENGTH: i64 = 8;

/// Maximum number of arrays that are reduced together. Each has a tile of totals on the stack.
const MAX_OPERANDS: usize = 8;

/// Number of lines that are processed together, so that their dependent operations overlap.
pub const INTERLEAVED_LINES: i64 = 4;

/// The division of a cumulative reduction into iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CumulativePlan {
    /// The `reduce-window`.
    pub root: InstrId,
    /// The dimension of the reduction.
    pub dimension: usize,
    /// Whether the reduction begins at the last element.
    pub backwards: bool,
    /// The number of elements of a block, if the reduction is a sum of floats.
    pub block: Option<i64>,
    /// The dimensions whose indices are separate iterations, slowest first.
    pub outer: Vec<usize>,
    /// The tiles of the fastest varying dimension, if it is not the dimension of the reduction. Each tile is
    /// a separate iteration.
    pub minor: Option<ColumnTiles>,
    /// The number of iterations.
    pub iterations: i64,
}

/// The tiles of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnTiles {
    /// The dimension.
    pub dimension: usize,
    /// The number of elements of a tile.
    pub size: i64,
    /// The number of tiles.
    pub count: i64,
}

/// Returns the plan of a kernel whose only results are those of a long cumulative reduction, or `None` for any
/// other.
pub(crate) fn plan(body: &Body<'_>) -> Option<CumulativePlan> {
    let (module, id) = (body.module, body.roots.first()?.id);
    let Op::ReduceWindow(attrs) = &module[id].op else { return None };
    if body.roots.iter().any(|r| r.id != id) {
        return None;
    }
    let operand = array(module, *module[id].operands.first()?).ok()?;
    let Cumulative { dimension, length, backwards } = cumulative(&attrs.window, &operand.dims)?;
    let has_elements = operand.element_count() > 0;
    if length < MIN_WINDOW_LENGTH || !has_elements || module[id].operands.len() > 2 * MAX_OPERANDS {
        return None;
    }
    let order = operand.minor_to_major();
    let fastest = order.iter().copied().find(|&d| operand.dims[d] != 1).filter(|&d| d != dimension);
    let outer: Vec<usize> =
        order.into_iter().rev().filter(|&d| d != dimension && Some(d) != fastest).collect();
    let others: i64 = outer.iter().map(|&d| operand.dims[d]).product();
    let minor = fastest.map(|dimension| {
        let all = operand.dims[dimension];
        let size = columns::tile_size(all, others);
        ColumnTiles { dimension, size, count: (all + size - 1) / size }
    });
    let iterations = others * minor.map_or(1, |tiles| tiles.count);
    let is_sum = module[id].operands.len() == 2 && summed_type(module, attrs.to_apply).is_some();
    let block = is_sum.then(|| block(operand.dims[dimension]));
    Some(CumulativePlan { root: id, dimension, backwards, block, outer, minor, iterations })
}

/// Returns the number of elements of a block of a sum of `length` elements.
fn block(length: i64) -> i64 {
    let mut block = MIN_WINDOW_LENGTH;
    while block.saturating_mul(block) < length {
        block *= 2;
    }
    block
}
