//! Results of asynchronous host calls that can stay in host memory.

use super::Offloader;
use crate::support::host_memory::{
    HOST, MOVE_TO_HOST, Part, forwards_operands, move_part, moved, shape_part,
};
use hlo_ir::{InstrId, Module, Op, Shape};
use std::collections::{HashSet, VecDeque};

impl Offloader {
    /// Keeps results of host calls in host memory if they are passed on only to entry results in host memory.
    /// Returns whether this removed a move to the host.
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
            // The call must be the only instruction of the wrapped computation, because only its result moves
            // to host memory.
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

    /// Returns all parts that a part of a value is passed on to. Returns `None` if another instruction uses
    /// it, or if it does not reach a result of the entry.
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
            // A custom call that does not return its operand is not among the successors.
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

/// Checks whether an operation starts an asynchronous computation on the host.
pub(super) fn is_host_start(op: &Op) -> bool {
    match op {
        Op::AsyncStart(a) => a.async_execution_thread.as_ref().is_some_and(|t| *t == "host"),
        _ => false,
    }
}

/// Returns the indices of the arrays of a shape.
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
