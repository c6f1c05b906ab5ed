//! Side effects as passes see them: which instructions must not be merged, and which stay in place.

use hlo_ir::{InstrId, Module, Op};

pub(crate) use hlo_ir::effects::Effects;

/// True if two evaluations on the same operands may differ, so that two of them are not one.
pub(crate) fn is_impure(op: &Op) -> bool {
    op.has_side_effect()
        || matches!(op, Op::Rng(_) | Op::OptBarrier | Op::CustomCall(_) | Op::CopyStart(_) | Op::CopyDone)
}

/// The instructions with control predecessors or successors, as a set by id: passes leave them in place.
pub(crate) fn control_dependent(module: &Module) -> std::collections::HashSet<InstrId> {
    let mut out = std::collections::HashSet::new();
    for c in module.computations() {
        for &i in module[c].instructions() {
            if let Some(common) = module[i].common.as_deref().filter(|c| !c.control_predecessors.is_empty()) {
                out.insert(i);
                out.extend(common.control_predecessors.iter().copied());
            }
        }
    }
    out
}
