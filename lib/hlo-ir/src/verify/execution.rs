//! Checks whether a module can run here. These rules concern execution, not the language: a module that
//! violates one is valid, and passes may turn it into one that can run.

use super::{Verifier, label};
use crate::devices::{self, DeviceCounts, MAX_DEVICES};
use crate::diag::Diag;
use crate::effects::Effects;
use crate::effects::effect::Effect;
use crate::rules::code;
use crate::{ArrayShape, InstrId, Module, Op, Packing, Shape};
use std::collections::HashMap;

/// Returns the reasons why a valid module cannot run on the devices that its header counts; empty if it can.
/// Time and memory are almost linear in the module and, for each collective, in the number of devices.
///
/// Call [`Module::make_explicit`] first.
pub fn verify_execution(module: &Module) -> Vec<Diag> {
    let mut verifier = Verifier::new(module);
    verifier.check_bitcasts();
    let counts = verifier.check_device_counts();
    verifier.check_entry_storage();
    let effects = Effects::of(module);
    for c in module.computations() {
        for &i in module[c].instructions() {
            if let Some(counts) = counts {
                verifier.check_collective(i, counts);
            }
            verifier.check_slices(i);
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

/// Returns the group size that a collective requires according to the shapes of its operands and result;
/// `None` if any size is valid.
fn implied_group_size(module: &Module, id: InstrId) -> Option<i64> {
    let instr = &module[id];
    let operands: Vec<&Shape> = instr.operands.iter().map(|&o| &module[o].shape).collect();
    let part = |shape: &'_ Shape| shape.as_tuple().and_then(|t| t.get(1)).cloned();
    match &instr.op {
        Op::AllGather(_) => ratio(operands, vec![&instr.shape]),
        Op::AllGatherStart(_) => ratio(operands, part(&instr.shape).iter().collect()),
        Op::ReduceScatter(_) => ratio(vec![&instr.shape], operands),
        Op::AllToAll(a) if a.dimensions.is_empty() => i64::try_from(operands.len()).ok(),
        _ => None,
    }
}

/// Returns the size that the group size of a collective must divide, because each device receives an equal
/// part.
fn divided(module: &Module, id: InstrId) -> Option<i64> {
    let instr = &module[id];
    match &instr.op {
        Op::AllToAll(a) => {
            let d = usize::try_from(*a.dimensions.first()?).ok()?;
            module[*instr.operands.first()?].shape.as_array()?.dims.get(d).copied()
        }
        Op::RaggedAllToAll(_) => module[*instr.operands.get(2)?].shape.as_array()?.dims.first().copied(),
        _ => None,
    }
}

/// Returns the largest ratio of the element counts of `wholes` to those of `parts`. For a gather, this is the
/// number of devices. Returns `None` if there are no elements.
fn ratio(parts: Vec<&Shape>, wholes: Vec<&Shape>) -> Option<i64> {
    let counts = |shapes: Vec<&Shape>| -> Vec<i64> {
        let leaves = shapes.into_iter().flat_map(Shape::leaves);
        leaves.map(|l| l.as_array().and_then(|a| a.checked_element_count()).unwrap_or(0)).collect()
    };
    let pairs = counts(parts).into_iter().zip(counts(wholes));
    pairs.filter_map(|(part, whole)| whole.checked_div(part)).max()
}

/// Returns the number of devices that a collective names, and the header attribute that counts them.
fn devices_named(op: &Op) -> Option<(&'static str, i64)> {
    let (of_partitions, devices) = match op.effect() {
        Effect::Groups(g) => (g.channel.is_some() && g.global != Some(false), g.groups.device_count()?),
        Effect::Pairs { pairs, channel, .. } => {
            let last = pairs.iter().map(|&(source, target)| source.max(target)).max()?;
            (channel.is_some(), last.checked_add(1)?)
        }
        _ => return None,
    };
    Some((if of_partitions { "num_partitions" } else { "replica_count" }, devices))
}

/// Describes the devices: `1 device`, `4 replicas`, `2 replicas with 3 partitions each`.
fn described(counts: DeviceCounts) -> String {
    match (counts.replicas, counts.partitions) {
        (1, 1) => "1 device".into(),
        (1, p) => format!("{p} partitions"),
        (r, 1) => format!("{r} replicas"),
        (r, p) => format!("{r} replicas with {p} partitions each"),
    }
}

/// Returns the array and its element size in bits, if that size is not supported here. (Tiles, padding,
/// splits and memory spaces describe an accelerator's memory and do not affect values.)
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
    /// Returns the device counts of the program, or reports that they are not supported.
    fn check_device_counts(&mut self) -> Option<DeviceCounts> {
        let header = &self.module.header;
        let counts = DeviceCounts::of(self.module);
        if counts.is_none() {
            let (replicas, partitions) = (header.replica_count.0, header.num_partitions.0);
            let name = if replicas > 1 { "replica_count" } else { "num_partitions" };
            let message = format!(
                "{replicas} replicas with {partitions} partitions each are not 1 to {MAX_DEVICES} devices"
            );
            self.report_header(code::DEVICES, name, message);
        }
        counts
    }

    /// Checks that a collective is meaningful for the given number of devices.
    fn check_collective(&mut self, i: InstrId, counts: DeviceCounts) {
        let module = self.module;
        let op = &module[i].op;
        let (all, found) = match op.effect() {
            Effect::Groups(g) => (g.all, devices::groups(module, i, counts)),
            Effect::Pairs { .. } => (false, devices::groups(module, i, counts)),
            Effect::Transfer { host: false, .. } => {
                (false, devices::transfer_pairs(module, i, counts).map(|_| Vec::new()))
            }
            _ => return,
        };
        let message = match found {
            Err(message) => message,
            Ok(groups) => match self.misfit(i, &groups, all.then_some(counts)) {
                Some(message) => message,
                None => return,
            },
        };
        let message = format!("`{}`: {message}; the program runs on {}", op.name(), described(counts));
        let needed = devices_named(op).filter(|&(_, n)| n > 1 && counts.devices() == 1);
        let diag = self.report(code::DEVICES, i, message);
        if let Some((what, n)) = needed {
            let option = if what == "replica_count" { "--num-replicas" } else { "--num-partitions" };
            let note = format!(
                "it names {n} devices: run it with `{option}={n}`, or write `{what}={n}` in the header"
            );
            diag.notes.push(note);
        }
    }

    /// Checks that a permute of slices reads from one array and writes to one.
    fn check_slices(&mut self, i: InstrId) {
        let module = self.module;
        let (Op::CollectivePermute(a) | Op::CollectivePermuteStart(a)) = &module[i].op else { return };
        let mut arrays = module[i].operands.iter().take(2).map(|&o| &module[o].shape);
        if let Some(several) = arrays.find(|s| s.is_tuple() && !a.slice_sizes.0.is_empty()) {
            let message = format!(
                "`{}` of slices reads from one array and writes to one, found {several}",
                module[i].op.name()
            );
            self.report(code::SLICES_OF_ONE, i, message);
        }
    }

    /// Returns an error message if groups do not fit the shapes of a collective or lack a required device.
    fn misfit(&self, i: InstrId, groups: &[Vec<usize>], all: Option<DeviceCounts>) -> Option<String> {
        if let Some(counts) = all {
            let grouped = groups.iter().flatten().count();
            if grouped != counts.devices() {
                let missing = (0..counts.devices()).find(|d| !groups.iter().any(|g| g.contains(d)));
                return Some(format!("device {} is in no group", missing.unwrap_or(grouped)));
            }
        }
        let size = |group: &Vec<usize>| group.len() as i64;
        if let Some(implied) = implied_group_size(self.module, i)
            && let Some(other) = groups.iter().map(size).find(|&n| n != implied)
        {
            return Some(format!("its shapes need groups of {implied}, found a group of {other}"));
        }
        let divided = divided(self.module, i)?;
        let other = groups.iter().map(size).find(|&n| n == 0 || divided % n != 0)?;
        Some(format!("{divided} pieces can't be dealt out to the {other} devices of a group"))
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

    /// Checks that each instruction that reads the infeed depends on the previous one. This holds if the
    /// longest dependency chain of such instructions contains all of them: two instructions at the same
    /// position in a chain are not ordered.
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
