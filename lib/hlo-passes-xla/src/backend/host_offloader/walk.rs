//! Follows a value from its move to the host to its move back.

use super::{Offloader, compute_on_host};
use crate::support::host_memory::{
    DEVICE, HOST, MOVE_TO_DEVICE, MOVE_TO_HOST, Part, calls_target, forwards_operands, is_bitcast, move_part,
    moved, part_shape, places, shape_part,
};
use hlo_ir::attr::{DynamicSliceAttrs, SliceDim};
use hlo_ir::diag::Diag;
use hlo_ir::{ElementType, InstrId, Literal, Module, Op, Shape};
use hlo_passes::support::constants::integer_bytes;
use hlo_passes::support::rewrite::same_layout;
use std::collections::{HashSet, VecDeque};

/// The instructions found on the path of a value.
#[derive(Default)]
struct HostPath {
    /// The values to place in host memory.
    host: Vec<Part>,
    /// Moves to the host of values that are already there.
    idle: Vec<InstrId>,
    /// Moves to the device.
    ends: Vec<InstrId>,
    /// Slices that move a part of the value to the device.
    slices: Vec<InstrId>,
    /// The instructions that the host has to compute.
    computed: Vec<InstrId>,
}

impl Offloader {
    /// Replaces a move to the host by copies and memory spaces. Returns whether it had not been replaced
    /// before.
    pub(super) fn move_to_host(&mut self, module: &mut Module, id: InstrId) -> Result<bool, Diag> {
        let Some(operand) = moved(module, id, MOVE_TO_HOST) else { return Ok(false) };
        if self.done.contains(&id) {
            return Ok(false);
        }
        self.begin_in_host(module, id, operand);
        let starts = self.starts(module, id);
        if starts.is_empty() && module.is_root(id) && module[id].parent == module.entry() {
            let copy = self.add_copy(module, operand, HOST);
            module.replace_all_uses_with(id, copy);
        }
        for start in starts {
            let update = matches!(module[start.0].op, Op::DynamicUpdateSlice);
            let mut operands: Vec<Option<usize>> = places(module, start.0, id).map(Some).collect();
            if operands.is_empty() {
                operands.push(None);
            }
            for operand in operands {
                self.walk(module, &start, (!update).then_some(operand))?;
            }
        }
        self.done.insert(id);
        let operand = module[id].operands[0];
        module.replace_all_uses_with(id, operand);
        self.gone.push(id);
        Ok(true)
    }

    /// Returns the uses at which the value of a move to the host first appears in host memory, looking
    /// through bitcasts, copies and reshapes.
    fn starts(&self, module: &Module, id: InstrId) -> Vec<Part> {
        let mut out = Vec::new();
        let mut seen = HashSet::new();
        let mut work = VecDeque::from(self.flow.successors(module, &(id, Vec::new())));
        while let Some(part) = work.pop_front() {
            if !seen.insert(part.clone()) {
                continue;
            }
            match &module[part.0].op {
                Op::Bitcast | Op::Copy => work.extend(self.flow.successors(module, &part)),
                Op::Reshape(_) if is_bitcast(module, part.0) => {
                    work.extend(self.flow.successors(module, &part));
                }
                _ => out.push(part),
            }
        }
        out
    }

    /// Follows a value in host memory from `start` and places everything that it is passed on to in host
    /// memory. With `copy_before`, it first copies the operand with that number to the host. Returns whether
    /// anything changed.
    pub(super) fn walk(
        &mut self,
        module: &mut Module,
        start: &Part,
        copy_before: Option<Option<usize>>,
    ) -> Result<bool, Diag> {
        let found = self.follow(module, start)?;
        let mut changed = false;
        for part in &found.host {
            changed |= move_part(module, part, HOST);
        }
        for &id in &found.computed {
            compute_on_host(module, id);
            changed = true;
        }
        if let Some(operand) = copy_before {
            for before in self.flow.predecessors(module, start, operand) {
                changed |= self.copy_between(module, before.0, start);
            }
        }
        for &end in &found.ends {
            let Some(operand) = moved(module, end, MOVE_TO_DEVICE) else { continue };
            if self.to_device.contains(&operand) {
                continue;
            }
            let copy = self.add_copy(module, operand, DEVICE);
            self.to_device.insert(copy);
            // The move stays until the end of the pass, because other paths may end there too.
            module.replace_operand(end, 0, copy);
            changed = true;
        }
        for &id in &found.idle {
            let operand = module[id].operands[0];
            module.replace_all_uses_with(id, operand);
            self.gone.push(id);
            changed = true;
        }
        for &id in &found.slices {
            changed |= self.make_dynamic(module, id);
        }
        Ok(changed)
    }

    /// Finds the instructions that a value in host memory is passed on to.
    fn follow(&mut self, module: &Module, start: &Part) -> Result<HostPath, Diag> {
        let mut found = HostPath::default();
        let mut seen = HashSet::new();
        let mut work = VecDeque::from([start.clone()]);
        while let Some(part) = work.pop_front() {
            let (id, index) = &part;
            if !seen.insert(part.clone()) || self.to_device.contains(id) {
                continue;
            }
            let mut lies_there = true;
            let mut computes = false;
            match &module[*id].op {
                Op::CustomCall(_) if moved(module, *id, MOVE_TO_HOST).is_some() => {
                    self.done.insert(*id);
                    found.idle.push(*id);
                }
                Op::CustomCall(_) if moved(module, *id, MOVE_TO_DEVICE).is_some() => {
                    found.ends.push(*id);
                    continue;
                }
                Op::DynamicUpdateSlice => {
                    // The memory of an update depends on both of its operands and is decided at the end.
                    lies_there = false;
                    let annotated = *id == start.0;
                    match self.updates.iter_mut().find(|(update, _)| update == id) {
                        Some((_, known)) => *known |= annotated,
                        None => self.updates.push((*id, annotated)),
                    }
                }
                // The parameters of its computation determine the memory of its operands.
                Op::AsyncStart(_) => lies_there = false,
                Op::AsyncDone(_) => {
                    if let Some(&start) = module[*id].operands.first() {
                        found.host.push((start, [&[1], &index[..]].concat()));
                    }
                }
                Op::Parameter(p) => {
                    let starts = self.flow.callers(module[*id].parent).iter();
                    for &caller in starts.filter(|&&c| matches!(module[c].op, Op::AsyncStart(_))) {
                        let number = usize::try_from(p.number).unwrap_or(usize::MAX);
                        found.host.push((caller, [&[0, number], &index[..]].concat()));
                    }
                }
                op if forwards_operands(op) => {}
                Op::DynamicSlice(_) | Op::Slice(_) => {
                    let strided =
                        matches!(&module[*id].op, Op::Slice(a) if a.slice.iter().any(|d| d.stride != 1));
                    if !strided && self.leads_to_device(module, *id) {
                        if matches!(module[*id].op, Op::Slice(_)) {
                            found.slices.push(*id);
                        }
                        continue;
                    }
                    computes = true;
                }
                Op::Copy => {
                    let shape = |id: InstrId| &module[id].shape;
                    computes =
                        module[*id].operands.first().is_some_and(|&o| same_layout(shape(o), shape(*id)));
                }
                _ => computes = true,
            }
            if computes {
                self.check_compute(module, *id)?;
                found.computed.push(*id);
            }
            if lies_there {
                found.host.push(part.clone());
            }
            if module.is_root(*id) && module[*id].parent == module.entry() {
                self.check_result(module, &part, start.0)?;
                continue;
            }
            work.extend(self.flow.successors(module, &part).into_iter().filter(|next| {
                let array = part_shape(module, next).and_then(Shape::as_array);
                array.is_none_or(|a| a.memory_space() != HOST)
            }));
        }
        Ok(found)
    }

    /// Returns an error if the host is not allowed to compute.
    pub(super) fn check_compute(&self, module: &Module, id: InstrId) -> Result<(), Diag> {
        let copies = self.settings.copies && matches!(module[id].op, Op::Copy);
        if self.settings.compute || copies {
            return Ok(());
        }
        let name = &module[id].name;
        Err(Diag::error(format!("`{name}` computes with a value in the host's memory"))
            .at(module.span(id), "this is not on the device")
            .note("move its operands to the device first, or let the host compute (`host-compute=true`)"))
    }

    /// Returns an error if a result of the entry is in host memory but the module's layout places it
    /// elsewhere.
    fn check_result(&self, module: &Module, (id, index): &Part, start: InstrId) -> Result<(), Diag> {
        let shape = shape_part(&self.layout.result, index);
        let there =
            |s: &Shape| s.leaves().iter().all(|l| l.as_array().is_none_or(|a| a.memory_space() == HOST));
        if shape.is_some_and(there) {
            return Ok(());
        }
        let place: String = index.iter().map(|i| format!(" element {i} of")).collect();
        let error = Diag::error(format!(
            "what is moved to the host is{place} the program's result, which lies in the device's memory"
        ))
        .at(module.span(*id), "it comes to the result here")
        .note("`entry_computation_layout` says where results lie: `S(5)` is the host's memory");
        Err(if start == *id {
            error
        } else {
            error.and(module.span(start), "it is on the host from here on")
        })
    }

    /// Checks whether all values derived from a slice are moved to the device before anything is computed
    /// from them.
    fn leads_to_device(&self, module: &Module, id: InstrId) -> bool {
        let mut seen = HashSet::new();
        let mut work = VecDeque::from(self.flow.successors(module, &(id, Vec::new())));
        while let Some(part) = work.pop_front() {
            if !seen.insert(part.clone()) || calls_target(module, part.0, MOVE_TO_DEVICE) {
                continue;
            }
            let allowed = match &module[part.0].op {
                Op::Reduce(_) => keeps_dimensions(module, part.0),
                Op::Reshape(_) => is_bitcast(module, part.0),
                op => matches!(
                    op,
                    Op::Bitcast
                        | Op::Copy
                        | Op::Tuple
                        | Op::OptBarrier
                        | Op::GetTupleElement(_)
                        | Op::Parameter(_)
                        | Op::While(_)
                ),
            };
            if !allowed {
                return false;
            }
            work.extend(self.flow.successors(module, &part));
        }
        true
    }

    /// Copies `before` to the host for its use at `after`. If `after` is a parameter, the callers of its
    /// computation use the copy. If `before` is the result of its computation, the copy becomes that result.
    fn copy_between(&mut self, module: &mut Module, before: InstrId, after: &Part) -> bool {
        let leaves = module[before].shape.leaves();
        if leaves.iter().filter_map(|l| l.as_array()).all(|a| a.memory_space() == HOST) {
            return false;
        }
        let copy = match self.copies.get(&before) {
            Some(&copy) => copy,
            None => {
                let copy = self.add_copy(module, before, HOST);
                self.copies.insert(before, copy);
                copy
            }
        };
        let users: Vec<InstrId> = match &module[after.0].op {
            Op::Parameter(_) => self.flow.callers(module[after.0].parent).to_vec(),
            _ => vec![after.0],
        };
        for &user in &users {
            module.replace_operands(user, before, copy);
        }
        let parent = module[before].parent;
        if module.is_root(before) && self.flow.callers(parent).iter().any(|c| users.contains(c)) {
            module.set_root(parent, copy);
        }
        true
    }

    /// Replaces a `slice` by a `dynamic-slice`, the form of a transfer between memories. Returns whether this
    /// was possible.
    fn make_dynamic(&mut self, module: &mut Module, id: InstrId) -> bool {
        let Op::Slice(a) = &module[id].op else { return false };
        let dims = a.slice.clone();
        let Some(&operand) = module[id].operands.first() else { return false };
        if self.pinned.contains(&id) {
            return false;
        }
        let narrow = dims.iter().all(|d| i32::try_from(d.start).is_ok());
        let ty = if narrow { ElementType::S32 } else { ElementType::S64 };
        let start = |d: &SliceDim| Literal::scalar_from_bytes(ty, &integer_bytes(ty, d.start)?);
        let Some(starts) = dims.iter().map(start).collect::<Option<Vec<Literal>>>() else { return false };
        let mut operands = vec![operand];
        for start in starts {
            operands.push(self.add(module, id, Shape::scalar(ty), Op::constant(start), &[]));
        }
        let sizes = dims.iter().map(|d| d.limit - d.start).collect();
        let attrs = DynamicSliceAttrs { dynamic_slice_sizes: sizes };
        let shape = module[id].shape.clone();
        let new = self.add(module, id, shape, Op::DynamicSlice(attrs), &operands);
        module.replace_all_uses_with(id, new);
        self.gone.push(id);
        true
    }
}

/// Checks whether a reduction only removes dimensions of size 1.
fn keeps_dimensions(module: &Module, id: InstrId) -> bool {
    let real = |s: &Shape| s.as_array().map(|a| a.dims.iter().filter(|&&d| d != 1).count());
    let operand = module[id].operands.first().and_then(|&o| real(&module[o].shape));
    operand.is_some() && operand == real(&module[id].shape)
}
