//! Which kernels write into the buffers of their operands, by the numbers of leaves that kernels have.

use hlo_analysis::in_place::{overwritten, updated};
use hlo_ir::{InstrId, Module};

/// Pairs of an operand and a result leaf (positions in the flattened lists) such that the result is the operand
/// with some elements replaced. Such a kernel gets the same buffer for both, with the operand's value in it, and writes the
/// replaced elements only.
pub(crate) fn updated_operands(module: &Module, id: InstrId) -> Vec<(usize, usize)> {
    let first = first_leaves(module, id);
    updated(module, id).iter().map(|p| (first[p.operand] + p.leaf, p.result)).collect()
}

/// The operands (positions in the flattened list) of a kernel whose element at an index is read only for the
/// results' elements at that index: a result of the same size may overwrite them. Kernels compute an element of
/// every result before they store any, so this holds for several results too.
pub(crate) fn overwritable_operands(module: &Module, id: InstrId) -> Vec<usize> {
    let first = first_leaves(module, id);
    let mut out: Vec<usize> = overwritten(module, id).iter().map(|p| first[p.operand] + p.leaf).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// For each operand the number of leaves of the operands before it.
fn first_leaves(module: &Module, id: InstrId) -> Vec<usize> {
    let before =
        |at: &mut usize, &o: &InstrId| Some(std::mem::replace(at, *at + module[o].shape.leaf_count()));
    module[id].operands.iter().scan(0, before).collect()
}
