//! Arrays that are written by updates and are allocated in host memory.

use super::{Offloader, compute_on_host};
use crate::support::host_memory::{
    DEVICE, HOST, Part, calls_target, forwards_operands, move_part, part_shape, places, set_space, space,
};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Shape};
use hlo_passes::support::constants::splat;
use std::collections::{HashSet, VecDeque};

/// The target of a call that returns an uninitialized array.
const ALLOCATE: &str = "AllocateBuffer";

impl Offloader {
    /// Allocates the operand of a `MoveToHost` in host memory, if it is a buffer that is only written.
    pub(super) fn begin_in_host(&self, module: &mut Module, id: InstrId, operand: InstrId) {
        if module.users(operand).len() != 1 || module.is_root(operand) {
            return;
        }
        if calls_target(module, operand, ALLOCATE) {
            move_part(module, &(operand, Vec::new()), HOST);
            return;
        }
        let &[user] = module.users(id) else { return };
        let updated = matches!(module[user].op, Op::DynamicUpdateSlice)
            && places(module, user, id).eq([0])
            && !module.is_root(id);
        if updated && self.is_unread(module, operand) {
            let buffer = self.add_buffer(module, operand);
            module.replace_operand(id, 0, buffer);
        }
    }

    /// Decides in which memory the collected updates run. Returns whether anything changed.
    pub(super) fn update(&mut self, module: &mut Module) -> Result<bool, Diag> {
        let mut changed = false;
        for (id, annotated) in std::mem::take(&mut self.updates) {
            let [into, written, ..] = module[id].operands[..] else { continue };
            let host = |id: InstrId| space(module, id) == Some(HOST);
            match (host(into), host(written)) {
                (into_host, true) => {
                    self.check_compute(module, id)?;
                    compute_on_host(module, id);
                    if into_host {
                        move_part(module, &(id, Vec::new()), HOST);
                    }
                }
                (true, false) => self.allocate(module, id)?,
                (false, false) if annotated => self.allocate(module, id)?,
                (false, false) => continue,
            }
            changed = true;
        }
        Ok(changed)
    }

    /// Checks whether a broadcast may be replaced by an uninitialized buffer, because its elements are zero
    /// or will be overwritten.
    fn is_unread(&self, module: &Module, id: InstrId) -> bool {
        let zeros = || {
            let scalar = module[id].operands.first().and_then(|&o| splat(module, o));
            scalar.is_some_and(|(_, bytes)| bytes.iter().all(|&b| b == 0))
        };
        matches!(module[id].op, Op::Broadcast(_)) && (self.settings.overwritten || zeros())
    }

    /// Adds a buffer in host memory with the shape of another array.
    fn add_buffer(&self, module: &mut Module, like: InstrId) -> InstrId {
        let mut shape = module[like].shape.clone();
        set_space(&mut shape, HOST);
        self.add(module, like, shape, Op::custom_call(ALLOCATE), &[])
    }

    /// Places the buffer that an update writes to in host memory, starting at the broadcast or buffer that it
    /// begins as.
    fn allocate(&mut self, module: &mut Module, update: InstrId) -> Result<(), Diag> {
        if self.allocated.contains(&update) {
            return Ok(());
        }
        let mut found = false;
        let mut seen = HashSet::new();
        // Each part with the part that uses it as an operand.
        let mut work: VecDeque<(Part, Option<Part>)> = VecDeque::from([((update, Vec::new()), None)]);
        while let Some((part, user)) = work.pop_front() {
            if !seen.insert(part.clone()) {
                continue;
            }
            let (id, index) = &part;
            match (&module[*id].op, user) {
                (Op::Broadcast(_), Some(user)) => {
                    found = true;
                    self.begin(module, &part, &user);
                    continue;
                }
                (Op::CustomCall(_), Some(user)) if calls_target(module, *id, ALLOCATE) => {
                    self.take_buffer(module, &part, &user);
                    return Ok(());
                }
                (Op::Parameter(p), _) if module[*id].parent == module.entry() => {
                    let number = usize::try_from(p.number).ok();
                    let shape = number.and_then(|n| self.layout.parameters.get(n));
                    let shape = index.iter().try_fold(shape, |s, &i| Some(s?.as_tuple()?.get(i))).flatten();
                    let there = shape.and_then(Shape::as_array).is_some_and(|a| a.memory_space() == HOST);
                    if !there {
                        return Err(self.not_a_buffer(module, update, *id));
                    }
                    move_part(module, &part, HOST);
                    return Ok(());
                }
                _ => {}
            }
            move_part(module, &part, HOST);
            let op = &module[*id].op;
            if !forwards_operands(op) && !matches!(op, Op::DynamicUpdateSlice | Op::Copy) {
                return Ok(());
            }
            if matches!(op, Op::DynamicUpdateSlice) {
                self.allocated.insert(*id);
            }
            if matches!(op, Op::Parameter(_)) {
                self.enter_conditions(module, &part)?;
            }
            let before = self.flow.predecessors(module, &part, None);
            work.extend(before.into_iter().map(|p| (p, Some(part.clone()))));
        }
        if found { Ok(()) } else { Err(self.not_a_buffer(module, update, update)) }
    }

    /// Returns the diagnostic for an update in host memory whose buffer begins on the device.
    fn not_a_buffer(&self, module: &Module, update: InstrId, begins: InstrId) -> Diag {
        let name = &module[update].name;
        Diag::error(format!(
            "`{name}` writes into the host's memory, but what it writes into does not begin as a broadcast"
        ))
        .at(module.span(update), "what is written here is moved to the host")
        .and(module.span(begins), "this lies on the device")
    }

    /// Replaces the broadcast that an update's buffer begins as by memory of the host.
    fn begin(&mut self, module: &mut Module, (broadcast, _): &Part, (user, index): &Part) {
        let alone = module.users(*broadcast).len() == 1 && !module.is_root(*broadcast);
        let copied = alone && matches!(module[*user].op, Op::Copy) && module.users(*user).len() == 1;
        let buffer = if self.is_unread(module, *broadcast) {
            self.add_buffer(module, *broadcast)
        } else if matches!(module[*user].op, Op::Copy) {
            // There is already a copy to host memory.
            return;
        } else {
            self.add_copy(module, *broadcast, HOST)
        };
        if copied && self.is_unread(module, *broadcast) {
            module.replace_all_uses_with(*user, buffer);
            self.gone.extend([*broadcast, *user]);
            return;
        }
        match (&module[*user].op, index.first()) {
            (Op::Tuple, Some(&n)) => module.replace_operand(*user, n, buffer),
            (Op::DynamicUpdateSlice, _) => module.replace_operand(*user, 0, buffer),
            (Op::Parameter(_), _) => {
                for caller in self.flow.callers(module[*user].parent).to_vec() {
                    module.replace_operands(caller, *broadcast, buffer);
                }
            }
            _ if module.is_root(*broadcast) => module.set_root(module[*broadcast].parent, buffer),
            _ => module.replace_operands(*user, *broadcast, buffer),
        }
        self.gone.push(*broadcast);
    }

    /// Moves an existing buffer to host memory. If another instruction needs it on the device, the update
    /// gets its own buffer.
    fn take_buffer(&mut self, module: &mut Module, part: &Part, (user, index): &Part) {
        let elsewhere = self.flow.successors(module, part).into_iter().any(|next| {
            let array = part_shape(module, &next).and_then(Shape::as_array);
            array.is_some_and(|a| a.memory_space() == DEVICE)
        });
        if !elsewhere {
            move_part(module, part, HOST);
            return;
        }
        let buffer = self.add_buffer(module, part.0);
        match (&module[*user].op, index.first()) {
            (Op::Tuple, Some(&n)) => module.replace_operand(*user, n, buffer),
            (Op::Parameter(_), _) => {
                for caller in self.flow.callers(module[*user].parent).to_vec() {
                    module.replace_operands(caller, part.0, buffer);
                }
            }
            _ => module.replace_operands(*user, part.0, buffer),
        }
    }

    /// Places the state that a loop's condition receives in the same memory as in the body.
    fn enter_conditions(&self, module: &mut Module, (id, index): &Part) -> Result<(), Diag> {
        let callers = self.flow.callers(module[*id].parent).to_vec();
        for caller in callers {
            let Op::While(a) = &module[caller].op else { continue };
            if a.body != module[*id].parent {
                continue;
            }
            let state = module.parameters(a.condition).first().copied();
            let mut work: Vec<Part> = state.into_iter().map(|p| (p, index.clone())).collect();
            let mut seen = HashSet::new();
            while let Some(part) = work.pop() {
                if !seen.insert(part.clone()) {
                    continue;
                }
                if !forwards_operands(&module[part.0].op) {
                    let name = &module[part.0].name;
                    return Err(Diag::error(format!(
                        "`{name}`, in the condition of a loop, computes with a value in the host's memory"
                    ))
                    .at(module.span(part.0), "this is not on the device"));
                }
                move_part(module, &part, HOST);
                work.extend(self.flow.successors(module, &part));
            }
        }
        Ok(())
    }
}
