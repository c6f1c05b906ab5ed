//! Kernels that write to the buffers of their operands. Leaves are numbered as in kernel calls.

use hlo_analysis::in_place::{overwritten, updated};
use hlo_ir::{InstrId, Module};

/// Returns pairs of an operand and a result leaf (positions in the flattened lists) such that the result is
/// the operand with some elements replaced. Such a kernel receives the same buffer for both, which contains
/// the operand's value. It writes only the replaced elements.
pub(crate) fn updated_operands(module: &Module, id: InstrId) -> Vec<(usize, usize)> {
    let first = first_leaves(module, id);
    updated(module, id).iter().map(|p| (first[p.operand] + p.leaf, p.result)).collect()
}

/// Returns the operands of a kernel (positions in the flattened list) whose element at an index is read only
/// for the results' elements at that index. A result of the same size may overwrite them. Kernels compute an
/// element of every result before they store any of them, so this also holds for several results.
pub(crate) fn overwritable_operands(module: &Module, id: InstrId) -> Vec<usize> {
    let first = first_leaves(module, id);
    let mut out: Vec<usize> = overwritten(module, id).iter().map(|p| first[p.operand] + p.leaf).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// Returns for each operand the number of leaves of the operands before it.
fn first_leaves(module: &Module, id: InstrId) -> Vec<usize> {
    let before =
        |at: &mut usize, &o: &InstrId| Some(std::mem::replace(at, *at + module[o].shape.leaf_count()));
    module[id].operands.iter().scan(0, before).collect()
}
