//! The values of a computation: who reads them, and whose they are.

use crate::analysis::{BufferKind, Buffers};
use hlo_ir::{ComputationId, Family, InstrId, Module, Op};
use std::collections::HashSet;

/// The values of a computation. A value is a leaf of what an instruction makes.
pub(super) struct Values {
    buffers: Buffers,
    readers: Vec<Vec<InstrId>>,
    result: HashSet<usize>,
    /// True if the parameters are the computation's to change.
    owns_parameters: bool,
}

impl Values {
    pub(super) fn of(module: &Module, computation: ComputationId, owns_parameters: bool) -> Self {
        let buffers = Buffers::values(module, computation);
        let mut readers = vec![Vec::new(); buffers.list().len()];
        for &id in module[computation].instructions() {
            if is_name(&module[id].op) {
                continue;
            }
            // What an all-reduce reads it reads until its end.
            let ends = match module[id].op {
                Op::AllReduceStart(_) => module.users(id),
                _ => &[],
            };
            for &value in module[id].operands.iter().flat_map(|&o| buffers.leaves(o)) {
                if readers[value].last() != Some(&id) {
                    readers[value].extend(ends.iter().chain([&id]));
                }
            }
        }
        let result = buffers.leaves(module[computation].root()).iter().copied().collect();
        Self { buffers, readers, result, owns_parameters }
    }

    /// The values of the leaves of a result.
    pub(super) fn leaves(&self, id: InstrId) -> &[usize] {
        self.buffers.leaves(id)
    }

    /// The instructions that read a value, but for those that only give it another name.
    pub(super) fn readers(&self, value: usize) -> &[InstrId] {
        self.readers.get(value).map_or(&[], Vec::as_slice)
    }

    /// The instruction that makes a value.
    pub(super) fn maker(&self, value: usize) -> InstrId {
        self.buffers.list()[value].instruction
    }

    /// True if the value is part of the computation's result.
    pub(super) fn in_result(&self, value: usize) -> bool {
        self.result.contains(&value)
    }

    /// True if the computation may write over the value.
    pub(super) fn is_own(&self, value: usize) -> bool {
        match self.buffers.list()[value].kind {
            BufferKind::Temporary => true,
            BufferKind::Parameter => self.owns_parameters,
            BufferKind::Constant => false,
        }
    }

    /// True if the computation makes the value.
    pub(super) fn is_made(&self, value: usize) -> bool {
        self.buffers.list()[value].kind == BufferKind::Temporary
    }

    /// The instructions that run before one whatever the order.
    pub(super) fn before(&self, module: &Module, id: InstrId) -> HashSet<InstrId> {
        let mut seen = HashSet::new();
        let mut stack = vec![id];
        while let Some(at) = stack.pop() {
            let control = module[at].common.as_deref().map_or(&[][..], |c| &c.control_predecessors);
            let needs = module[at].operands.iter().chain(control).copied();
            stack.extend(needs.filter(|p| seen.insert(*p)));
        }
        seen
    }
}

/// True for what only gives another name to values.
fn is_name(op: &Op) -> bool {
    matches!(
        op,
        Op::Tuple | Op::GetTupleElement(_) | Op::Bitcast | Op::AddDependency | Op::Domain(_) | Op::OptBarrier
    )
}

/// True if the instruction that makes `result` may write it where it reads `value`: a loop that changes it in place, or
/// what reads an array of the size of its result element by element.
pub(super) fn is_made_in_place(module: &Module, result: usize, value: usize, values: &Values) -> bool {
    let made = &values.buffers.list()[result];
    let instr = &module[made.instruction];
    if let Op::While(_) = instr.op {
        let initial = instr.operands.first().map_or(&[][..], |&init| values.leaves(init));
        return initial.get(made.leaf) == Some(&value);
    }
    if instr.opcode().family() != Family::Elementwise {
        return false;
    }
    instr.operands.iter().all(|&o| {
        let operand = values.leaves(o).contains(&value);
        !operand || module[o].shape == instr.shape
    })
}
