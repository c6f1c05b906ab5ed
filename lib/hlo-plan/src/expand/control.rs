//! Calls, loops and branches: control flow that contains the steps of other computations.

use super::{Expander, Frame, Leaves};
use crate::{BufId, Pin, Step, layouts};
use hlo_ir::{ComputationId, InstrId, Op, Shape};
use std::collections::HashSet;
use std::rc::Rc;

impl Expander<'_> {
    /// Expands a computation in place. The arguments must have the layouts of its parameters. Returns its
    /// result in the layouts of `to`.
    fn applied(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        arguments: &[Leaves],
        to: &Shape,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let root = self.computation(computation, arguments, steps, depth + 1);
        self.relaid(id, root, layouts::result(self.module, computation), to, steps)
    }

    /// Expands a computation in place, with the operands as arguments. Returns its result in the layouts of
    /// `to`.
    pub(super) fn call(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        to: &Shape,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let arguments: Vec<Leaves> = (0..module[id].operands.len())
            .map(|i| self.operand_as(id, i, layouts::parameter(module, computation, i), frame, steps))
            .collect();
        self.applied(id, computation, &arguments, to, steps, depth)
    }

    pub(super) fn while_loop(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let Op::While(w) = &module[id].op else { return Rc::new([]) };
        let shape = &module[id].shape;
        let init = self.operand_as(id, 0, Some(shape), frame, steps);
        let invariant = self.invariants.leaves(module, id);
        let mut state = Vec::with_capacity(init.len());
        for (k, leaf) in init.iter().enumerate() {
            state.push(match *leaf {
                Some(from) if !invariant.get(k).copied().unwrap_or(false) => {
                    let bytes = self.buffers[from].bytes;
                    let to = self.buffers.add(bytes, Pin::Free, Some(id));
                    steps.push(Step::Copy { from, to, bytes });
                    Some(to)
                }
                same => same,
            });
        }
        let state = Leaves::from(state);
        let mut condition = Vec::new();
        let argument = layouts::parameter(module, w.condition, 0).unwrap_or(shape);
        let argument = self.relaid(id, state.clone(), shape, argument, &mut condition);
        let go_on = self.computation(w.condition, &[argument], &mut condition, depth + 1);
        let mut body = Vec::new();
        let argument = layouts::parameter(module, w.body, 0).unwrap_or(shape);
        let argument = self.relaid(id, state.clone(), shape, argument, &mut body);
        let next = self.applied(id, w.body, &[argument], shape, &mut body, depth);
        self.next_state(&next, &state, &invariant, &mut body);
        match go_on.first() {
            Some(&Some(predicate)) => steps.push(Step::While { instruction: id, condition, predicate, body }),
            _ => self.reject(id, "the condition does not return a pred"),
        }
        state
    }

    /// Copies the body's result to the state, as if all leaves were copied at once. A leaf that comes from
    /// another leaf of the old state is copied through a temporary, because it may be overwritten first.
    pub(super) fn next_state(
        &mut self,
        next: &Leaves,
        state: &Leaves,
        invariant: &[bool],
        body: &mut Vec<Step<BufId>>,
    ) {
        let old: HashSet<BufId> = state.iter().copied().flatten().collect();
        let mut second = Vec::new();
        for (k, (from, to)) in next.iter().zip(state.iter()).enumerate() {
            let (Some(from), Some(to)) = (*from, *to) else { continue };
            // An unchanged leaf may be in a buffer that must not be written.
            if from == to || invariant.get(k) == Some(&true) {
                continue;
            }
            let bytes = self.buffers[to].bytes;
            if old.contains(&from) {
                let temporary = self.buffers.add(bytes, Pin::Free, self.buffers[from].instruction);
                body.push(Step::Copy { from, to: temporary, bytes });
                second.push(Step::Copy { from: temporary, to, bytes });
            } else {
                second.push(Step::Copy { from, to, bytes });
            }
        }
        body.extend(second);
    }

    pub(super) fn conditional(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let Op::Conditional(c) = &module[id].op else { return Rc::new([]) };
        let selector = self.operand(id, 0, frame);
        let mut branches = Vec::new();
        let mut roots = Vec::new();
        for (i, branch) in c.branches().into_iter().enumerate() {
            let mut inner = Vec::new();
            let parameter = layouts::parameter(module, branch, 0);
            let argument = self.operand_as(id, i + 1, parameter, frame, &mut inner);
            roots.push(self.applied(id, branch, &[argument], &module[id].shape, &mut inner, depth));
            branches.push(inner);
        }
        let leaves = module[id].shape.leaves();
        let mut result = Vec::with_capacity(leaves.len());
        for (k, shape) in leaves.into_iter().enumerate() {
            let Some(bytes) = self.leaf_bytes(id, shape) else {
                result.push(None);
                continue;
            };
            let from: Vec<Option<BufId>> = roots.iter().map(|r| r.get(k).copied().flatten()).collect();
            // Every branch returns the same value, so no copy is needed.
            if let Some(&Some(same)) = from.first()
                && from.iter().all(|f| *f == Some(same))
            {
                result.push(Some(same));
                continue;
            }
            let to = self.buffers.add(bytes, Pin::Free, Some(id));
            for (branch, from) in branches.iter_mut().zip(from) {
                if let Some(from) = from {
                    branch.push(Step::Copy { from, to, bytes });
                }
            }
            result.push(Some(to));
        }
        match selector.first() {
            Some(&Some(selector)) if !branches.is_empty() => {
                let by_pred = c.true_computation.is_some();
                steps.push(Step::Conditional { selector, by_pred, branches });
            }
            _ => self.reject(id, "there is no selector or no branch"),
        }
        result.into()
    }
}
