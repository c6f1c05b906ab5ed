//! Inlines calls, branches and loops, and removes arguments of calls.

use super::{Reduction, at_sites};
use crate::edit::{owns_callees, remove_parameters, remove_unused, zeros};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use hlo_passes::inline_at;
use std::collections::{BTreeMap, BTreeSet};

/// Inlines calls, fusions, one branch of a conditional or one iteration of a loop.
pub const INLINE: Reduction = Reduction {
    name: "calls put in place",
    changes_interface: false,
    grows: true,
    apply: |module, range| {
        let sites = inlineable(module);
        at_sites(module, range, sites, |module, chosen| {
            let mut namer = ComputationNamer::new(module);
            for (id, callee, arguments) in chosen {
                // Another branch of the same conditional may already have replaced it.
                if !module.is_live(*id) {
                    continue;
                }
                let operands: Option<Vec<InstrId>> =
                    arguments.iter().map(|&n| module[*id].operands.get(n).copied()).collect();
                let value =
                    operands.and_then(|operands| inline_at(module, &mut namer, *id, *callee, &operands));
                if let Some(value) = value {
                    module.replace_all_uses_with(*id, value);
                    remove_unused(module, &[*id]);
                }
            }
        })
    },
};

/// Returns the calls that can be inlined: the instruction, the computation, and the operands that are its
/// arguments.
fn inlineable(module: &Module) -> Vec<(InstrId, ComputationId, Vec<usize>)> {
    let mut out = Vec::new();
    // Callees first, so that copies contain fewer calls.
    for c in module.computations_post_order() {
        for i in module.post_order(c) {
            let all: Vec<usize> = (0..module[i].operands.len()).collect();
            match &module[i].op {
                Op::Call(a) => out.push((i, a.to_apply, all)),
                Op::Fusion(a) => out.push((i, a.calls, all)),
                Op::While(a) => out.push((i, a.body, all)),
                Op::Conditional(a) => {
                    out.extend(a.branches().into_iter().enumerate().map(|(n, b)| (i, b, vec![n + 1])));
                }
                _ => {}
            }
        }
    }
    out
}

/// Removes arguments of calls and fusions. Zeros replace their uses in the computation.
pub const ARGUMENTS: Reduction = Reduction {
    name: "arguments of calls",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let callers = module.callers();
        let mut sites: Vec<(InstrId, usize)> = Vec::new();
        for c in module.computations() {
            for i in module.post_order(c) {
                if matches!(module[i].op, Op::Call(_) | Op::Fusion(_)) && owns_callees(module, &callers, i) {
                    sites.extend((0..module[i].operands.len()).map(|n| (i, n)));
                }
            }
        }
        at_sites(module, range, sites, |module, chosen| {
            let mut by_call: BTreeMap<InstrId, BTreeSet<usize>> = BTreeMap::new();
            for &(id, n) in chosen {
                by_call.entry(id).or_default().insert(n);
            }
            for (id, gone) in by_call {
                drop_arguments(module, id, &gone);
            }
        })
    },
};

fn drop_arguments(module: &mut Module, id: InstrId, gone: &BTreeSet<usize>) {
    let Some(&callee) = module[id].op.called_computations().first() else { return };
    let parameters = module.parameters(callee);
    let mut removed = Vec::new();
    for p in gone.iter().filter_map(|&n| parameters.get(n).copied()) {
        let is_used = !module.users(p).is_empty() || module[callee].root() == p;
        if is_used {
            let shape = module[p].shape.clone();
            match zeros(module, callee, &shape) {
                Some(zero) => module.replace_all_uses_with(p, zero),
                // The call does not match its computation any more, so the verifier rejects the candidate.
                None => return,
            }
        }
        removed.push(p);
    }
    remove_parameters(module, callee, &removed);
    let operands = module[id].operands.clone();
    let left = operands.iter().enumerate().filter(|(n, _)| !gone.contains(n)).map(|(_, &o)| o);
    let left: Vec<InstrId> = left.collect();
    module.set_operands(id, left);
    if let Op::Fusion(a) = module.op_mut(id) {
        a.output_to_operand_aliasing.clear();
    }
}
