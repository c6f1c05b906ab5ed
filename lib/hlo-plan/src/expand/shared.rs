//! Computations that are used in several places. Small ones are copied to each place. Large ones become a
//! function that is called, because a chain of computations that share others would be copied exponentially
//! often.

use super::{Body, Expander, Leaves};
use crate::{Argument, BufId, Pin, RuntimeCall, Step};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};

/// Maximum number of additional instructions that copies of one computation may create. Above this, the
/// computation becomes a function.
const MAX_COPIED_INSTRUCTIONS: usize = 512;

/// Returns the computations that become functions. `order` lists all computations, callees first.
pub(super) fn functions(module: &Module, order: &[ComputationId]) -> HashSet<ComputationId> {
    let mut places: HashMap<ComputationId, usize> = HashMap::new();
    for &c in order {
        for callee in steps_of(module, c) {
            *places.entry(callee).or_default() += 1;
        }
    }
    let mut functions = HashSet::new();
    let mut sizes: HashMap<ComputationId, usize> = HashMap::new();
    for &c in order {
        let inside = steps_of(module, c).filter(|callee| !functions.contains(callee));
        let inside: usize = inside.map(|callee| sizes.get(&callee).copied().unwrap_or(0)).sum();
        let size = inside.saturating_add(module[c].instructions().len());
        let copies = places.get(&c).copied().unwrap_or(0).saturating_sub(1);
        if size.saturating_mul(copies) > MAX_COPIED_INSTRUCTIONS {
            functions.insert(c);
        }
        sizes.insert(c, size);
    }
    functions
}

/// Returns the computations whose steps become part of a computation, once for each use.
fn steps_of(module: &Module, c: ComputationId) -> impl Iterator<Item = ComputationId> {
    let called = |&i: &InstrId| match &module[i].op {
        op @ (Op::Call(_) | Op::While(_) | Op::Conditional(_) | Op::Fusion(_) | Op::AsyncStart(_)) => {
            op.called_computations()
        }
        _ => Default::default(),
    };
    module[c].instructions().iter().flat_map(called)
}

impl Expander<'_> {
    /// Calls the function of a computation and returns the leaves of its root. The arguments must have the
    /// layouts of its parameters.
    pub(super) fn call_function(
        &mut self,
        id: ComputationId,
        arguments: &[Leaves],
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let number = match self.function_numbers.get(&id) {
            Some(&known) => known,
            None => {
                let body = self.function(id, depth);
                self.functions.push(body);
                self.function_numbers.insert(id, self.functions.len() - 1);
                self.functions.len() - 1
            }
        };
        let root = self.module[id].root();
        let leaves = self.fresh(root, &self.module[root].shape);
        // The function's temporaries. Their size is set when the function's arena is known.
        let frame = self.buffers.add(0, Pin::Free, Some(root));
        self.frames.push((frame, number));
        let results: Vec<BufId> = leaves.iter().copied().flatten().chain([frame]).collect();
        steps.push(Step::Runtime(RuntimeCall {
            instruction: root,
            symbol: "hlo_rt_call",
            arguments: vec![
                Argument::Function(number),
                Argument::Operands,
                Argument::Results,
                Argument::Result(results.len() - 1),
                Argument::Constants,
                Argument::Counters,
            ],
            descriptor: Vec::new(),
            operands: arguments.iter().flat_map(|a| a.iter().copied().flatten()).collect(),
            results,
            loops: Vec::new(),
        }));
        leaves
    }

    /// Expands a computation that is a function.
    fn function(&mut self, id: ComputationId, depth: usize) -> Body {
        let module = self.module;
        let outer = (
            std::mem::take(&mut self.buffers),
            std::mem::take(&mut self.frames),
            std::mem::take(&mut self.constant_leaves),
        );
        let (mut arguments, mut param_bytes) = (Vec::new(), Vec::new());
        for p in module.parameters(id) {
            let mut leaves = Vec::new();
            for shape in module[p].shape.leaves() {
                leaves.push(self.leaf_bytes(p, shape).map(|bytes| {
                    param_bytes.push(bytes);
                    self.buffers.add(bytes, Pin::Param(param_bytes.len() - 1), Some(p))
                }));
            }
            arguments.push(Leaves::from(leaves));
        }
        let mut steps = Vec::new();
        let root = self.steps_of(id, &arguments, &mut steps, depth);
        let root: Vec<BufId> = root.iter().copied().flatten().collect();
        let mut output_bytes = Vec::with_capacity(root.len());
        for (number, from) in root.into_iter().enumerate() {
            let bytes = self.buffers[from].bytes;
            output_bytes.push(bytes);
            let to = self.buffers.add(bytes, Pin::Output(number), Some(module[id].root()));
            steps.push(Step::Copy { from, to, bytes });
        }
        let (buffers, frames);
        (buffers, frames, self.constant_leaves) = (
            std::mem::replace(&mut self.buffers, outer.0),
            std::mem::replace(&mut self.frames, outer.1),
            outer.2,
        );
        Body { root: module[id].root(), steps, buffers, frames, param_bytes, output_bytes }
    }
}
