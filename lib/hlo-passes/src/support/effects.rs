//! Side effects from the view of passes: which instructions must not be merged, and which must stay in place.

use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{BTreeSet, HashSet};

pub use hlo_ir::effects::Effects;

/// Returns whether two evaluations on the same operands may differ, so that they must not be merged. This
/// excludes custom calls: without declared side effects they must be idempotent (the semantics of
/// CustomCall).
pub(crate) fn may_differ(op: &Op) -> bool {
    op.has_side_effect() || matches!(op, Op::Rng(_) | Op::OptBarrier | Op::CopyStart(_) | Op::CopyDone)
}

/// Returns whether passes must not evaluate, duplicate or move the operation. This includes the operations of
/// `may_differ`, and custom calls, because their cost is unknown and they may fail.
pub fn is_impure(op: &Op) -> bool {
    may_differ(op) || matches!(op, Op::CustomCall(_))
}

/// The computations that contain an operation of some kind, directly or through calls.
pub struct Impure {
    kind: fn(&Op) -> bool,
    computations: HashSet<ComputationId>,
}

impl Impure {
    /// Searches the whole module for operations of the kind: `is_impure` or `may_differ`.
    pub fn of(module: &Module, kind: fn(&Op) -> bool) -> Self {
        let mut found = Self { kind, computations: HashSet::new() };
        // Callees come before callers.
        for c in module.computations_post_order() {
            if module[c].instructions().iter().any(|&i| found.has(&module[i].op)) {
                found.computations.insert(c);
            }
        }
        found
    }

    /// Returns whether the operation is of the kind, or calls a computation that contains one.
    pub fn has(&self, op: &Op) -> bool {
        (self.kind)(op) || op.called_computations().iter().any(|c| self.computations.contains(c))
    }
}

/// Returns the instructions with control predecessors or successors. Passes leave them in place.
pub fn control_dependent(module: &Module) -> HashSet<InstrId> {
    let mut out = HashSet::new();
    for c in module.computations() {
        add_control_dependent(module, c, &mut out);
    }
    out
}

/// Adds the instructions of one computation with control predecessors or successors to a set.
pub(crate) fn add_control_dependent(module: &Module, computation: ComputationId, out: &mut HashSet<InstrId>) {
    for &i in module[computation].instructions() {
        if let Some(common) = module[i].common.as_deref().filter(|c| !c.control_predecessors.is_empty()) {
            out.insert(i);
            out.extend(common.control_predecessors.iter().copied());
        }
    }
}

/// Returns whether an instruction of the computation has control predecessors.
pub(crate) fn has_control_dependencies(module: &Module, computation: ComputationId) -> bool {
    let any = |c: &hlo_ir::CommonAttrs| !c.control_predecessors.is_empty();
    module[computation].instructions().iter().any(|&i| module[i].common.as_deref().is_some_and(any))
}

/// Returns whether an instruction has a sharding or a `backend_config`. Passes that merge instructions skip
/// it.
pub fn is_marked(module: &Module, id: InstrId) -> bool {
    let common = module[id].common.as_deref();
    common.is_some_and(|c| c.sharding.is_some() || !c.backend_config.is_empty())
}

/// Returns whether another instruction may replace this one: it is used, it is not in `pinned` (the
/// instructions with control dependencies), and [`is_marked`] is false.
pub fn is_replaceable(module: &Module, pinned: &HashSet<InstrId>, id: InstrId) -> bool {
    let used = module.is_used(id);
    used && !pinned.contains(&id) && !is_marked(module, id)
}

/// Disconnects an unused instruction from its operands, then the operands that became unused. Adds all of
/// them to `gone`. [`remove_taken`] removes them.
pub fn take_unused(
    module: &mut Module,
    effects: &Effects,
    pinned: &HashSet<InstrId>,
    id: InstrId,
    gone: &mut BTreeSet<InstrId>,
) {
    let mut work = vec![id];
    while let Some(i) = work.pop() {
        let needed = !module.users(i).is_empty()
            || module.is_root(i)
            || matches!(module[i].op, Op::Parameter(_))
            || pinned.contains(&i)
            || is_impure(&module[i].op)
            || effects.has(module, i);
        if !needed && gone.insert(i) {
            work.extend_from_slice(&module[i].operands);
            module.set_operands(i, []);
        }
    }
}

/// Removes the instructions that [`take_unused`] found. Returns whether there are any.
pub fn remove_taken(module: &mut Module, gone: BTreeSet<InstrId>) -> bool {
    let gone: Vec<InstrId> = gone.into_iter().collect();
    module.remove_all(&gone);
    !gone.is_empty()
}
