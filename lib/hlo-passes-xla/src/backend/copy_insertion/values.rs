//! The values of a computation, with their readers and owners.

use hlo_analysis::{BufferKind, Buffers, is_alias};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};

/// The values of a computation. A value is one leaf of an instruction's result.
pub(super) struct Values {
    buffers: Buffers,
    readers: Vec<Vec<InstrId>>,
    result: HashSet<usize>,
    /// The position of each instruction in an order with operands before users. An added copy gets the
    /// position of the instruction that it was added for.
    position: HashMap<InstrId, usize>,
    /// Whether the computation may change its parameters.
    owns_parameters: bool,
}

/// Maximum number of instructions that are visited to find those that run before an instruction.
const MAX_SEARCH_VISITS: usize = 4096;

impl Values {
    pub(super) fn of(module: &Module, computation: ComputationId, owns_parameters: bool) -> Self {
        let order = module.post_order(computation);
        let buffers = Buffers::values(module, &order);
        let mut readers = vec![Vec::new(); buffers.list().len()];
        for &id in module[computation].instructions() {
            if is_alias(module, id) {
                continue;
            }
            // An all-reduce reads its operands until its `all-reduce-done`.
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
        let position = order.into_iter().enumerate().map(|(n, i)| (i, n)).collect();
        Self { buffers, readers, result, position, owns_parameters }
    }

    /// Updates the readers after copies became operands of `id`. `added` contains the new instructions in
    /// order, and `before` the values that `id` read previously.
    pub(super) fn note_copies(&mut self, module: &Module, id: InstrId, before: &[usize], added: &[InstrId]) {
        self.buffers.add(module, added);
        self.readers.resize_with(self.buffers.list().len(), Vec::new);
        let place = self.position.get(&id).copied();
        for &copy in added {
            self.position.extend(place.map(|n| (copy, n)));
            if !is_alias(module, copy) {
                for &value in module[copy].operands.iter().flat_map(|&o| self.buffers.leaves(o)) {
                    self.readers[value].push(copy);
                }
            }
        }
        let operands = module[id].operands.iter();
        let now: HashSet<usize> = operands.flat_map(|&o| self.buffers.leaves(o)).copied().collect();
        let before: HashSet<usize> = before.iter().copied().collect();
        for &value in before.difference(&now) {
            self.readers[value].retain(|r| *r != id);
        }
        for &value in now.difference(&before) {
            self.readers[value].push(id);
        }
    }

    /// Returns the values of the leaves of a result.
    pub(super) fn leaves(&self, id: InstrId) -> &[usize] {
        self.buffers.leaves(id)
    }

    /// Returns the values whose memory the results are written to. See [`Buffers::destinations`].
    pub(super) fn destinations(
        &self,
        module: &Module,
        computation: ComputationId,
        is_body: bool,
    ) -> Vec<Option<usize>> {
        self.buffers.destinations(module, computation, is_body)
    }

    /// Returns the instructions that read a value, without those that only rename it.
    pub(super) fn readers(&self, value: usize) -> &[InstrId] {
        self.readers.get(value).map_or(&[], Vec::as_slice)
    }

    /// Returns the instruction that makes a value.
    pub(super) fn defining_instruction(&self, value: usize) -> InstrId {
        self.buffers.list()[value].instruction
    }

    /// Returns the index of a value among the leaves of its maker's result.
    pub(super) fn leaf(&self, value: usize) -> usize {
        self.buffers.list()[value].leaf
    }

    /// Checks whether the value is part of the computation's result.
    pub(super) fn in_result(&self, value: usize) -> bool {
        self.result.contains(&value)
    }

    /// Checks whether the computation may overwrite the value.
    pub(super) fn is_own(&self, value: usize) -> bool {
        match self.buffers.list()[value].kind {
            BufferKind::Temporary => true,
            BufferKind::Parameter => self.owns_parameters,
            BufferKind::Constant => false,
        }
    }

    /// Checks whether the computation makes the value.
    pub(super) fn is_defined_here(&self, value: usize) -> bool {
        self.buffers.list()[value].kind == BufferKind::Temporary
    }

    /// Returns the instructions of `some` that run before `id` in every possible order. The search is
    /// limited, so the result may be incomplete.
    pub(super) fn before(&self, module: &Module, id: InstrId, some: &[InstrId]) -> HashSet<InstrId> {
        let mut wanted: HashSet<InstrId> = some.iter().copied().filter(|&i| i != id).collect();
        let mut found = HashSet::new();
        let place = |i: &InstrId| self.position.get(i).copied();
        // Every path from one of them to `id` consists of instructions after `first`.
        let first = wanted.iter().map(|i| place(i).unwrap_or(0)).min().unwrap_or(0);
        let mut seen = HashSet::new();
        let mut stack = vec![id];
        while let Some(at) = stack.pop() {
            if wanted.is_empty() || seen.len() > MAX_SEARCH_VISITS {
                break;
            }
            let control = module[at].control_predecessors();
            for &p in module[at].operands.iter().chain(control) {
                if place(&p).is_some_and(|n| n < first) || !seen.insert(p) {
                    continue;
                }
                if wanted.remove(&p) {
                    found.insert(p);
                }
                stack.push(p);
            }
        }
        found
    }
}
