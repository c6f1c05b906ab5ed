//! The work of a kernel, which decides how many iterations are worth running on another thread.

use crate::{Body, Strategy};
use hlo_ir::{InstrId, Op};
use hlo_plan::{Refusal, array};

/// Minimum number of element operations that are split over threads: about 20 µs of work.
const MIN_PARALLEL_COST: i64 = 1 << 16;
/// Number of element operations in a chunk.
const CHUNK_COST: i64 = 1 << 16;
/// Maximum number of chunks. More of them only add scheduling cost.
const MAX_CHUNKS: i64 = 256;

/// Returns the number of iterations of a chunk, at least 1, for a kernel whose iterations have this cost in
/// total. Returns all iterations if they are not worth splitting.
pub(crate) fn grain(iterations: i64, cost: i64) -> i64 {
    let chunks = if cost >= MIN_PARALLEL_COST { (cost / CHUNK_COST).clamp(1, MAX_CHUNKS) } else { 1 };
    ((iterations + chunks - 1) / chunks).max(1)
}

/// Returns the number of elements that the kernel iterates over: that of the largest result or reduced
/// operand.
pub(crate) fn work_elements(body: &Body<'_>, strategy: &Strategy<'_>) -> Result<i64, Refusal> {
    let module = body.module;
    let mut most = 0;
    for root in body.roots.iter().map(|r| r.id) {
        for leaf in module[root].shape.leaves() {
            most = most.max(leaf.as_array().map_or(0, |a| a.element_count() as i64));
        }
    }
    if let Op::DynamicUpdateSlice = &module[body.roots[0].id].op {
        most = array(module, module[body.roots[0].id].operands[1])?.element_count() as i64;
    }
    most = most.max(match strategy {
        Strategy::Contraction(plan) => plan.work,
        Strategy::SelectAndScatter(plan) => plan.work(),
        _ => 0,
    });
    for &id in &body.computed {
        match &module[id].op {
            Op::Reduce(_) | Op::Scatter(_) => {
                for &o in &module[id].operands {
                    most = most.max(array(module, o)?.element_count() as i64);
                }
            }
            Op::Dot(a) => {
                let lhs = array(module, module[id].operands[0])?;
                let contracted = product(a.lhs_contracting_dims.iter().map(|&d| lhs.dims[d as usize]));
                let result = array(module, id)?.element_count() as i64;
                most = most.max(result.saturating_mul(contracted));
            }
            Op::ReduceWindow(a) => {
                let is_cumulative = matches!(strategy, Strategy::Cumulative(plan) if plan.root == id);
                let sizes = a.window.dims.iter().zip(&array(module, module[id].operands[0])?.dims);
                let covered = product(sizes.map(|(w, &size)| w.most_covered(size)));
                let window = if is_cumulative { 1 } else { covered };
                let leaves = module[id].shape.leaves();
                let result = leaves[0].as_array().map_or(0, |a| a.element_count() as i64);
                most = most.max(result.saturating_mul(window));
            }
            _ => {}
        }
    }
    Ok(most)
}

/// Returns the product of sizes, saturating.
fn product(sizes: impl Iterator<Item = i64>) -> i64 {
    sizes.fold(1, i64::saturating_mul)
}

/// Returns an approximate weight of the work per element, where a load or an addition counts 1.
pub(crate) fn cost_per_element(body: &Body<'_>) -> i64 {
    let weight = |&id: &InstrId| body.module[id].opcode().work().weight();
    body.computed.iter().map(weight).sum::<i64>().max(1)
}
