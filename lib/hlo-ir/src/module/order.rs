//! The orders in which a module's computations and instructions are visited and printed, which are XLA's.

use crate::{ComputationId, InstrId, Module};
use std::collections::{HashMap, HashSet};

/// The state of an instruction in a traversal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Visit {
    #[default]
    New,
    /// The predecessors of the instruction are above it on the stack.
    Open,
    Done,
}

/// The states of a computation's instructions. An array if the range of ids is small, as it is after parsing,
/// and otherwise a map.
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
                // An instruction of another computation is not visited. The verifier reports it.
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
    /// Returns the instructions of a computation with operands and control predecessors before their users.
    /// In a scheduled module it is the schedule, and otherwise [`Module::dependency_order`].
    pub fn post_order(&self, id: ComputationId) -> Vec<InstrId> {
        if self.header.is_scheduled {
            return self[id].instructions().to_vec();
        }
        self.dependency_order(id)
    }

    /// Returns the instructions of a computation in XLA's post-order, even if there is a schedule. Starts
    /// from each instruction without users in list order. Visits the control predecessors in reverse order,
    /// then the operands in order. Takes time linear in the number of operands.
    pub fn dependency_order(&self, id: ComputationId) -> Vec<InstrId> {
        let instructions = self[id].instructions();
        let mut visits = Visits::new(instructions);
        let mut out = Vec::with_capacity(instructions.len());
        let mut stack = Vec::new();
        let unused = instructions.iter().copied().filter(|&i| self.users(i).is_empty());
        // A cycle, which the verifier reports, has no instruction without users. The remaining instructions
        // come last.
        for start in unused.chain(instructions.iter().copied()) {
            if visits.get(start) != Visit::New {
                continue;
            }
            stack.push(start);
            // Each instruction is opened once, so each operand is pushed once.
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

    /// Returns the live computations in the order in which they were completed. A computation whose body is
    /// inside the text of another one precedes it.
    pub fn completion_order(&self) -> Vec<ComputationId> {
        let mut order: Vec<ComputationId> = self.computations().collect();
        let last = |c: ComputationId| self[c].instructions().iter().max().copied();
        order.sort_by_cached_key(|&c| (last(c), c));
        order
    }

    /// Returns the live computations with callees before callers, in XLA's order. Computations without
    /// callers (such as the entry) are in completion order, each after the computations that it needs.
    pub fn computations_post_order(&self) -> Vec<ComputationId> {
        let callees: HashMap<ComputationId, Vec<ComputationId>> =
            self.computations().map(|c| (c, self.callees(c))).collect();
        let called: HashSet<ComputationId> = callees.values().flatten().copied().collect();
        let mut done = HashSet::new();
        let mut out = Vec::new();
        let all = self.completion_order();
        let roots = all.iter().filter(|c| !called.contains(c));
        // A cycle, which the verifier reports, has no computation without callers. It comes last.
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

    /// Returns the computations called by the instructions of `id`, without duplicates, in post-order of the
    /// instructions. The body of a `while` comes first, as in XLA. XLA uses the order of the text, so its
    /// output may print in another order after it is read back. If the text is in post-order, both orders are
    /// the same.
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
