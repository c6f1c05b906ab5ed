//! `gather_simplifier`: gathers of one form: a list of index vectors, and windows of the whole rank.
//!
//! ```text
//! g = f32[4,3] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, …
//! →
//! g = f32[3,1,4] gather(transpose(x), i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0},
//!     index_vector_dim=1, …
//! r = f32[4,3] transpose(reshape(g))
//! ```
//!
//! What is around it are transposes and reshapes. Gathers with batching dimensions stay.

use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern, index, transpose_op};
use hlo_ir::attr::GatherAttrs;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "gather_simplifier",
    summary: "express gathers by those of index vectors in a list and windows of the operand's rank",
    example: "\
HloModule gather_simplifier

ENTRY e {
  x = f32[4,6] parameter(0)
  i = s32[3] parameter(1)
  ROOT g = f32[4,3] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={4,1}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "simplify-gather",
    "gather → gather with offset_dims={1,2,…}, collapsed_slice_dims={}, start_index_map={0,1,…}, index_vector_dim=1",
    &[Opcode::Gather],
    simplify,
)];

/// The transposed array; itself if the order is the one that it has.
pub(super) fn transposed(cx: &mut Cx<'_>, x: InstrId, order: &[i64]) -> Option<InstrId> {
    if order.is_sorted() {
        return Some(x);
    }
    let from = cx.array(x)?;
    let dims = permuted(&from.dims, order)?;
    Some(cx.add(ArrayShape::new(from.element_type, dims), transpose_op(order.iter().copied()), &[x]))
}

/// The values in another order.
pub(super) fn permuted(values: &[i64], order: &[i64]) -> Option<Dims> {
    order.iter().map(|&d| values.get(index(d)?).copied()).collect()
}

/// The order that undoes another one.
pub(super) fn inverse(order: &[i64]) -> Option<Dims> {
    (0..order.len() as i64).map(|d| order.iter().position(|&o| o == d).map(|p| p as i64)).collect()
}

/// Index vectors as the rows of a matrix, and the sizes of the dimensions that count them.
pub(super) fn index_matrix(
    cx: &mut Cx<'_>,
    indices: InstrId,
    index_vector_dim: i64,
    components: usize,
) -> Option<(InstrId, Dims)> {
    let shape = cx.array(indices)?;
    let rank = shape.rank() as i64;
    let batch: Vec<i64> = (0..rank).filter(|&d| d != index_vector_dim).collect();
    let sizes = permuted(&shape.dims, &batch)?;
    let order: Vec<i64> =
        batch.iter().copied().chain((index_vector_dim < rank).then_some(index_vector_dim)).collect();
    let rows = transposed(cx, indices, &order)?;
    let count = sizes.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    Some((cx.reshape(rows, &[count, components as i64])?, sizes))
}

/// The dimensions of an operand: those that indices offset first, in their order.
pub(super) fn indexed_first(map: &[i64], rank: usize) -> Dims {
    map.iter().copied().chain((0..rank as i64).filter(|d| !map.contains(d))).collect()
}

fn simplify(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Gather(a) = cx.module[id].op.clone() else { return None };
    let (x, indices) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let counts = |dims: &Dims, first: i64| dims.iter().copied().eq(first..first + dims.len() as i64);
    let simple = a.collapsed_slice_dims.is_empty()
        && counts(&a.start_index_map, 0)
        && counts(&a.offset_dims, 1)
        && a.index_vector_dim == 1
        && cx.array(indices)?.rank() == 2;
    if simple || !a.operand_batching_dims.is_empty() || to.element_count() == 0 {
        return None;
    }
    let (matrix, batch) = index_matrix(cx, indices, a.index_vector_dim, a.start_index_map.len())?;
    let order = indexed_first(&a.start_index_map, from.rank());
    let operand = transposed(cx, x, &order)?;
    let window = permuted(&a.slice_sizes, &order)?;
    let count = batch.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let attrs = GatherAttrs {
        offset_dims: (1..=from.rank() as i64).collect(),
        collapsed_slice_dims: Dims::new(),
        start_index_map: (0..a.start_index_map.len() as i64).collect(),
        index_vector_dim: 1,
        slice_sizes: window.clone(),
        ..(*a).clone()
    };
    let sizes = [count].into_iter().chain(window.iter().copied());
    let shape = ArrayShape::new(from.element_type, sizes);
    let gathered = cx.add(shape, Op::Gather(Box::new(attrs)), &[operand, matrix]);
    // The windows' dimensions as the operand had them, then without the collapsed ones.
    let back: Dims = [0].into_iter().chain(inverse(&order)?.iter().map(|d| d + 1)).collect();
    let windows = transposed(cx, gathered, &back)?;
    let kept = (0..from.rank() as i64).filter(|d| !a.collapsed_slice_dims.contains(d));
    let kept = permuted(&a.slice_sizes, &kept.collect::<Vec<_>>())?;
    let flat: Dims = batch.iter().chain(&kept).copied().collect();
    let value = cx.reshape(windows, &flat)?;
    // Batch dimensions go where no window dimension is.
    let mut next_batch = 0..batch.len() as i64;
    let mut places = Dims::new();
    for d in 0..to.rank() as i64 {
        places.push(match a.offset_dims.iter().position(|&o| o == d) {
            Some(n) => (batch.len() + n) as i64,
            None => next_batch.next()?,
        });
    }
    transposed(cx, value, &places)
}
