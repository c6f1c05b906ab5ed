//! Removes operands of operations with any number of operands.

use super::shapes::infer_again;
use super::tuples::{narrow, narrow_root};
use super::{Reduction, at_sites};
use crate::edit::{element, owns_callees, remove_parameters, zeros};
use hlo_ir::{InstrId, Module, Op};
use std::collections::BTreeSet;

/// Removes operands of sorts, reductions, concatenations and `after-all`.
pub const OPERANDS: Reduction = Reduction {
    name: "operands of sorts, reductions, concatenations",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let callers = module.callers();
        let mut sites: Vec<(InstrId, usize)> = Vec::new();
        for c in module.computations() {
            for i in module.post_order(c) {
                let owns = || owns_callees(module, &callers, i);
                let operands = module[i].operands.len();
                let count = match module[i].op {
                    Op::Concatenate(_) | Op::AfterAll => operands,
                    Op::Sort(_) if owns() => operands,
                    Op::Reduce(_) | Op::ReduceWindow(_) if owns() => operands / 2,
                    _ => 0,
                };
                let least = usize::from(!matches!(module[i].op, Op::AfterAll));
                sites.extend((0..count).filter(|_| count > least).map(|n| (i, n)));
            }
        }
        at_sites(module, range, sites, |module, chosen| {
            for group in chosen.chunk_by(|a, b| a.0 == b.0) {
                if let Some(&(id, _)) = group.first() {
                    drop_operands(module, id, &group.iter().map(|&(_, n)| n).collect());
                }
            }
            infer_again(module);
        })
    },
};

fn drop_operands(module: &mut Module, id: InstrId, gone: &BTreeSet<usize>) {
    let operands = module[id].operands.to_vec();
    let n = operands.len();
    match module[id].op {
        // A comparator has two parameters for each operand.
        Op::Sort(_) if gone.len() < n => {
            let parameters: Vec<usize> = gone.iter().flat_map(|&k| [2 * k, 2 * k + 1]).collect();
            drop_parameters(module, id, &parameters);
            set_operands(module, id, gone);
            narrow_result(module, id, gone, n);
        }
        // The operands are the arrays, then as many initial values. The computation has the same parameters,
        // and a result for each array.
        Op::Reduce(_) | Op::ReduceWindow(_) if gone.len() < n / 2 => {
            let both: BTreeSet<usize> = gone.iter().flat_map(|&k| [k, n / 2 + k]).collect();
            let Some(&callee) = module[id].op.called_computations().first() else { return };
            let kept: Vec<usize> = (0..n / 2).filter(|k| !gone.contains(k)).collect();
            let root = module[callee].root();
            match kept.as_slice() {
                &[one] => {
                    if let Some(only) = element(module, root, one) {
                        module.set_root(callee, only);
                    }
                }
                kept => narrow_root(module, callee, kept),
            }
            drop_parameters(module, id, &both.iter().copied().collect::<Vec<_>>());
            set_operands(module, id, &both);
            narrow_result(module, id, gone, n / 2);
        }
        Op::Concatenate(_) if gone.len() < n => set_operands(module, id, gone),
        Op::AfterAll => set_operands(module, id, gone),
        _ => {}
    }
}

fn set_operands(module: &mut Module, id: InstrId, gone: &BTreeSet<usize>) {
    let operands = module[id].operands.clone();
    let left = operands.iter().enumerate().filter(|(n, _)| !gone.contains(n)).map(|(_, &o)| o);
    let left: Vec<InstrId> = left.collect();
    module.set_operands(id, left);
}

/// Removes parameters from the computation that `id` applies. Zeros replace their uses.
fn drop_parameters(module: &mut Module, id: InstrId, numbers: &[usize]) {
    let Some(&callee) = module[id].op.called_computations().first() else { return };
    let parameters = module.parameters(callee);
    let mut removed = Vec::new();
    for &p in numbers.iter().filter_map(|&n| parameters.get(n)) {
        let shape = module[p].shape.clone();
        let Some(zero) = zeros(module, callee, &shape) else { return };
        module.replace_all_uses_with(p, zero);
        removed.push(p);
    }
    remove_parameters(module, callee, &removed);
}

/// Removes results of an operation with `count` results. A tuple with one remaining element becomes that
/// array.
fn narrow_result(module: &mut Module, id: InstrId, gone: &BTreeSet<usize>, count: usize) {
    narrow(module, id, gone);
    let one = module[id].shape.as_tuple().and_then(|t| match t {
        [one] if count > 1 => Some(one.clone()),
        _ => None,
    });
    let Some(one) = one else { return };
    // The operation with one result returns an array instead of a tuple.
    module.set_shape(id, one);
    for user in module.users(id).to_vec() {
        if matches!(module[user].op, Op::GetTupleElement(_)) {
            module.replace_all_uses_with(user, id);
            module.remove(user);
        }
    }
}
