//! Side effects as passes see them: which instructions must not be merged, and which stay in place.

use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{BTreeSet, HashSet};

pub(crate) use hlo_ir::effects::Effects;

/// True if two evaluations on the same operands may differ, so that two of them are not one. Custom calls are not of the
/// kind: unless they say that they have side effects, they must be idempotent (the semantics of CustomCall).
pub(crate) fn may_differ(op: &Op) -> bool {
    op.has_side_effect() || matches!(op, Op::Rng(_) | Op::OptBarrier | Op::CopyStart(_) | Op::CopyDone)
}

/// True for what passes neither evaluate nor make again nor move to where it was not: what may differ, and custom calls,
/// of which nobody knows what they cost, or whether they fail.
pub(crate) fn is_impure(op: &Op) -> bool {
    may_differ(op) || matches!(op, Op::CustomCall(_))
}

/// The computations that have an operation of a kind, or call one that does.
pub(crate) struct Impure {
    kind: fn(&Op) -> bool,
    computations: HashSet<ComputationId>,
}

impl Impure {
    /// Looks through the whole module for operations of the kind: `is_impure` or `may_differ`.
    pub(crate) fn of(module: &Module, kind: fn(&Op) -> bool) -> Self {
        let mut found = Self { kind, computations: HashSet::new() };
        // Callees come first.
        for c in module.computations_post_order() {
            if module[c].instructions().iter().any(|&i| found.has(&module[i].op)) {
                found.computations.insert(c);
            }
        }
        found
    }

    /// True if the operation is of the kind, what it calls included.
    pub(crate) fn has(&self, op: &Op) -> bool {
        (self.kind)(op) || op.called_computations().iter().any(|c| self.computations.contains(c))
    }
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

/// True if an instruction has a sharding or something in its `backend_config`: passes that make one of
/// several instructions leave it alone.
pub(crate) fn is_marked(module: &Module, id: InstrId) -> bool {
    let common = module[id].common.as_deref();
    common.is_some_and(|c| c.sharding.is_some() || !c.backend_config.is_empty())
}

/// True for an instruction that another may take the place of: something needs it, it is not among `pinned`, those with
/// control dependencies, and it is not marked.
pub(crate) fn is_replaceable(module: &Module, pinned: &HashSet<InstrId>, id: InstrId) -> bool {
    let used = module.is_used(id);
    used && !pinned.contains(&id) && !is_marked(module, id)
}

/// Takes an instruction that nothing needs, and then what only it needed, out of the user lists, and adds them to `gone`,
/// which is to be removed.
pub(crate) fn take_unused(
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

/// Removes what [`take_unused`] found. Returns whether there is anything.
pub(crate) fn remove_taken(module: &mut Module, gone: BTreeSet<InstrId>) -> bool {
    let gone: Vec<InstrId> = gone.into_iter().collect();
    module.remove_all(&gone);
    !gone.is_empty()
}
