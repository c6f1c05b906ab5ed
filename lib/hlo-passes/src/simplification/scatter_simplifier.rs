//! `scatter_simplifier`: scatters of one form: a list of index vectors, and windows of the whole rank.
//!
//! ```text
//! s = f32[4,6] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, …
//! →
//! s = f32[6,4] scatter(transpose(x), i, reshape(transpose(u))), update_window_dims={1,2}, inserted_window_dims={},
//!     scatter_dims_to_operand_dims={0}, index_vector_dim=1, …
//! r = f32[4,6] transpose(s)
//! ```
//!
//! What is around it are transposes and reshapes. Updates of the same element keep their order: where windows may
//! overlap in part, a scatter whose updates would be visited in another order stays. So do those with batching
//! dimensions.

use super::gather_simplifier::{index_matrix, indexed_first, inverse, permuted, transposed};
use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::{GetTupleElementAttrs, ScatterAttrs};
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode, Shape};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "scatter_simplifier",
    summary: "express scatters by those of index vectors in a list and windows of the operand's rank",
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

static PATTERNS: &[Pattern] = &[Pattern::new(
    "simplify-scatter",
    "scatter → scatter with update_window_dims={1,2,…}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1,…}, index_vector_dim=1",
    &[Opcode::Scatter],
    simplify,
)];

/// True if `dims` are `first`, `first + 1`, ….
fn counts(dims: &Dims, first: i64) -> bool {
    dims.iter().copied().eq(first..first + dims.len() as i64)
}

fn simplify(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Scatter(a) = cx.module[id].op.clone() else { return None };
    let operands = cx.module[id].operands.to_vec();
    let n = operands.len() / 2;
    let (inputs, indices, updates) = (operands.get(..n)?, *operands.get(n)?, operands.get(n + 1..)?);
    let from = cx.array(*inputs.first()?)?;
    let update = cx.array(*updates.first()?)?;
    let rank = from.rank();
    let simple = a.inserted_window_dims.is_empty()
        && counts(&a.scatter_dims_to_operand_dims, 0)
        && counts(&a.update_window_dims, 1)
        && a.index_vector_dim == 1
        && cx.array(indices)?.rank() == 2;
    if simple || !a.input_batching_dims.is_empty() || from.element_count() == 0 || update.element_count() == 0
    {
        return None;
    }
    // The updates' dimensions: those that count the windows, then the windows'.
    let counting: Dims = (0..update.rank() as i64).filter(|d| !a.update_window_dims.contains(d)).collect();
    let order: Dims = counting.iter().chain(&a.update_window_dims).copied().collect();
    let window = window_sizes(&a, &update, rank)?;
    let moves = |d: &i64| window.get(*d as usize) != Some(&1);
    if !order.is_sorted() && a.scatter_dims_to_operand_dims.iter().any(moves) {
        return None;
    }
    let (matrix, batch) =
        index_matrix(cx, indices, a.index_vector_dim, a.scatter_dims_to_operand_dims.len())?;
    let count = batch.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let first = indexed_first(&a.scatter_dims_to_operand_dims, rank);
    let mut new = Vec::with_capacity(operands.len());
    for &x in inputs {
        new.push(transposed(cx, x, &first)?);
    }
    new.push(matrix);
    let windows: Dims = [count].into_iter().chain(window.iter().copied()).collect();
    let windows_order: Dims = [0].into_iter().chain(first.iter().map(|d| d + 1)).collect();
    for &u in updates {
        let rows = transposed(cx, u, &order)?;
        let rows = cx.reshape(rows, &windows)?;
        new.push(transposed(cx, rows, &windows_order)?);
    }
    let attrs = ScatterAttrs {
        update_window_dims: (1..=rank as i64).collect(),
        inserted_window_dims: Dims::new(),
        scatter_dims_to_operand_dims: (0..a.scatter_dims_to_operand_dims.len() as i64).collect(),
        index_vector_dim: 1,
        ..(*a).clone()
    };
    scatter(cx, &from.dims, inputs, &first, Op::Scatter(Box::new(attrs)), &new)
}

/// The window's size in each operand dimension.
fn window_sizes(a: &ScatterAttrs, update: &ArrayShape, rank: usize) -> Option<Dims> {
    let mut windows = permuted(&update.dims, &a.update_window_dims)?.into_iter();
    let sizes: Dims = (0..rank as i64)
        .map(|d| if a.inserted_window_dims.contains(&d) { Some(1) } else { windows.next() })
        .collect::<Option<_>>()?;
    windows.next().is_none().then_some(sizes)
}

/// The scatter of transposed arrays, its results as they were.
fn scatter(
    cx: &mut Cx<'_>,
    dims: &Dims,
    inputs: &[InstrId],
    order: &Dims,
    op: Op,
    operands: &[InstrId],
) -> Option<InstrId> {
    let sizes = permuted(dims, order)?;
    let shapes: Vec<Shape> = inputs
        .iter()
        .map(|&x| Some(Shape::array(cx.element_type(x)?, sizes.iter().copied())))
        .collect::<Option<_>>()?;
    let back = inverse(order)?;
    if let [shape] = shapes.as_slice() {
        let result = cx.add(shape.clone(), op, operands);
        return transposed(cx, result, &back);
    }
    let all = cx.add(Shape::Tuple(shapes.clone()), op, operands);
    let mut results = Vec::with_capacity(shapes.len());
    for (n, shape) in shapes.into_iter().enumerate() {
        let element = Op::GetTupleElement(GetTupleElementAttrs { index: n as i64 });
        let element = cx.add(shape, element, &[all]);
        results.push(transposed(cx, element, &back)?);
    }
    Some(cx.instead(Op::Tuple, &results))
}
