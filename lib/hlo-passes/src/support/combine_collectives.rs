//! Combines several collectives with one operand each into one with several operands.

use crate::pass_info::{OptionInfo, OptionValue};
use crate::rewrites::Rewrites;
use crate::support::effects::control_dependent;
use crate::support::while_loop::add_element;
use hlo_ir::attr::ReplicaGroups;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;

/// The options of the combiners.
pub static THRESHOLDS: &[OptionInfo] = &[
    OptionInfo {
        name: "bytes",
        summary: "maximum bytes of the results of a combined collective",
        default: OptionValue::Count(1024),
    },
    OptionInfo {
        name: "count",
        summary: "maximum number of collectives to combine into one",
        default: OptionValue::Count(1024),
    },
];

/// The limits on one combined collective.
#[derive(Clone, Copy)]
pub struct Thresholds {
    /// The maximum number of bytes of the results.
    pub bytes: u64,
    /// The maximum number of collectives to combine.
    pub count: u64,
}

/// Combines collectives that do not depend on each other. `is_one` selects the collectives, and `agree`
/// returns whether two of them may be combined.
pub fn combine(
    module: &mut Module,
    thresholds: Thresholds,
    is_one: impl Fn(&Module, InstrId) -> bool,
    agree: impl Fn(&Module, InstrId, InstrId) -> bool,
    rewrites: &mut Rewrites,
) -> bool {
    let pinned = control_dependent(module);
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        let is_one = |i: InstrId| is_one(module, i) && module[i].operands.len() == 1 && !pinned.contains(&i);
        let mut groups: Vec<Vec<InstrId>> = Vec::new();
        for level in levels(module, c, is_one) {
            // Only collectives with the same devices are compared.
            let mut of_devices: HashMap<Option<&ReplicaGroups>, Vec<usize>> = HashMap::new();
            for id in level {
                let known = of_devices.entry(devices(module, id)).or_default();
                match known.iter().copied().find(|&g| agree(module, groups[g][0], id)) {
                    Some(group) => groups[group].push(id),
                    None => {
                        known.push(groups.len());
                        groups.push(vec![id]);
                    }
                }
            }
        }
        let mut gone = Vec::new();
        let parts: Vec<Vec<InstrId>> = groups.iter().flat_map(|g| split(module, g, thresholds)).collect();
        for part in parts {
            if part.len() > 1 && rewrites.allowed() {
                rewrites.made("combine", &module[part[0]].name);
                merge(module, &part);
                gone.extend(part);
            }
        }
        module.remove_all(&gone);
        changed |= !gone.is_empty();
    }
    changed
}

/// Returns the groups of devices of a collective.
fn devices(module: &Module, id: InstrId) -> Option<&ReplicaGroups> {
    match &module[id].op {
        Op::AllGather(a) => Some(&a.replica_groups),
        Op::AllReduce(a) => Some(&a.replica_groups),
        _ => None,
    }
}

/// Groups the wanted instructions of a computation by the number of wanted instructions on the longest path
/// to each. The instructions of a level do not depend on each other, even after instructions of other levels
/// are combined.
fn levels(
    module: &Module,
    computation: ComputationId,
    wanted: impl Fn(InstrId) -> bool,
) -> Vec<Vec<InstrId>> {
    let mut level: HashMap<InstrId, usize> = HashMap::new();
    let mut out: Vec<Vec<InstrId>> = Vec::new();
    for id in module.post_order(computation) {
        let control = module[id].control_predecessors();
        let before = module[id].operands.iter().chain(control);
        let at = before.filter_map(|p| level.get(p)).copied().max().unwrap_or(0);
        let found = wanted(id);
        if found {
            if out.len() <= at {
                out.resize(at + 1, Vec::new());
            }
            out[at].push(id);
        }
        level.insert(id, at + usize::from(found));
    }
    out
}

/// Splits a group that exceeds the thresholds.
fn split(module: &Module, group: &[InstrId], thresholds: Thresholds) -> Vec<Vec<InstrId>> {
    let mut out: Vec<Vec<InstrId>> = Vec::new();
    let mut bytes = 0u64;
    for &id in group {
        let own = module[id].shape.byte_size() as u64;
        bytes = bytes.saturating_add(own);
        match out.last_mut() {
            Some(part) if bytes <= thresholds.bytes && (part.len() as u64) < thresholds.count => {
                part.push(id)
            }
            _ => {
                out.push(vec![id]);
                bytes = own;
            }
        }
    }
    out
}

/// Combines several instructions. Uses of each become uses of an element of the result.
fn merge(module: &mut Module, part: &[InstrId]) {
    let Some(&first) = part.first() else { return };
    let operands: Vec<InstrId> = part.iter().flat_map(|&i| module[i].operands.iter().copied()).collect();
    let shape = Shape::Tuple(part.iter().map(|&i| module[i].shape.clone()).collect());
    let op = module[first].op.clone();
    let all = module.add_like(first, shape, op, operands);
    for (n, &id) in part.iter().enumerate() {
        let shape = module[id].shape.clone();
        let element = add_element(module, all, n, shape);
        module.copy_provenance(id, element);
        module.replace_all_uses_with(id, element);
    }
}
