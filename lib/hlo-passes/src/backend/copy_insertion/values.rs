//! The values of a computation: who reads them, and whose they are.

use hlo_analysis::{BufferKind, Buffers, is_alias};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};

/// The values of a computation. A value is a leaf of what an instruction makes.
pub(super) struct Values {
    buffers: Buffers,
    readers: Vec<Vec<InstrId>>,
    result: HashSet<usize>,
    /// The places of instructions in an order in which operands come first. A copy is where that is which it was added for.
    position: HashMap<InstrId, usize>,
    /// True if the parameters are the computation's to change.
    owns_parameters: bool,
}

/// So many instructions are looked at to find out what runs before one; beyond that nothing is known to.
const MAX_SEARCH: usize = 4096;

impl Values {
    pub(super) fn of(module: &Module, computation: ComputationId, owns_parameters: bool) -> Self {
        let order = module.post_order(computation);
        let buffers = Buffers::values(module, &order);
        let mut readers = vec![Vec::new(); buffers.list().len()];
        for &id in module[computation].instructions() {
            if is_alias(module, id) {
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
        let position = order.into_iter().enumerate().map(|(n, i)| (i, n)).collect();
        Self { buffers, readers, result, position, owns_parameters }
    }

    /// Notes that copies, `added` in order, are operands of `id` now, which read the values `before` until then.
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

    /// The values of the leaves of a result.
    pub(super) fn leaves(&self, id: InstrId) -> &[usize] {
        self.buffers.leaves(id)
    }

    /// What is where the results go: see [`Buffers::destinations`].
    pub(super) fn destinations(
        &self,
        module: &Module,
        computation: ComputationId,
        is_body: bool,
    ) -> Vec<Option<usize>> {
        self.buffers.destinations(module, computation, is_body)
    }

    /// The instructions that read a value, but for those that only give it another name.
    pub(super) fn readers(&self, value: usize) -> &[InstrId] {
        self.readers.get(value).map_or(&[], Vec::as_slice)
    }

    /// The instruction that makes a value.
    pub(super) fn maker(&self, value: usize) -> InstrId {
        self.buffers.list()[value].instruction
    }

    /// The leaf of the maker's result that a value is.
    pub(super) fn leaf(&self, value: usize) -> usize {
        self.buffers.list()[value].leaf
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

    /// Those of some instructions that run before `id` whatever the order, as far as a short search finds them.
    pub(super) fn before(&self, module: &Module, id: InstrId, some: &[InstrId]) -> HashSet<InstrId> {
        let mut wanted: HashSet<InstrId> = some.iter().copied().filter(|&i| i != id).collect();
        let mut found = HashSet::new();
        let place = |i: &InstrId| self.position.get(i).copied();
        // What leads from one of them to `id` comes after it.
        let first = wanted.iter().map(|i| place(i).unwrap_or(0)).min().unwrap_or(0);
        let mut seen = HashSet::new();
        let mut stack = vec![id];
        while let Some(at) = stack.pop() {
            if wanted.is_empty() || seen.len() > MAX_SEARCH {
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
