//! Results of asynchronous calls on the host that need not leave its memory.

use super::Offloader;
use crate::support::host_memory::{
    HOST, MOVE_TO_HOST, Part, forwards_operands, move_part, moved, shape_part,
};
use hlo_ir::{InstrId, Module, Op, Shape};
use std::collections::{HashSet, VecDeque};

impl Offloader {
    /// Leaves results of calls on the host there if they are only handed on to results of the entry in the host's
    /// memory. Returns whether there are any moves to the host among what they are handed on by.
    pub(super) fn keep_results(&mut self, module: &mut Module) -> bool {
        let mut starts = Vec::new();
        for c in module.computations() {
            starts.extend(module[c].instructions().iter().copied().filter(|&i| is_host_start(&module[i].op)));
        }
        let mut changed = false;
        for start in starts {
            let Op::AsyncStart(a) = &module[start].op else { continue };
            let Some(root) = a.calls.filter(|&c| module.has_root(c)).map(|c| module[c].root()) else {
                continue;
            };
            // Only what the call itself gives is put elsewhere.
            let wraps = |&i: &InstrId| i == root || matches!(module[i].op, Op::Parameter(_));
            let whole = module[module[root].parent].instructions().iter().all(wraps);
            let &[done] = module.users(start) else { continue };
            if !whole || !matches!(module[done].op, Op::AsyncDone(_)) {
                continue;
            }
            for index in leaves(&module[done].shape) {
                let Some(parts) = self.only_on_host(module, &(done, index.clone())) else { continue };
                move_part(module, &(start, [&[1], &index[..]].concat()), HOST);
                move_part(module, &(root, index), HOST);
                for part in parts {
                    match moved(module, part.0, MOVE_TO_HOST) {
                        Some(operand) => {
                            module.replace_all_uses_with(part.0, operand);
                            self.done.insert(part.0);
                            self.gone.push(part.0);
                            changed = true;
                        }
                        None => {
                            move_part(module, &part, HOST);
                        }
                    }
                }
            }
        }
        changed
    }

    /// All that a part of a value is handed on as; `None` if something else needs it, or it is no result of the entry.
    fn only_on_host(&self, module: &Module, part: &Part) -> Option<Vec<Part>> {
        let mut out = vec![part.clone()];
        let mut seen = HashSet::new();
        let mut returned = false;
        let mut work = VecDeque::from([part.clone()]);
        while let Some(part) = work.pop_front() {
            if !seen.insert(part.clone()) {
                continue;
            }
            if module.users(part.0).iter().any(|&u| matches!(module[u].op, Op::AsyncStart(_))) {
                return None;
            }
            // A custom call that does not hand on its operand is no successor.
            let reads = |&u: &InstrId| {
                matches!(module[u].op, Op::CustomCall(_)) && moved(module, u, MOVE_TO_HOST).is_none()
            };
            if module.users(part.0).iter().any(reads) {
                return None;
            }
            for next in self.flow.successors(module, &part) {
                let (id, index) = &next;
                let asynchronous = matches!(module[*id].op, Op::AsyncStart(_) | Op::AsyncDone(_));
                if !forwards_operands(&module[*id].op) || asynchronous {
                    return None;
                }
                if module.is_root(*id) && module[*id].parent == module.entry() {
                    let shape = shape_part(&self.layout.result, index);
                    let there = shape.and_then(Shape::as_array).is_some_and(|a| a.memory_space() == HOST);
                    if !there {
                        return None;
                    }
                    returned = true;
                }
                out.push(next.clone());
                work.push_back(next);
            }
        }
        returned.then_some(out)
    }
}

/// True for the start of what the host computes.
pub(super) fn is_host_start(op: &Op) -> bool {
    match op {
        Op::AsyncStart(a) => a.async_execution_thread.as_ref().is_some_and(|t| *t == "host"),
        _ => false,
    }
}

/// Where the arrays of a shape are in it.
fn leaves(shape: &Shape) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    let mut work = vec![(Vec::new(), shape)];
    while let Some((index, shape)) = work.pop() {
        match shape {
            Shape::Array(_) => out.push(index),
            Shape::Tuple(parts) => {
                let parts = parts.iter().enumerate().rev();
                work.extend(parts.map(|(n, part)| ([&index[..], &[n]].concat(), part)));
            }
            _ => {}
        }
    }
    out
}
