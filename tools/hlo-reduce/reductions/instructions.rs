//! Removes instructions, or replaces them with something simpler.

use super::{Reduction, at_sites};
use crate::edit::{add_parameter, remove_parameters, remove_unused, zeros};
use hlo_ir::{InstrId, Module, Op, Shape};
use std::collections::HashSet;

/// Makes another instruction of the entry the result, so that instructions it does not need can be removed.
pub const ROOT: Reduction = Reduction {
    name: "results from the middle",
    changes_interface: true,
    grows: false,
    apply: |module, range| {
        let entry = module.entry();
        let sites = module.post_order(entry);
        // The last instruction of a range becomes the result.
        at_sites(module, range, sites, |module, chosen| {
            if let Some(&last) = chosen.last() {
                module.set_root(entry, last);
            }
        })
    },
};

/// Replaces instructions of the entry with parameters, so that the instructions that only they used can be
/// removed.
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

/// Whether a program can receive a value of the shape as a parameter.
fn has_values(shape: &Shape) -> bool {
    shape.leaves().iter().all(|leaf| matches!(leaf, Shape::Array(_)))
}

/// Replaces instructions with zeros.
pub const TO_ZERO: Reduction = Reduction {
    name: "zeros in place of instructions",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let sites: Vec<InstrId> = all_instructions(module).filter(|&i| !is_simple(module, i)).collect();
        at_sites(module, range, sites, |module, chosen| {
            replace(module, chosen, |module, id| {
                let (parent, shape) = (module[id].parent, module[id].shape.clone());
                zeros(module, parent, &shape)
            });
        })
    },
};

/// Whether zeros are not simpler than the instruction.
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

/// Replaces each instruction that has a use outside of `chosen` with the result of `make`, and removes the
/// instructions.
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

/// Replaces instructions with one of their operands of the same shape.
pub const TO_OPERAND: Reduction = Reduction {
    name: "operands in place of instructions",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let sites: Vec<(InstrId, usize)> = all_instructions(module)
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

/// Removes instructions that only have side effects.
pub const UNUSED: Reduction = Reduction {
    name: "side effects",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let sites: Vec<InstrId> = all_instructions(module)
            .filter(|&i| !module.is_used(i) && !matches!(module[i].op, Op::Parameter(_)))
            .collect();
        at_sites(module, range, sites, remove_unused)
    },
};

/// Removes unused parameters of the entry.
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

/// Returns the instructions of all computations, callers first.
fn all_instructions(module: &Module) -> impl Iterator<Item = InstrId> {
    module.computations_post_order().into_iter().rev().flat_map(|c| module.post_order(c))
}
