//! Which kernels may write into the buffers of their operands.

use super::classify::same_layout;
use hlo_ir::{InstrId, Module, Op};
use std::collections::HashMap;

/// Pairs of an operand and a result leaf (positions in the flattened lists) such that the result is the operand
/// with some elements replaced: `dynamic-update-slice`, `scatter`, and fusions that end in one whose target is
/// a fusion parameter that nothing else in the fusion reads. Such a kernel gets the same buffer for both, with
/// the operand's value in it, and writes the replaced elements only.
pub fn updated_operands(module: &Module, id: InstrId) -> Vec<(usize, usize)> {
    let instr = &module[id];
    match &instr.op {
        Op::Fusion(f) => {
            let root = module[f.calls].root();
            let roots: Vec<InstrId> = match &module[root].op {
                Op::Tuple => module[root].operands.to_vec(),
                _ => vec![root],
            };
            let offsets = leaf_offsets(module, id);
            let mut out = Vec::new();
            let mut leaf = 0;
            for r in roots {
                for (operand, result) in updated_directly(module, r) {
                    let target = module[r].operands[operand];
                    let Op::Parameter(p) = &module[target].op else { continue };
                    let uses = module[r].operands.iter().filter(|&&o| o == target).count();
                    let only_use = module.users(target) == [r] && uses == 1;
                    let Some(&offset) = usize::try_from(p.number).ok().and_then(|n| offsets.get(n)) else {
                        continue;
                    };
                    if only_use && target != root && same_place(module, id, leaf + result, offset) {
                        out.push((offset, leaf + result));
                    }
                }
                leaf += module[r].shape.leaf_count();
            }
            out
        }
        // Expansion gives its results their operands' layouts.
        Op::Scatter(_) => updated_directly(module, id),
        _ => updated_directly(module, id)
            .into_iter()
            .filter(|&(operand, result)| same_place(module, id, result, operand))
            .collect(),
    }
}

/// The pairs of an instruction that is not a fusion, all of whose operands are arrays.
fn updated_directly(module: &Module, id: InstrId) -> Vec<(usize, usize)> {
    match &module[id].op {
        Op::DynamicUpdateSlice => vec![(0, 0)],
        Op::Scatter(_) => (0..module[id].operands.len() / 2).map(|i| (i, i)).collect(),
        _ => Vec::new(),
    }
}

/// For each operand the number of leaves of the operands before it.
fn leaf_offsets(module: &Module, id: InstrId) -> Vec<usize> {
    module[id]
        .operands
        .iter()
        .scan(0, |at, &o| {
            let here = *at;
            *at += module[o].shape.leaf_count();
            Some(here)
        })
        .collect()
}

/// True if a result leaf and an operand leaf have the same sizes, strides and element size.
fn same_place(module: &Module, id: InstrId, result: usize, operand: usize) -> bool {
    let results = module[id].shape.leaves();
    let operands: Vec<_> = module[id].operands.iter().flat_map(|&o| module[o].shape.leaves()).collect();
    let (Some(Some(r)), Some(Some(o))) =
        (results.get(result).map(|s| s.as_array()), operands.get(operand).map(|s| s.as_array()))
    else {
        return false;
    };
    r.element_type.byte_size() == o.element_type.byte_size() && same_layout(o, r)
}

/// The operands (positions in the flattened list) of a kernel whose element at an index is read only for the
/// results' elements at that index: a result of the same size may overwrite them. Kernels compute an element of
/// every result before they store any, so this holds for several results too.
pub fn overwritable_operands(module: &Module, id: InstrId) -> Vec<usize> {
    let instr = &module[id];
    let results: Vec<_> = instr.shape.leaves().into_iter().map(|s| s.as_array()).collect();
    let Some(Some(first)) = results.first().copied() else { return Vec::new() };
    if !results.iter().all(|r| r.is_some_and(|r| r.dims == first.dims && same_layout(r, first))) {
        return Vec::new();
    }
    let candidates: Vec<usize> = match &instr.op {
        Op::Fusion(f) => {
            let offsets = leaf_offsets(module, id);
            parameters_read_in_place(module, module[f.calls].root())
                .into_iter()
                .filter(|&n| instr.operands.get(n).is_some_and(|&o| module[o].shape.as_array().is_some()))
                .filter_map(|n| offsets.get(n).copied())
                .collect()
        }
        _ if instr.opcode().is_pointwise() => (0..instr.operands.len()).collect(),
        _ => Vec::new(),
    };
    let in_some_place = |&o: &usize| (0..results.len()).any(|r| same_place(module, id, r, o));
    candidates.into_iter().filter(in_some_place).collect()
}

/// The parameters of a fused computation that reach the root, or the elements of a root tuple, through elementwise
/// operations only.
fn parameters_read_in_place(module: &Module, root: InstrId) -> Vec<usize> {
    let roots: Vec<InstrId> = match &module[root].op {
        Op::Tuple => module[root].operands.to_vec(),
        _ => vec![root],
    };
    // For each visited instruction whether every use so far keeps the roots' index.
    let mut same_index: HashMap<InstrId, bool> = roots.iter().map(|&r| (r, true)).collect();
    let mut work = roots.clone();
    let mut parameters: Vec<(usize, InstrId)> = Vec::new();
    let dims = roots.first().and_then(|&r| module[r].shape.as_array()).map(|a| &a.dims);
    while let Some(at) = work.pop() {
        let keeps = same_index[&at];
        if let Op::Parameter(p) = &module[at].op {
            parameters.extend(usize::try_from(p.number).ok().map(|n| (n, at)));
        }
        for &o in &module[at].operands {
            let same = keeps
                && module[at].opcode().is_pointwise()
                && module[o].shape.as_array().map(|a| &a.dims) == dims;
            let before = same_index.get(&o).copied();
            // Visited again only when the answer turns from true to false.
            if before.is_none() || (before == Some(true) && !same) {
                same_index.insert(o, same);
                work.push(o);
            }
        }
    }
    let mut out: Vec<usize> =
        parameters.into_iter().filter(|(_, id)| same_index[id]).map(|(n, _)| n).collect();
    out.sort_unstable();
    out.dedup();
    out
}
