//! Values that are written to the memory of an operand: the state of loops, results that are aliased to
//! operands, and results of computations with a fixed destination. If that memory is still needed, or the
//! computation may not overwrite it, the value gets a buffer of its own, because a copy is needed.

use crate::buffers::{Buffer, BufferKind, Buffers};
use crate::in_place::{self, InPlace};
use crate::leaves::first_leaf_at;
use crate::{Invariants, Roles, is_alias};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl Buffers {
    /// Finds the buffers of a computation that runs in the given order.
    pub fn in_order(module: &Module, computation: ComputationId, order: &[InstrId], roles: &Roles) -> Self {
        let mut out = Self::values(module, order);
        let destinations = out.destinations(module, computation, roles.owns_parameters(computation));
        let owned = destinations.into_iter().flatten().collect();
        let joined = out.joined(module, computation, order, &owned);
        out.join(&joined);
        out
    }

    /// Returns the values in whose memory the results must be stored: for a body, its state; for the entry,
    /// the parameters whose memory results share.
    pub fn destinations(
        &self,
        module: &Module,
        computation: ComputationId,
        is_body: bool,
    ) -> Vec<Option<usize>> {
        if !module.has_root(computation) {
            return Vec::new();
        }
        let root = module[computation].root();
        let parameters = module.parameters(computation);
        let mut destinations = vec![None; self.leaves(root).len()];
        if let (true, &[state]) = (is_body, &parameters[..]) {
            for (destination, &value) in destinations.iter_mut().zip(self.leaves(state)) {
                *destination = Some(value);
            }
        }
        if module.entry_if_set() != Some(computation) {
            return destinations;
        }
        for alias in &module.header.input_output_alias {
            let parameter = usize::try_from(alias.parameter).ok().and_then(|n| parameters.get(n)).copied();
            let output = first_leaf_at(&module[root].shape, &alias.output);
            let place = parameter
                .and_then(|p| first_leaf_at(&module[p].shape, &alias.parameter_index).map(|n| (p, n)));
            if let (Some(output), Some((parameter, leaf))) = (output, place)
                && let (Some(destination), Some(&value)) =
                    (destinations.get_mut(output), self.leaves(parameter).get(leaf))
            {
                *destination = Some(value);
            }
        }
        destinations
    }

    /// Returns for each value that overwrites another value, that other value. A value may be overwritten if
    /// nothing reads it later and it is either a temporary or one of `owned`.
    fn joined(
        &self,
        module: &Module,
        computation: ComputationId,
        order: &[InstrId],
        owned: &HashSet<usize>,
    ) -> HashMap<usize, usize> {
        let (mut joined, mut memories) = (HashMap::new(), HashSet::new());
        let writes = |&i: &InstrId| matches!(module[i].op, Op::While(_) | Op::Fusion(_) | Op::CustomCall(_));
        if !order.iter().any(writes) {
            return joined;
        }
        let mut invariants = Invariants::default();
        let read = self.last_reads(module, computation, order);
        for (at, &id) in order.iter().enumerate() {
            let written = in_place::aliased(module, id, &mut invariants);
            if written.is_empty() {
                continue;
            }
            let places: HashSet<(usize, usize)> = written.iter().map(|w| (w.operand, w.leaf)).collect();
            // The values that the instruction also reads elsewhere, and the values that are already
            // overwritten.
            let mut needed: HashSet<usize> = HashSet::new();
            for (operand, &o) in module[id].operands.iter().enumerate() {
                let rest = self.leaves(o).iter().enumerate();
                needed.extend(rest.filter(|(leaf, _)| !places.contains(&(operand, *leaf))).map(|(_, &b)| b));
            }
            for InPlace { operand, leaf, result } in written {
                let argument = module[id].operands.get(operand).map_or(&[][..], |&o| self.leaves(o));
                let (Some(&from), Some(&to)) = (argument.get(leaf), self.leaves(id).get(result)) else {
                    continue;
                };
                let memory = joined.get(&from).copied().unwrap_or(from);
                let own = self.list[memory].kind == BufferKind::Temporary || owned.contains(&memory);
                let read_later = read.get(from).is_none_or(|&last| last > at);
                // In an invalid order, a value may be overwritten before it is defined.
                let in_order = to != memory && !memories.contains(&to) && !joined.contains_key(&to);
                if own && !read_later && in_order && needed.insert(from) {
                    memories.insert(memory);
                    joined.insert(to, memory);
                }
            }
        }
        joined
    }

    /// Returns the position of the last read of each value. For results this is one past the end of the
    /// order.
    fn last_reads(&self, module: &Module, computation: ComputationId, order: &[InstrId]) -> Vec<usize> {
        let mut out = vec![0; self.list.len()];
        for (at, &id) in order.iter().enumerate() {
            // An alias is not a read. Only the reads through it are.
            if !is_alias(module, id) {
                module[id].operands.iter().flat_map(|&o| self.leaves(o)).for_each(|&b| out[b] = at);
            }
        }
        if module.has_root(computation) {
            self.leaves(module[computation].root()).iter().for_each(|&b| out[b] = order.len());
        }
        out
    }

    /// Merges each value with the buffer that it overwrites.
    fn join(&mut self, joined: &HashMap<usize, usize>) {
        if joined.is_empty() {
            return;
        }
        let mut place = Vec::with_capacity(self.list.len());
        let mut list: Vec<Buffer> = Vec::with_capacity(self.list.len());
        for (n, buffer) in std::mem::take(&mut self.list).into_iter().enumerate() {
            place.push(list.len());
            if !joined.contains_key(&n) {
                list.push(buffer);
            }
        }
        for (&to, &memory) in joined {
            place[to] = place[memory];
        }
        self.list = list;
        // Instructions that shared a list still share it afterwards.
        let mut done: HashMap<*const usize, Rc<[usize]>> = HashMap::new();
        for leaves in self.of.values_mut().filter(|l| !l.is_empty()) {
            let new = done
                .entry(leaves.as_ptr())
                .or_insert_with(|| leaves.iter().map(|&b| place[b]).collect::<Vec<_>>().into());
            *leaves = Rc::clone(new);
        }
    }

    /// Adds memory for the results that must be copies: parameters, constants, and values that occur in
    /// several results. A result that is already in its destination needs no copy. Returns the new buffers.
    pub(crate) fn add_results(
        &mut self,
        module: &Module,
        computation: ComputationId,
        roles: &Roles,
    ) -> std::ops::Range<usize> {
        let first = self.list.len();
        if !module.has_root(computation)
            || !roles.run.contains(&computation)
            || roles.is_condition(computation)
        {
            return first..first;
        }
        let root = module[computation].root();
        let destinations = self.destinations(module, computation, roles.owns_parameters(computation));
        let mut seen: HashSet<usize> = HashSet::new();
        let leaves: Vec<usize> = self.leaves(root).to_vec();
        for (leaf, value) in leaves.into_iter().enumerate() {
            let Some(&Buffer { bytes, kind, .. }) = self.list.get(value) else { continue };
            let in_place = destinations.get(leaf) == Some(&Some(value));
            let own = kind == BufferKind::Temporary && seen.insert(value);
            if bytes > 0 && !in_place && !own {
                self.list.push(Buffer { instruction: root, leaf, bytes, kind: BufferKind::Temporary });
            }
        }
        first..self.list.len()
    }
}
