//! Column reductions: reductions that keep the fastest varying dimension, computed for a tile of columns at a
//! time.
//!
//! Sums of many rows are computed in blocks, as in [`SumBlocks`]. Each level of blocks has an array of
//! accumulators.

use crate::blocks::SumBlocks;
use crate::{Body, Combine, accumulator_type, cost};
use hlo_ir::{ElementType, InstrId, Op};
use hlo_plan::array;

/// Number of rows of a block, which are added to the same accumulators sequentially.
const BLOCK_ROWS: i64 = 64;

/// Target number of tiles to share among threads. It does not depend on the number of threads.
const TARGET_TILES: i64 = 8;

/// Limits of the number of columns of a tile. The minimum is a few cache lines per row. With the maximum, all
/// levels of blocks stay in cache. The number is a multiple of whole vectors.
const MIN_TILE_COLUMNS: i64 = 128;
const MAX_TILE_COLUMNS: i64 = 1024;
const TILE_COLUMN_MULTIPLE: i64 = 64;

/// Pairs of the maximum work per element and the number of rows that are read together. Rows are far apart in
/// memory. Reading several of them together overlaps the memory accesses for one accumulator.
const ROWS_PER_PASS: [(i64, i64); 2] = [(12, 8), (48, 4)];

/// The division of a column reduction into tiles of columns, so that memory is read in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPlan {
    /// The reduction.
    pub root: InstrId,
    /// The kept dimensions of the result, slowest first, without the fastest.
    pub outer: Vec<usize>,
    /// The fastest dimension of the result.
    pub minor: usize,
    /// Number of columns of a tile.
    pub tile: i64,
    /// Number of tiles along the fastest dimension.
    pub tiles: i64,
    /// The number of iterations: the number of all tiles.
    pub iterations: i64,
    /// The type of the accumulators.
    pub accumulator: ElementType,
    /// The blocks of rows. Each level has an array of accumulators, with one for each column of a tile.
    pub blocks: SumBlocks,
    /// Number of rows that are read together.
    pub together: i64,
}

/// Plans a reduction that keeps the fastest varying dimension of its operand. It is computed for a tile of
/// columns at a time, so that memory is read in order. Returns `None` if the kernel is not of this kind.
pub(crate) fn plan(body: &Body<'_>) -> Option<ColumnPlan> {
    let [root] = body.roots[..] else { return None };
    let (module, root) = (body.module, root.id);
    let Op::Reduce(_) = &module[root].op else { return None };
    let reduction = body.reduction(root).ok()?;
    let operand = array(module, reduction.operands[0]).ok()?;
    let result = array(module, root).ok()?;
    let fastest = operand.minor_to_major().into_iter().find(|&d| operand.dims[d] != 1)?;
    if reduction.reduced.contains(&fastest) || operand.dims[fastest] < 8 {
        return None;
    }
    let kept: Vec<usize> = (0..operand.rank()).filter(|d| !reduction.reduced.contains(d)).collect();
    let minor = kept.iter().position(|&d| d == fastest)?;
    let order = result.minor_to_major();
    let outer: Vec<usize> = order.into_iter().rev().filter(|&d| d != minor).collect();
    let columns = result.dims[minor];
    let others: i64 = outer.iter().map(|&d| result.dims[d]).product();
    let tile = tile_size(columns, others);
    let tiles = (columns + tile - 1) / tile;
    let blocks = match reduction.combine {
        Combine::Sum(_) => SumBlocks::of_sizes(&reduction.sizes, BLOCK_ROWS),
        Combine::Extremum(_) | Combine::Computation => SumBlocks::Sequence,
    };
    let weight = cost::cost_per_element(body);
    let together = ROWS_PER_PASS.iter().find(|(work, _)| weight <= *work).map_or(1, |&(_, rows)| rows);
    let (accumulator, iterations) = (accumulator_type(reduction.carried()[0]), others * tiles);
    Some(ColumnPlan { root, outer, minor, tile, tiles, iterations, accumulator, blocks, together })
}

/// Returns the number of columns of a tile, given the number of columns and the number of other independent
/// parts.
pub(crate) fn tile_size(columns: i64, others: i64) -> i64 {
    let wanted = columns / (TARGET_TILES / others.max(1)).max(1);
    (wanted / TILE_COLUMN_MULTIPLE * TILE_COLUMN_MULTIPLE)
        .clamp(MIN_TILE_COLUMNS, MAX_TILE_COLUMNS)
        .min(columns)
}
