//! `batched_gather_scatter_normalizer`: converts the batching dimensions of `gather` and `scatter` to
//! components of the index vectors.
//!
//! ```text
//! gather(x, i), operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}
//!   →  gather(x, concatenate(iota, i)), start_index_map={0,1}
//! ```
//!
//! Indices are widened if their type cannot represent the size of a batching dimension. The indices stay
//! sorted if the batching dimensions and components are in order.

use crate::pass_info::PassInfo;
use crate::support::constants::integer_bytes;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::build::Build;
use hlo_ir::{Dims, ElementType, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "batched_gather_scatter_normalizer",
    summary: "turn batching dimensions of gathers and scatters into components of the index vectors",
    example: "\
HloModule batched_gather_scatter_normalizer

ENTRY e {
  x = f32[2,8] parameter(0)
  i = s32[2,5,1] parameter(1)
  ROOT g = f32[2,5] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}
}
",
    build: |_, _| expansion_pass("batching-dimensions", has_batching, expand),
    ..PassInfo::PLAIN
};

fn has_batching(op: &Op) -> bool {
    match op {
        Op::Gather(a) => !a.operand_batching_dims.is_empty(),
        Op::Scatter(a) => !a.input_batching_dims.is_empty(),
        _ => false,
    }
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    if !e.is_static(id) {
        return None;
    }
    let mut operands = e.module[id].operands.to_vec();
    let op = match e.module[id].op.clone() {
        Op::Gather(mut a) => {
            let size = |&d: &i64| usize::try_from(d).ok().and_then(|d| a.slice_sizes.get(d));
            let one = |d: &i64| matches!(size(d), Some(0 | 1)) && !a.start_index_map.contains(d);
            if !a.operand_batching_dims.iter().all(one) {
                return None;
            }
            let batching = std::mem::take(&mut a.operand_batching_dims);
            let of_indices = std::mem::take(&mut a.start_indices_batching_dims);
            operands[1] = with_numbers(e, *operands.get(1)?, a.index_vector_dim, &of_indices)?;
            a.start_index_map = batching.iter().chain(&a.start_index_map).copied().collect();
            a.collapsed_slice_dims = merged(&batching, &a.collapsed_slice_dims);
            a.indices_are_sorted &= of_indices.is_sorted() && a.start_index_map.is_sorted();
            Op::Gather(a)
        }
        Op::Scatter(mut a) => {
            let batching = std::mem::take(&mut a.input_batching_dims);
            let of_indices = std::mem::take(&mut a.scatter_indices_batching_dims);
            let place = operands.len() / 2;
            operands[place] = with_numbers(e, *operands.get(place)?, a.index_vector_dim, &of_indices)?;
            a.scatter_dims_to_operand_dims =
                batching.iter().chain(&a.scatter_dims_to_operand_dims).copied().collect();
            a.inserted_window_dims = merged(&batching, &a.inserted_window_dims);
            a.indices_are_sorted &= of_indices.is_sorted() && a.scatter_dims_to_operand_dims.is_sorted();
            Op::Scatter(a)
        }
        _ => return None,
    };
    let shape = e.shape();
    Some(e.add(shape, op, &operands))
}

/// Returns the elements of both lists in ascending order.
fn merged(a: &Dims, b: &Dims) -> Dims {
    let mut all: Dims = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all
}

/// Prepends to each index vector its own indices along some dimensions.
fn with_numbers(e: &mut Emitter<'_>, indices: InstrId, vector: i64, along: &Dims) -> Option<InstrId> {
    let shape = e.array(indices)?;
    let vector = usize::try_from(vector).ok().filter(|&v| v <= shape.rank())?;
    let mut dims = shape.dims.to_vec();
    if vector == dims.len() {
        dims.push(1);
    }
    let along = along.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<Vec<usize>>>()?;
    let most = along.iter().map(|&d| dims.get(d).copied()).collect::<Option<Vec<i64>>>()?;
    let most = most.into_iter().max()?;
    let fits = |ty: &ElementType| ty.is_integer() && integer_bytes(*ty, most).is_some();
    let ty = [shape.element_type, ElementType::S32, ElementType::S64].into_iter().find(fits)?;
    if ty.bit_width() < shape.element_type.bit_width() {
        return None;
    }
    let indices = e.convert(indices, ty)?;
    let mut parts = Vec::new();
    let mut single = dims.clone();
    single[vector] = 1;
    for &d in &along {
        parts.push(e.iota(ty, &single, d));
    }
    parts.push(e.reshaped(indices, &dims)?);
    e.joined(&parts, vector)
}
