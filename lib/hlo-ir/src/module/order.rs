//! The orders in which a module's computations and instructions are visited and printed: XLA's.

use crate::{ComputationId, InstrId, Module};
use std::collections::{HashMap, HashSet};

/// Where a walk stands with an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Visit {
    #[default]
    New,
    /// Its predecessors are on the stack above it.
    Open,
    Done,
}

/// The states of a computation's instructions: an array where their ids are close together, as they are after
/// parsing, else a map.
enum Visits {
    Array { first: usize, states: Vec<Visit> },
    Map(HashMap<InstrId, Visit>),
}

impl Visits {
    fn new(instructions: &[InstrId]) -> Self {
        let first = instructions.iter().map(|i| i.index()).min().unwrap_or(0);
        let end = instructions.iter().map(|i| i.index() + 1).max().unwrap_or(0);
        if end - first <= 4 * instructions.len() + 64 {
            Visits::Array { first, states: vec![Visit::New; end - first] }
        } else {
            Visits::Map(HashMap::with_capacity(instructions.len()))
        }
    }

    fn get(&self, id: InstrId) -> Visit {
        match self {
            Visits::Array { first, states } => {
                // What is of another computation is not visited: the verifier reports it.
                id.index().checked_sub(*first).and_then(|i| states.get(i)).copied().unwrap_or(Visit::Done)
            }
            Visits::Map(states) => states.get(&id).copied().unwrap_or_default(),
        }
    }

    fn set(&mut self, id: InstrId, state: Visit) {
        match self {
            Visits::Array { first, states } => {
                if let Some(s) = id.index().checked_sub(*first).and_then(|i| states.get_mut(i)) {
                    *s = state;
                }
            }
            Visits::Map(states) => {
                states.insert(id, state);
            }
        }
    }
}

impl Module {
    /// The instructions of a computation with operands and control predecessors before their users. In a
    /// scheduled module it is the schedule, else [`Module::dependency_order`].
    pub fn post_order(&self, id: ComputationId) -> Vec<InstrId> {
        if self.header.is_scheduled {
            return self[id].instructions().to_vec();
        }
        self.dependency_order(id)
    }

    /// The instructions of a computation in XLA's post-order, whether there is a schedule or not. It starts from
    /// each instruction without users in list order, and takes the control predecessors (the last first), then
    /// the operands (the first first). Linear in the number of operands.
    pub fn dependency_order(&self, id: ComputationId) -> Vec<InstrId> {
        let instructions = self[id].instructions();
        let mut visits = Visits::new(instructions);
        let mut out = Vec::with_capacity(instructions.len());
        let mut stack = Vec::new();
        let unused = instructions.iter().copied().filter(|&i| self.users(i).is_empty());
        // A cycle, which the verifier reports, has no instruction without users: whatever is left comes last.
        for start in unused.chain(instructions.iter().copied()) {
            if visits.get(start) != Visit::New {
                continue;
            }
            stack.push(start);
            // Each instruction opens once, so that each operand is pushed once.
            while let Some(&at) = stack.last() {
                match visits.get(at) {
                    Visit::New => {
                        visits.set(at, Visit::Open);
                        let i = &self[at];
                        let control = i.control_predecessors();
                        let before = i.operands.iter().rev().chain(control).copied();
                        stack
                            .extend(before.filter(|&p| self[p].parent == id && visits.get(p) != Visit::Done));
                    }
                    Visit::Open => {
                        visits.set(at, Visit::Done);
                        out.push(at);
                        stack.pop();
                    }
                    Visit::Done => {
                        stack.pop();
                    }
                }
            }
        }
        out
    }

    /// The live computations in the order in which they were complete: one whose body stands in the text of
    /// another comes before that.
    pub fn completion_order(&self) -> Vec<ComputationId> {
        let mut order: Vec<ComputationId> = self.computations().collect();
        let last = |c: ComputationId| self[c].instructions().iter().max().copied();
        order.sort_by_cached_key(|&c| (last(c), c));
        order
    }

    /// The live computations with callees before callers, in XLA's order: each computation that none calls (the
    /// entry is one) in the order in which they were complete, after those that it needs.
    pub fn computations_post_order(&self) -> Vec<ComputationId> {
        let callees: HashMap<ComputationId, Vec<ComputationId>> =
            self.computations().map(|c| (c, self.callees(c))).collect();
        let called: HashSet<ComputationId> = callees.values().flatten().copied().collect();
        let mut done = HashSet::new();
        let mut out = Vec::new();
        let all = self.completion_order();
        let roots = all.iter().filter(|c| !called.contains(c));
        // A cycle, which the verifier reports, has no computation without callers: it comes last.
        for &start in roots.chain(&all) {
            if !done.insert(start) {
                continue;
            }
            let mut stack = vec![(start, 0)];
            while let Some((at, next)) = stack.last_mut() {
                match callees.get(at).and_then(|c| c.get(*next)) {
                    Some(&callee) => {
                        *next += 1;
                        if self.is_live_computation(callee) && done.insert(callee) {
                            stack.push((callee, 0));
                        }
                    }
                    None => {
                        out.push(*at);
                        stack.pop();
                    }
                }
            }
        }
        out
    }

    /// The computations that the instructions of `id` name, each once, in post-order of the instructions. Of a
    /// `while` the body comes first, as in XLA. (XLA goes by the order in the text, so that what it prints may
    /// print in another order when it is read back; where the text is in post-order, both are the same.)
    pub fn callees(&self, id: ComputationId) -> Vec<ComputationId> {
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for i in self.post_order(id) {
            let mut called = self[i].op.called_computations();
            if let crate::Op::While(_) = self[i].op {
                called.reverse();
            }
            out.extend(called.into_iter().filter(|&c| seen.insert(c)));
        }
        out
    }
}
