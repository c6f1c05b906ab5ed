//! `scatter_simplifier`: rewrites scatters to a canonical form: a list of index vectors, and windows with the
//! operand's rank.
//!
//! ```text
//! s = f32[4,6] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, …
//! →
//! s = f32[4,6] scatter(x, reshape(i), reshape(transpose(u))), update_window_dims={1,2}, inserted_window_dims={},
//!     scatter_dims_to_operand_dims={1}, index_vector_dim=1, …
//! ```
//!
//! Transposes and reshapes are added around the scatter, but the operand does not change. A scatter of one
//! element into a scalar becomes the combining function of both. Updates of the same element keep their
//! order. If windows may overlap partly, a scatter whose updates would be visited in another order stays.
//! Scatters with batching dimensions stay; `batched_gather_scatter_normalizer` rewrites them.

use super::gather_simplifier::{index_matrix, permuted, transposed};
use hlo_ir::attr::ScatterAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::support::clone::inline_at;
use hlo_passes::support::rewrite::{Cx, Pattern};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "scatter_simplifier",
    summary: "convert scatters to a form with a list of index vectors and windows of the operand's rank",
    example: "\
HloModule scatter_simplifier

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[4,6] parameter(0)
  i = s32[3] parameter(1)
  u = f32[4,3] parameter(2)
  ROOT s = f32[4,6] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "simplify-scatter",
        "scatter → scatter with a matrix of indices, update_window_dims={1,2,…}, inserted_window_dims={}, index_vector_dim=1",
        &[Opcode::Scatter],
        simplify,
    ),
    Pattern::new(
        "scatter-into-scalar",
        "scatter(x, i, u) of scalars x and u → the update computation applied to x and u",
        &[Opcode::Scatter],
        into_scalar,
    ),
];

/// Returns the operands of a scatter: the arrays, the indices, the updates.
fn parts(operands: &[InstrId]) -> Option<(&[InstrId], InstrId, &[InstrId])> {
    let n = operands.len() / 2;
    Some((operands.get(..n)?, *operands.get(n)?, operands.get(n + 1..)?))
}

/// Rewrites a scatter into scalars, which has a single index vector without components.
fn into_scalar(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Scatter(a) = cx.module[id].op.clone() else { return None };
    let operands = cx.module[id].operands.to_vec();
    let (inputs, _, updates) = parts(&operands)?;
    let arguments: Vec<InstrId> = inputs.iter().chain(updates).copied().collect();
    for &argument in &arguments {
        if cx.array(argument)?.rank() != 0 {
            return None;
        }
    }
    if cx.module[id].sharding().is_some() {
        return None;
    }
    let (module, namer) = cx.naming();
    inline_at(module, namer, id, a.to_apply, &arguments)
}

fn simplify(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Scatter(a) = cx.module[id].op.clone() else { return None };
    let operands = cx.module[id].operands.to_vec();
    let (inputs, indices, updates) = parts(&operands)?;
    let from = cx.array(*inputs.first()?)?;
    let update = cx.array(*updates.first()?)?;
    let rank = from.rank();
    // The order of the updates' dimensions: batch dimensions first, then window dimensions.
    let counting: Dims = (0..update.rank() as i64).filter(|d| !a.update_window_dims.contains(d)).collect();
    let simple = a.inserted_window_dims.is_empty()
        && counting.len() <= 1
        && !a.update_window_dims.contains(&0)
        && a.update_window_dims.is_sorted()
        && a.index_vector_dim + 1 == cx.array(indices)?.rank() as i64;
    if rank == 0 || simple || !a.input_batching_dims.is_empty() {
        return None;
    }
    let order: Dims = counting.iter().chain(&a.update_window_dims).copied().collect();
    let window = window_sizes(&a, &update, rank)?;
    // A dropped dimension gets a window of size 1, which does not fit into a dimension of size 0.
    if window.iter().zip(&from.dims).any(|(w, d)| w > d) {
        return None;
    }
    let moves = |d: &i64| window.get(*d as usize) != Some(&1);
    let (matrix, batch) = index_matrix(cx, indices, a.index_vector_dim)?;
    let count = batch.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    // A single window contains each element once.
    if !order.is_sorted() && count > 1 && a.scatter_dims_to_operand_dims.iter().any(moves) {
        return None;
    }
    let mut new = inputs.to_vec();
    new.push(matrix);
    let flat: Dims = [count].into_iter().chain(permuted(&update.dims, &a.update_window_dims)?).collect();
    let windows: Dims = [count].into_iter().chain(window.iter().copied()).collect();
    for &u in updates {
        let rows = transposed(cx, u, &order)?;
        let rows = cx.reshaped(rows, &flat)?;
        new.push(cx.reshaped(rows, &windows)?);
    }
    let attrs = ScatterAttrs {
        update_window_dims: (1..=rank as i64).collect(),
        inserted_window_dims: Dims::new(),
        index_vector_dim: 1,
        ..(*a).clone()
    };
    Some(cx.add_same_shape(Op::Scatter(Box::new(attrs)), &new))
}

/// Returns the window's size in each operand dimension.
fn window_sizes(a: &ScatterAttrs, update: &ArrayShape, rank: usize) -> Option<Dims> {
    let mut windows = permuted(&update.dims, &a.update_window_dims)?.into_iter();
    let sizes: Dims = (0..rank as i64)
        .map(|d| if a.inserted_window_dims.contains(&d) { Some(1) } else { windows.next() })
        .collect::<Option<_>>()?;
    windows.next().is_none().then_some(sizes)
}
