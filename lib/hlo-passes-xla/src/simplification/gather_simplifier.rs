//! `gather_simplifier`: rewrites gathers to a canonical form: a list of index vectors, and windows with the
//! operand's rank.
//!
//! ```text
//! g = f32[4,3] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, …
//! →
//! h = f32[3,4,1] gather(x, reshape(i)), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1},
//!     index_vector_dim=1, …
//! g = f32[4,3] transpose(reshape(h))
//! ```
//!
//! Transposes and reshapes are added around the gather, but the operand does not change. A gather of empty
//! windows becomes zeros, and a gather from a scalar a broadcast. Gathers with batching dimensions stay;
//! `batched_gather_scatter_normalizer` rewrites them.

use hlo_ir::attr::GatherAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::support::rewrite::{Cx, Pattern, index};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "gather_simplifier",
    summary: "convert gathers to a form with a list of index vectors and windows of the operand's rank",
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
    "gather → gather with a matrix of indices, offset_dims={1,2,…}, collapsed_slice_dims={}, index_vector_dim=1",
    &[Opcode::Gather],
    simplify,
)];

/// Transposes an array. Returns `x` if the order does not change.
pub(super) fn transposed(cx: &mut Cx<'_>, x: InstrId, order: &[i64]) -> Option<InstrId> {
    if order.is_sorted() {
        return Some(x);
    }
    let from = cx.array(x)?;
    let dims = permuted(&from.dims, order)?;
    Some(cx.add(ArrayShape::new(from.element_type, dims), Op::transpose(order.iter().copied()), &[x]))
}

/// Returns the values in another order.
pub(super) fn permuted(values: &[i64], order: &[i64]) -> Option<Dims> {
    order.iter().map(|&d| values.get(index(d)?).copied()).collect()
}

/// Emits the index vectors as the rows of a matrix. Also returns the sizes of the batch dimensions of the
/// indices.
pub(super) fn index_matrix(
    cx: &mut Cx<'_>,
    indices: InstrId,
    index_vector_dim: i64,
) -> Option<(InstrId, Dims)> {
    let shape = cx.array(indices)?;
    let rank = shape.rank() as i64;
    let batch: Vec<i64> = (0..rank).filter(|&d| d != index_vector_dim).collect();
    let sizes = permuted(&shape.dims, &batch)?;
    let (vectors, components) = if index_vector_dim == rank {
        let explicit: Dims = shape.dims.iter().copied().chain([1]).collect();
        (cx.reshaped(indices, &explicit)?, 1)
    } else {
        let order: Vec<i64> = batch.iter().copied().chain([index_vector_dim]).collect();
        (transposed(cx, indices, &order)?, *shape.dims.get(index(index_vector_dim)?)?)
    };
    let count = sizes.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    Some((cx.reshaped(vectors, &[count, components])?, sizes))
}

fn simplify(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Gather(a) = cx.module[id].op.clone() else { return None };
    let (x, indices) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    if a.slice_sizes.contains(&0) {
        return cx.splat_integer(&to, 0);
    }
    if from.rank() == 0 {
        return Some(cx.add_same_shape(Op::broadcast([]), &[x]));
    }
    let simple = a.collapsed_slice_dims.is_empty()
        && a.offset_dims.iter().copied().eq(1..=from.rank() as i64)
        && a.index_vector_dim == 1
        && cx.array(indices)?.rank() == 2;
    if simple || !a.operand_batching_dims.is_empty() {
        return None;
    }
    let (matrix, batch) = index_matrix(cx, indices, a.index_vector_dim)?;
    let count = batch.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let attrs = GatherAttrs {
        offset_dims: (1..=from.rank() as i64).collect(),
        collapsed_slice_dims: Dims::new(),
        index_vector_dim: 1,
        ..(*a).clone()
    };
    let shape = ArrayShape::new(from.element_type, [count].into_iter().chain(a.slice_sizes.iter().copied()));
    let gathered = cx.add(shape, Op::Gather(Box::new(attrs)), &[x, matrix]);
    // Remove the collapsed dimensions, then split the batch dimension.
    let kept = (0..from.rank() as i64).filter(|d| !a.collapsed_slice_dims.contains(d));
    let kept = permuted(&a.slice_sizes, &kept.collect::<Vec<_>>())?;
    let windows: Dims = [count].iter().chain(&kept).copied().collect();
    let windows = cx.reshaped(gathered, &windows)?;
    let all: Dims = batch.iter().chain(&kept).copied().collect();
    let value = cx.reshaped(windows, &all)?;
    // Batch dimensions take the positions that are not window dimensions.
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
