//! Paths of values in host memory, one instruction at a time.

use crate::support::host_memory::{Flow, MOVE_TO_DEVICE, MOVE_TO_HOST, calls_target, moved, places};
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::constants::splat;
use std::collections::HashSet;

/// An instruction whose value is on the host, or the index of the element of its value that is.
pub(super) type ValueLocation = (InstrId, Option<usize>);

/// The paths of values through a module.
pub(super) struct Paths {
    pub(super) flow: Flow,
}

impl Paths {
    /// Returns where the buffer of an update begins. For any other instruction, returns the instruction
    /// itself. Returns `None` if the beginning is unknown, or if another update writes a value to the buffer
    /// that is not moved to the host.
    pub(super) fn top(&self, module: &Module, start: InstrId) -> Option<ValueLocation> {
        let mut at = (start, None);
        if !matches!(module[start].op, Op::DynamicUpdateSlice) {
            return Some(at);
        }
        let mut seen = HashSet::from([at]);
        loop {
            let above = self.up(module, at)?;
            if above == at {
                return Some(at);
            }
            if !seen.insert(above) {
                return None;
            }
            at = above;
            if matches!(module[at.0].op, Op::DynamicUpdateSlice) {
                move_before(module, *module[at.0].operands.get(1)?)?;
            }
        }
    }

    /// Returns the place one instruction up, or the same place at the beginning of the path.
    fn up(&self, module: &Module, (id, index): ValueLocation) -> Option<ValueLocation> {
        let instr = &module[id];
        let first = || instr.operands.first().copied();
        match &instr.op {
            Op::GetTupleElement(a) => Some((first()?, Some(usize::try_from(a.index).ok()?))),
            Op::Bitcast | Op::Reshape(_) | Op::Copy | Op::OptBarrier | Op::DynamicUpdateSlice => {
                Some((first()?, index))
            }
            Op::Tuple => Some((*instr.operands.get(index?)?, None)),
            Op::While(a) => module.has_root(a.body).then(|| (module[a.body].root(), index)),
            Op::Parameter(_) if instr.parent == module.entry() => Some((id, index)),
            Op::Parameter(_) => {
                let &[caller] = self.flow.callers(instr.parent) else { return None };
                let state = matches!(module[caller].op, Op::While(_));
                state.then(|| module[caller].operands.first().map(|&o| (o, index)))?
            }
            Op::CustomCall(_) => {
                let begins =
                    calls_target(module, id, "AllocateBuffer") || moved(module, id, MOVE_TO_HOST).is_some();
                begins.then_some((id, index))
            }
            Op::Broadcast(_) => splat(module, first()?).map(|_| (id, index)),
            _ => None,
        }
    }

    /// Returns the places one instruction down, or `None` if the value reaches an instruction that the
    /// analysis does not support.
    pub(super) fn down(&self, module: &Module, (id, index): ValueLocation) -> Option<Vec<ValueLocation>> {
        let instr = &module[id];
        if module.users(id).is_empty() && module.is_root(id) && instr.parent != module.entry() {
            let &[caller] = self.flow.callers(instr.parent) else { return None };
            let state = matches!(module[caller].op, Op::While(_));
            return state.then(|| elements(module, caller, index?))?;
        }
        if matches!(instr.op, Op::Parameter(_)) && instr.shape.is_tuple() {
            return elements(module, id, index?);
        }
        let mut out = Vec::new();
        for &user in module.users(id) {
            match &module[user].op {
                Op::GetTupleElement(a) => {
                    if usize::try_from(a.index).ok() == index {
                        out.push((user, None));
                    }
                }
                Op::Tuple => {
                    let mut places = places(module, user, id);
                    let (place, None) = (places.next()?, places.next()) else { return None };
                    out.push((user, Some(place)));
                }
                Op::While(a) => out.push((module.parameters(a.body).first().copied()?, index)),
                Op::DynamicUpdateSlice => {
                    if places(module, user, id).next() != Some(0) {
                        return None;
                    }
                    out.push((user, index));
                }
                Op::CustomCall(_) => {
                    moved(module, user, MOVE_TO_DEVICE)?;
                    out.push((user, index));
                }
                Op::OptBarrier
                | Op::Bitcast
                | Op::Copy
                | Op::DynamicSlice(_)
                | Op::Reshape(_)
                | Op::Slice(_) => {
                    out.push((user, index));
                }
                // The host's computation accepts any layout.
                Op::AsyncStart(a) if a.async_execution_thread.as_ref().is_some_and(|t| *t == "host") => {}
                _ => return None,
            }
        }
        Some(out)
    }
}

/// Returns the instructions that read an element of a tuple, or `None` if the tuple has other uses.
fn elements(module: &Module, id: InstrId, index: usize) -> Option<Vec<ValueLocation>> {
    let mut out = Vec::new();
    for &user in module.users(id) {
        let Op::GetTupleElement(a) = &module[user].op else { return None };
        if usize::try_from(a.index) == Ok(index) {
            out.push((user, None));
        }
    }
    Some(out)
}

/// Returns the update that a value reaches through bitcasts, reshapes and copies only.
pub(super) fn update_after(module: &Module, mut id: InstrId) -> Option<InstrId> {
    loop {
        match (&module[id].op, module.users(id)) {
            (Op::DynamicUpdateSlice, _) => return Some(id),
            (Op::Bitcast | Op::Reshape(_) | Op::Copy, &[user]) => id = user,
            _ => return None,
        }
    }
}

/// Returns the `MoveToHost` that a value comes from through bitcasts, reshapes and copies only.
pub(super) fn move_before(module: &Module, mut id: InstrId) -> Option<InstrId> {
    while moved(module, id, MOVE_TO_HOST).is_none() {
        let (Op::Bitcast | Op::Copy | Op::Reshape(_), &[operand]) =
            (&module[id].op, &module[id].operands[..])
        else {
            return None;
        };
        if module.users(operand).len() != 1 {
            return None;
        }
        id = operand;
    }
    Some(id)
}

/// Returns the `MoveToDevice` that a value reaches through slices, bitcasts, reshapes and copies only.
pub(super) fn move_after(module: &Module, mut id: InstrId) -> Option<InstrId> {
    while moved(module, id, MOVE_TO_DEVICE).is_none() {
        let cut = matches!(
            module[id].op,
            Op::Bitcast | Op::Reshape(_) | Op::Copy | Op::Slice(_) | Op::DynamicSlice(_)
        );
        match module.users(id) {
            &[user] if cut => id = user,
            _ => return None,
        }
    }
    Some(id)
}
