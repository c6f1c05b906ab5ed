//! Moves the control dependencies of calls and fusions to the instructions that replace them.

use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::{HashMap, HashSet};

/// Returns the control successors of each instruction of a computation that has any.
pub fn control_successors(module: &Module, computation: ComputationId) -> HashMap<InstrId, Vec<InstrId>> {
    let mut out: HashMap<InstrId, Vec<InstrId>> = HashMap::new();
    for &i in module[computation].instructions() {
        for &p in module[i].control_predecessors() {
            out.entry(p).or_default().push(i);
        }
    }
    out
}

/// Moves the control dependencies of `call` to the instructions that replace it. The copies wait for the
/// control predecessors of `call`. The control successors of `call` wait for `value`. If `effects` is true,
/// they also wait for the copies that have side effects or call computations.
pub fn carry_control(
    module: &mut Module,
    call: InstrId,
    value: InstrId,
    copies: &[InstrId],
    effects: bool,
    successors: Vec<InstrId>,
) {
    let before = module[call].control_predecessors().to_vec();
    if !before.is_empty() {
        copies.iter().for_each(|&copy| wait_for(module, copy, &before));
    }
    if successors.is_empty() {
        return;
    }
    let does_more = |i: &InstrId| {
        let op = &module[*i].op;
        op.has_side_effect() || !op.called_computations().is_empty()
    };
    let mut after = vec![value];
    if effects {
        after.extend(copies.iter().copied().filter(|&i| i != value && does_more(&i)));
    }
    if !copies.contains(&value) {
        // The value existed before the call, so it does not wait for the control predecessors of the call.
        after.extend(before);
    }
    for successor in successors {
        module.common_mut(successor).control_predecessors.retain(|&p| p != call);
        wait_for(module, successor, &after);
    }
}

/// Adds control predecessors to an instruction.
fn wait_for(module: &mut Module, id: InstrId, before: &[InstrId]) {
    let all = &mut module.common_mut(id).control_predecessors;
    let mut known: HashSet<InstrId> = all.iter().copied().collect();
    all.extend(before.iter().copied().filter(|&p| known.insert(p)));
}
