//! Asynchronous operations whose operands are bound separately, by the start and by updates. Converts them to
//! the executable form, which binds all operands at the start.

use crate::module::asynchronous::Chain;
use crate::ops::{is_part, whole_state};
use crate::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

impl Module {
    /// Returns whether [`Module::bind_async_operands`] changes the instruction: an update that binds
    /// operands, or an end whose result has more parts than the preceding state.
    pub fn binds_operands_late(&self, id: InstrId) -> bool {
        let instr = &self[id];
        match &instr.op {
            Op::AsyncUpdate(_) => {
                instr.operands.len() > 1
                    || instr.operands.first().is_some_and(|&o| self[o].shape != instr.shape)
            }
            Op::AsyncDone(_) => {
                let state = instr.operands.first().and_then(|&o| self[o].shape.as_tuple());
                state.and_then(|s| s.get(1)).is_some_and(|result| !is_part(&instr.shape, result))
            }
            _ => false,
        }
    }

    /// Replaces each asynchronous start and the updates that bind operands by one start with all operands.
    /// The operation then starts where its last operand is bound. Returns whether there were any. Takes
    /// linear time.
    ///
    /// Chains that continue in another computation, such as the body of a loop, do not change.
    pub fn bind_async_operands(&mut self) -> bool {
        let late = |c: ComputationId| self[c].instructions().iter().any(|&i| self.binds_operands_late(i));
        let computations: Vec<ComputationId> = self.computations().filter(|&c| late(c)).collect();
        if computations.is_empty() {
            return false;
        }
        let mut replaced: HashMap<InstrId, InstrId> = HashMap::new();
        for chain in Chain::all(self) {
            if computations.contains(&self[chain.instructions[0]].parent) {
                self.bind_at_once(&chain, &mut replaced);
            }
        }
        self.replace_control_predecessors(&replaced);
        !replaced.is_empty()
    }

    /// Replaces the last update of a chain that binds operands late by one start. Adds the replaced
    /// instructions to `replaced`.
    fn bind_at_once(&mut self, chain: &Chain, replaced: &mut HashMap<InstrId, InstrId>) {
        let [before @ .., last, done] = &chain.instructions[..] else { return };
        let (last, done) = (*last, *done);
        let started = &chain.instructions[..=before.len()];
        let follows = |pair: &[InstrId]| {
            self.users(pair[0]) == [pair[1]] && self[pair[1]].operands.first() == Some(&pair[0])
        };
        let is_chain = matches!(self[done].op, Op::AsyncDone(_))
            && chain.instructions.windows(2).all(follows)
            && started.iter().all(|&i| !self.is_root(i))
            && self.has_root(chain.calls);
        if !is_chain || !chain.instructions.iter().any(|&i| self.binds_operands_late(i)) {
            return;
        }
        let start = chain.instructions[0];
        let mut operands: Vec<InstrId> = self[start].operands.to_vec();
        for &update in &started[1..] {
            operands.extend(self[update].operands.iter().skip(1));
        }
        let fits = |(&p, &o): (&InstrId, &InstrId)| is_part(&self[o].shape, &self[p].shape);
        let parameters = self.parameters(chain.calls);
        if parameters.len() != operands.len() || !parameters.iter().zip(&operands).all(fits) {
            return;
        }
        let shape = whole_state(self, chain.calls, &self[last].shape);
        let mut op = self[start].op.clone();
        if let Op::AsyncStart(a) = &mut op {
            // It refers to the contexts of the removed updates.
            a.output_to_operand_aliasing.clear();
        }
        let control: Vec<InstrId> =
            before.iter().flat_map(|&i| self[i].control_predecessors().to_vec()).collect();
        if !control.is_empty() {
            self.common_mut(last).control_predecessors.extend(control);
        }
        self.set_op(last, op);
        self.set_shape(last, shape);
        self.set_operands(last, operands);
        self.remove_all(before);
        replaced.extend(before.iter().map(|&i| (i, last)));
        replaced.insert(last, last);
    }

    /// Replaces control predecessors by other instructions.
    fn replace_control_predecessors(&mut self, replaced: &HashMap<InstrId, InstrId>) {
        if replaced.is_empty() {
            return;
        }
        let computations: Vec<ComputationId> = self.computations().collect();
        for c in computations {
            for i in self[c].instructions().to_vec() {
                if !self[i].control_predecessors().iter().any(|p| replaced.contains_key(p)) {
                    continue;
                }
                let list = &mut self.common_mut(i).control_predecessors;
                list.iter_mut().for_each(|p| *p = replaced.get(p).copied().unwrap_or(*p));
                list.retain(|&p| p != i);
                let mut seen = std::collections::HashSet::new();
                list.retain(|&p| seen.insert(p));
            }
        }
    }
}
