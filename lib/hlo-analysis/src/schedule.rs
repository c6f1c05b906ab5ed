//! Scheduling: finds the order of a computation's instructions that needs the least memory at its peak.
//!
//! The scheduler tries three orders: the post-order; depth first, starting with the operands that need the
//! most memory; and a list schedule that always runs the instruction that frees the most memory next. It
//! selects the one with the lowest peak, and the first of them if several are equal. All three keep the order
//! of effects and control dependencies. Where the operands allow it, instructions that read a value also run
//! before an instruction that may update the value in place, which makes the in-place update possible.

pub(crate) mod graph;

use crate::{ModuleLiveness, Roles};
use graph::Graph;
use hlo_ir::effects::Effects;
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::HashMap;

/// Returns the orders of the computations that run as a whole: the schedule of a scheduled module, or else
/// the orders that need the least memory.
pub fn schedule(module: &Module, effects: &Effects, roles: &Roles) -> HashMap<ComputationId, Vec<InstrId>> {
    if module.header.is_scheduled {
        return roles.run.iter().map(|&c| (c, effects.order(module, c))).collect();
    }
    let liveness = ModuleLiveness::of_orders(module, roles, |module, c, called| {
        let nodes = effects.order(module, c);
        if roles.run.contains(&c) {
            Graph::new(module, c, nodes, effects, roles, called).best()
        } else {
            nodes
        }
    });
    liveness.into_orders().filter(|(c, _)| roles.run.contains(c)).collect()
}

/// Returns the order of one computation alone, whatever its role.
pub fn schedule_alone(
    module: &Module,
    computation: ComputationId,
    effects: &Effects,
    roles: &Roles,
) -> Vec<InstrId> {
    let nodes = effects.order(module, computation);
    if module.header.is_scheduled {
        nodes
    } else {
        Graph::new(module, computation, nodes, effects, roles, &|_| 0).best()
    }
}
