//! The orders in which passes visit, and the printer prints, the computations and instructions of a module.
//! XLA uses the same orders.

use crate::{ComputationId, InstrId, Module};
use std::collections::{HashMap, HashSet};

/// The state of an instruction in a traversal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Visit {
    #[default]
    New,
    /// The traversal is visiting the operands and control predecessors, which are above the instruction on
    /// the stack.
    Open,
    Done,
}

/// The states of the instructions of a computation. If the ids are in a small range, as after parsing, the
/// states are in an array. Otherwise they are in a map.
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
    /// In a scheduled module, this order is the schedule. Otherwise it is [`Module::dependency_order`].
    pub fn post_order(&self, id: ComputationId) -> Vec<InstrId> {
        if self.header.is_scheduled {
            return self[id].instructions().to_vec();
        }
        self.dependency_order(id)
    }

    /// Returns the instructions of a computation in XLA's post-order, even if there is a schedule. The
    /// traversal starts at each instruction without users, in the order of the instruction list. It visits
    /// the control predecessors of an instruction in reverse order, then the operands in order. Takes time
    /// linear in the number of operands.
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

    /// Returns the live computations in the order in which their last instructions were added. If the text of
    /// a computation contains the body of another computation, the inner computation comes first.
    pub fn completion_order(&self) -> Vec<ComputationId> {
        let mut order: Vec<ComputationId> = self.computations().collect();
        let last = |c: ComputationId| self[c].instructions().iter().max().copied();
        order.sort_by_cached_key(|&c| (last(c), c));
        order
    }

    /// Returns the live computations with callees before callers, in XLA's order. Computations without
    /// callers, such as the entry, are in the order of [`Module::completion_order`]. Each of them comes after
    /// the computations that it calls.
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

    /// Returns the computations that the instructions of `id` call, without duplicates. Visits the
    /// instructions in post-order. The body of a `while` comes before its condition, as in XLA. XLA visits
    /// the instructions in the order of the text. If the text is not in post-order, XLA can therefore print
    /// the module in another order.
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
