//! Side effects as passes see them: which instructions must not be merged, and which stay in place.

use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashSet;

pub(crate) use hlo_ir::effects::Effects;

/// True if two evaluations on the same operands may differ, so that two of them are not one.
pub(crate) fn is_impure(op: &Op) -> bool {
    op.has_side_effect()
        || matches!(op, Op::Rng(_) | Op::OptBarrier | Op::CustomCall(_) | Op::CopyStart(_) | Op::CopyDone)
}

/// The instructions with control predecessors or successors, as a set by id: passes leave them in place.
pub(crate) fn control_dependent(module: &Module) -> HashSet<InstrId> {
    let mut out = HashSet::new();
    for c in module.computations() {
        add_control_dependent(module, c, &mut out);
    }
    out
}

/// The same of one computation, added to a set.
pub(crate) fn add_control_dependent(module: &Module, computation: ComputationId, out: &mut HashSet<InstrId>) {
    for &i in module[computation].instructions() {
        if let Some(common) = module[i].common.as_deref().filter(|c| !c.control_predecessors.is_empty()) {
            out.insert(i);
            out.extend(common.control_predecessors.iter().copied());
        }
    }
}

/// True if an instruction of the computation has control predecessors.
pub(crate) fn has_control_dependencies(module: &Module, computation: ComputationId) -> bool {
    let any = |c: &hlo_ir::CommonAttrs| !c.control_predecessors.is_empty();
    module[computation].instructions().iter().any(|&i| module[i].common.as_deref().is_some_and(any))
}
