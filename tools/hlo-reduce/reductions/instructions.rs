//! Instructions that go, or are replaced by something simpler.

use super::{Reduction, at_sites};
use crate::edit::{add_parameter, remove_parameters, remove_unused, zeros};
use hlo_ir::{InstrId, Module, Op, Shape};
use std::collections::HashSet;

/// Another instruction of the entry becomes its result: what that one does not need goes.
pub const ROOT: Reduction = Reduction {
    name: "results from the middle",
    changes_interface: true,
    grows: false,
    apply: |module, range| {
        let entry = module.entry();
        let sites = module.post_order(entry);
        // Of a range its last one is left as the result.
        at_sites(module, range, sites, |module, chosen| {
            if let Some(&last) = chosen.last() {
                module.set_root(entry, last);
            }
        })
    },
};

/// Instructions of the entry become parameters: what only they needed goes.
pub const TO_PARAMETER: Reduction = Reduction {
    name: "parameters in place of instructions",
    changes_interface: true,
    grows: false,
    apply: |module, range| {
        let entry = module.entry();
        let sites: Vec<InstrId> = module
            .post_order(entry)
            .into_iter()
            .filter(|&i| !matches!(module[i].op, Op::Parameter(_)) && has_values(&module[i].shape))
            .collect();
        at_sites(module, range, sites, |module, chosen| {
            replace(module, chosen, |module, id| {
                let shape = module[id].shape.clone();
                Some(add_parameter(module, entry, &shape))
            });
        })
    },
};

/// True for values that a program is given.
fn has_values(shape: &Shape) -> bool {
    shape.leaves().iter().all(|leaf| matches!(leaf, Shape::Array(_)))
}

/// Instructions become zeros.
pub const TO_ZERO: Reduction = Reduction {
    name: "zeros in place of instructions",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let sites: Vec<InstrId> = everywhere(module).filter(|&i| !is_simple(module, i)).collect();
        at_sites(module, range, sites, |module, chosen| {
            replace(module, chosen, |module, id| {
                let (parent, shape) = (module[id].parent, module[id].shape.clone());
                zeros(module, parent, &shape)
            });
        })
    },
};

/// True for what zeros are no simpler than.
fn is_simple(module: &Module, id: InstrId) -> bool {
    let instr = &module[id];
    match &instr.op {
        Op::Parameter(_) => true,
        Op::Constant(_) => instr.shape.is_scalar(),
        Op::Broadcast(_) => instr
            .operands
            .iter()
            .all(|&o| matches!(module[o].op, Op::Constant(_)) && module[o].shape.is_scalar()),
        Op::AfterAll => instr.operands.is_empty(),
        _ => false,
    }
}

/// Replaces the uses of each that are not of another one by what `make` gives, and removes them.
fn replace(module: &mut Module, chosen: &[InstrId], make: impl Fn(&mut Module, InstrId) -> Option<InstrId>) {
    let all: HashSet<InstrId> = chosen.iter().copied().collect();
    for &id in chosen {
        let is_root = module.is_root(id);
        if (is_root || module.users(id).iter().any(|u| !all.contains(u)))
            && let Some(new) = make(module, id)
        {
            module.replace_all_uses_with(id, new);
        }
    }
    remove_unused(module, chosen);
}

/// Instructions become one of their operands of the same shape.
pub const TO_OPERAND: Reduction = Reduction {
    name: "operands in place of instructions",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let sites: Vec<(InstrId, usize)> = everywhere(module)
            .flat_map(|i| (0..module[i].operands.len()).map(move |n| (i, n)))
            .filter(|&(i, n)| {
                let operand = module[i].operands.get(n);
                operand.is_some_and(|&o| module[o].shape.compatible(&module[i].shape))
            })
            .collect();
        at_sites(module, range, sites, |module, chosen| {
            let mut replaced = HashSet::new();
            for &(id, n) in chosen {
                if let Some(&operand) = module[id].operands.get(n)
                    && replaced.insert(id)
                {
                    module.replace_all_uses_with(id, operand);
                }
            }
            let gone: Vec<InstrId> =
                chosen.iter().map(|&(id, _)| id).filter(|id| replaced.remove(id)).collect();
            remove_unused(module, &gone);
        })
    },
};

/// Instructions that are there for their side effects go.
pub const UNUSED: Reduction = Reduction {
    name: "side effects",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let sites: Vec<InstrId> = everywhere(module)
            .filter(|&i| !module.is_used(i) && !matches!(module[i].op, Op::Parameter(_)))
            .collect();
        at_sites(module, range, sites, remove_unused)
    },
};

/// Parameters of the entry that nothing uses go.
pub const PARAMETERS: Reduction = Reduction {
    name: "unused parameters",
    changes_interface: true,
    grows: false,
    apply: |module, range| {
        let entry = module.entry();
        let unused = |i: &InstrId| module.users(*i).is_empty() && module[entry].root() != *i;
        let sites: Vec<InstrId> = module.parameters(entry).into_iter().filter(unused).collect();
        at_sites(module, range, sites, |module, chosen| remove_parameters(module, entry, chosen))
    },
};

/// The instructions of all computations, callers first.
fn everywhere(module: &Module) -> impl Iterator<Item = InstrId> {
    module.computations_post_order().into_iter().rev().flat_map(|c| module.post_order(c))
}
