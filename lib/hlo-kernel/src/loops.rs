//! Loop nests over the elements of a result.

use crate::{Body, loop_splitting, tiling};
use hlo_analysis::cost_model::TARGET_PARALLEL_ITERATIONS;
use hlo_ir::ArrayShape;
use hlo_plan::Refusal;

/// A loop nest. The dimensions are ordered from the slowest to the fastest varying one. The first `split`
/// dimensions form the iterations, which threads share. In a tiled nest, the tiles across the result are
/// iterations, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopNest {
    /// The number of iterations.
    pub iterations: i64,
    /// Whether the nest is one loop over the linear positions of all elements.
    pub flat: bool,
    /// The sizes of the result.
    pub dims: Vec<i64>,
    /// The dimensions with a loop, outermost first.
    pub order: Vec<usize>,
    /// Number of loops that form the iterations.
    pub split: usize,
    /// The ends of the pieces of the innermost loop. A tiled nest has no pieces.
    pub pieces: Vec<i64>,
    /// The tiles, if two loops are tiled together.
    pub tiles: Option<Tiles>,
}

/// Two loops that are tiled together. The values of a tile are computed along `across` into an array on the
/// stack, and stored along `along`. Without the array, rows whose distance is a power of two would evict each
/// other from the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The dimension along which some input is read.
    pub across: usize,
    /// The fastest varying dimension of the result.
    pub along: usize,
    /// The side length of a tile.
    pub side: i64,
    /// The distance of a tile's rows on the stack.
    pub stride: i64,
}

/// Side length of a tile: a few dozen cache lines, which the first-level cache can store.
const TILE_SIDE: i64 = 32;
/// Distance of a tile's rows on the stack. It is odd, so that a column uses different cache banks.
const TILE_STRIDE: i64 = 33;
/// Maximum number of results whose tiles are kept on the stack, with at most 16 KiB each.
const MAX_TILED_RESULTS: usize = 16;

impl LoopNest {
    /// Creates the nest over a shape, in memory order.
    pub(crate) fn of_shape(shape: &ArrayShape) -> Self {
        let order: Vec<usize> =
            shape.minor_to_major().into_iter().rev().filter(|&d| shape.dims[d] != 1).collect();
        let mut split = 0;
        let mut iterations = 1i64;
        while split < order.len() && iterations < TARGET_PARALLEL_ITERATIONS {
            let last = split + 1 == order.len();
            // The innermost loop stays whole, so that it is vectorized, unless there is no other loop to
            // share.
            if last && split > 0 {
                break;
            }
            iterations *= shape.dims[order[split]];
            split += 1;
        }
        if shape.dims.contains(&0) {
            iterations = 0;
        }
        let pieces = order.last().map(|&d| shape.dims[d]).into_iter().collect();
        Self { iterations, flat: false, dims: shape.dims.to_vec(), order, split, pieces, tiles: None }
    }

    /// Creates the nest over the results of a kernel, which have the same dimensions.
    ///
    /// # Errors
    /// The results are not arrays.
    pub(crate) fn of_body(body: &Body<'_>) -> Result<Self, Refusal> {
        let root = body.roots.first().ok_or("a kernel without results")?;
        let shape = body.root_shape(root)?;
        if body.is_flat() {
            let n = shape.element_count() as i64;
            let (dims, order, pieces) = (vec![n], vec![0], vec![n]);
            return Ok(Self { iterations: n, flat: true, dims, order, split: 1, pieces, tiles: None });
        }
        let mut nest = Self::of_shape(shape);
        let Some(&innermost) = nest.order.last() else { return Ok(nest) };
        let across = tiling::transposed_dimension(body, innermost);
        Ok(match across {
            Some(across) if body.roots.len() <= MAX_TILED_RESULTS => nest.tiled(across, innermost),
            _ => {
                // LLVM moves tests on the other loops' indices out of the innermost loop.
                nest.pieces = loop_splitting::of(body, innermost, nest.dims[innermost]);
                nest
            }
        })
    }

    /// Returns the same nest with two dimensions in tiles. The iterations are the other dimensions times the
    /// tiles of `across`.
    fn tiled(self, across: usize, along: usize) -> Self {
        let mut order: Vec<usize> =
            self.order.iter().copied().filter(|&k| k != across && k != along).collect();
        let split = order.len();
        let others: i64 = order.iter().map(|&k| self.dims[k]).product();
        order.extend([across, along]);
        let tiles = Tiles { across, along, side: TILE_SIDE, stride: TILE_STRIDE };
        let iterations = others * tiles.count(self.dims[across]);
        Self { iterations, order, split, tiles: Some(tiles), ..self }
    }
}

impl Tiles {
    /// Returns the number of tiles of a dimension of this size.
    pub fn count(&self, size: i64) -> i64 {
        (size + self.side - 1) / self.side
    }
}
