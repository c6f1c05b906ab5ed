//! What a module must be to run on one device: rules of execution, not of the language. A module that breaks one
//! of them is valid text, and passes may change it into one that runs.

use super::{Verifier, label};
use crate::attr::ReplicaGroups;
use crate::diag::Diag;
use crate::effects::Effects;
use crate::effects::effect::Effect;
use crate::rules::code;
use crate::{ArrayShape, InstrId, Module, Op, Packing, Shape};
use std::collections::HashMap;

/// Why a valid module can't run on one device, on which it is replica 0 and partition 0; empty if it can. Time and
/// memory are near linear in the module.
///
/// What [`Module::make_explicit`] changes must have been changed.
pub fn verify_execution(module: &Module) -> Vec<Diag> {
    let mut verifier = Verifier::new(module);
    verifier.check_bitcasts();
    verifier.check_device_counts();
    verifier.check_entry_storage();
    let effects = Effects::of(module);
    for c in module.computations() {
        for &i in module[c].instructions() {
            verifier.check_one_device(i);
            verifier.check_storage(i);
            verifier.check_host_transfer(i);
            verifier.check_sizes_outside(i);
            verifier.check_bound_here(i);
        }
        if effects.any(c) {
            verifier.check_infeed_order(c, &effects);
        }
    }
    verifier.finish()
}

/// How many devices a collective needs to mean what it says; 1 for every other instruction.
fn devices_needed(module: &Module, id: InstrId) -> i64 {
    let instr = &module[id];
    let named = match instr.op.effect() {
        Effect::Groups(g) => grouped(g.groups),
        Effect::Pairs { pairs, .. } => paired(pairs),
        Effect::None | Effect::State | Effect::Transfer { .. } | Effect::Asynchronous => 1,
    };
    let operands: Vec<&Shape> = instr.operands.iter().map(|&o| &module[o].shape).collect();
    let parts = |shape: &'_ Shape| shape.as_tuple().and_then(|t| t.get(1)).cloned();
    let implied = match &instr.op {
        Op::AllGather(_) => ratio(operands, vec![&instr.shape]),
        Op::AllGatherStart(_) => ratio(operands, parts(&instr.shape).iter().collect()),
        Op::ReduceScatter(_) => ratio(vec![&instr.shape], operands),
        Op::AllToAll(a) if a.dimensions.is_empty() => i64::try_from(operands.len()).unwrap_or(i64::MAX),
        _ => 1,
    };
    named.max(implied)
}

/// The devices that groups name: at least so many that the highest number is one of theirs.
fn grouped(groups: &ReplicaGroups) -> i64 {
    let highest = match groups {
        ReplicaGroups::Lists(lists) => lists.iter().flatten().copied().max(),
        ReplicaGroups::Iota { .. } => None,
        ReplicaGroups::Mesh { .. } => {
            groups.expand(1).ok().and_then(|groups| groups.into_iter().flatten().max())
        }
    };
    groups.device_count().unwrap_or(i64::MAX).max(highest.unwrap_or(0).saturating_add(1)).max(1)
}

fn paired(pairs: &[(i64, i64)]) -> i64 {
    let highest = pairs.iter().map(|&(source, target)| source.max(target)).max();
    highest.unwrap_or(0).saturating_add(1)
}

/// How often the elements of some shapes go into those of others, at most: a gathered array has those of all
/// devices.
fn ratio(parts: Vec<&Shape>, wholes: Vec<&Shape>) -> i64 {
    let counts = |shapes: Vec<&Shape>| -> Vec<i64> {
        let leaves = shapes.into_iter().flat_map(Shape::leaves);
        leaves.map(|l| l.as_array().and_then(|a| a.checked_element_count()).unwrap_or(0)).collect()
    };
    let pairs = counts(parts).into_iter().zip(counts(wholes));
    pairs.filter_map(|(part, whole)| whole.checked_div(part)).max().unwrap_or(1).max(1)
}

/// An array whose elements have a size in memory that can't be had here. (Tiles, padding, splits and memory spaces are
/// of an accelerator's memory: values don't depend on them.)
fn unstorable(shape: &Shape) -> Option<(&ArrayShape, i64)> {
    let array = shape.as_array()?;
    let bits = array.layout.as_ref()?.items()?.element_size_bits;
    let whole = bits == 0 || bits == 8 * array.element_type.byte_size() as i64;
    (!whole && Packing::of(array).is_none()).then_some((array, bits))
}

fn unstorable_message((array, bits): (&ArrayShape, i64)) -> String {
    format!(
        "{array} has elements of a size of their own, `E({bits})`: a program that runs here has arrays without"
    )
}

impl Verifier<'_> {
    fn check_device_counts(&mut self) {
        let header = &self.module.header;
        for (name, count) in
            [("replica_count", header.replica_count.0), ("num_partitions", header.num_partitions.0)]
        {
            if count > 1 {
                let message = format!("`{name}={count}` needs {count} devices; one is simulated");
                self.report_header(code::ONE_DEVICE, name, message);
            }
        }
    }

    fn check_one_device(&mut self, i: InstrId) {
        let needed = devices_needed(self.module, i);
        if needed > 1 {
            let message = format!("`{}` needs {needed} devices; one is simulated", self.module[i].op.name());
            self.report(code::ONE_DEVICE, i, message);
        }
    }

    fn check_storage(&mut self, i: InstrId) {
        if let Some(found) = self.module[i].shape.leaves().into_iter().find_map(unstorable) {
            self.report(code::STORAGE, i, unstorable_message(found));
        }
    }

    fn check_entry_storage(&mut self) {
        let Some(layout) = &self.module.header.entry_computation_layout else { return };
        let leaves = layout.parameters.iter().chain([&layout.result]).flat_map(Shape::leaves);
        if let Some(found) = leaves.into_iter().find_map(unstorable) {
            self.report_header(code::STORAGE, "entry_computation_layout", unstorable_message(found));
        }
    }

    fn check_bound_here(&mut self, i: InstrId) {
        if self.module.binds_operands_late(i) {
            let message = format!(
                "`{}` belongs to an operation whose operands are bound one after the other, not all in one computation",
                self.module[i].name
            );
            self.report(code::BOUND_ELSEWHERE, i, message);
        }
    }

    fn check_host_transfer(&mut self, i: InstrId) {
        if let Op::Send(a) | Op::Recv(a) = &self.module[i].op
            && a.is_host_transfer
        {
            let name = self.module[i].op.name();
            let other = if matches!(self.module[i].op, Op::Send(_)) { "outfeed" } else { "infeed" };
            let message = format!("`{name}` with the host needs a host program; `{other}` does without");
            self.report(code::HOST_TRANSFER, i, message);
        }
    }

    fn check_sizes_outside(&mut self, i: InstrId) {
        let module = self.module;
        let instr = &module[i];
        match &instr.op {
            Op::CustomCall(a) if a.forwards_operands() => return,
            Op::CustomCall(_) | Op::Infeed(_) | Op::Outfeed(_) | Op::Send(_) | Op::Recv(_) => {}
            _ => return,
        }
        let shapes = instr.operands.iter().map(|&o| &module[o].shape).chain([&instr.shape]);
        if let Some(shape) = shapes.into_iter().find(|s| !s.dynamic_dimensions().is_empty()) {
            let name = instr.op.name();
            let message =
                format!("`{name}` can't hand over sizes that are known at run time only, as in {shape}");
            self.report(code::SIZES_OUTSIDE, i, message);
        }
    }

    /// Of the instructions that read the infeed each must depend on the one before. That is so if a longest chain
    /// of them has them all: those with equally many before them on a chain are not ordered.
    fn check_infeed_order(&mut self, computation: crate::ComputationId, effects: &Effects) {
        let module = self.module;
        let instructions = module[computation].instructions();
        if instructions.iter().filter(|&&i| effects.infeeds(module, i)).nth(1).is_none() {
            return;
        }
        let mut before: HashMap<InstrId, usize> = HashMap::with_capacity(instructions.len());
        let mut at_place: HashMap<usize, InstrId> = HashMap::new();
        for i in module.dependency_order(computation) {
            let control = module[i].control_predecessors();
            let predecessors = module[i].operands.iter().chain(control);
            let place = predecessors.filter_map(|p| before.get(p)).max().copied().unwrap_or(0);
            if !effects.infeeds(module, i) {
                before.insert(i, place);
                continue;
            }
            before.insert(i, place + 1);
            if let Some(&other) = at_place.get(&place) {
                let (first, i) = (i.min(other), i.max(other));
                let message = format!(
                    "`{}` and `{}` read the infeed in no order: neither depends on the other",
                    module[first].name, module[i].name
                );
                let diag = self.report(code::INFEED_ORDER, i, message);
                label(diag, module.span(first), "this one may be first or second".to_string());
            }
            at_place.insert(place, i);
        }
    }
}
