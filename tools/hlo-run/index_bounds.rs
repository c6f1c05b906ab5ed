//! Which parameters are used as indices, and how large these may be: made-up inputs should not all be clamped
//! or dropped.

use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashSet;

/// The bound on the steps of all walks: what is not found by then is taken as no index. (The leaves of a loop's state
/// that change places are each followed to the places of all others.)
const MAX_STEPS: usize = 2_000_000;

/// For each flattened leaf of the entry's parameters, the largest sensible value if it is used as an index.
pub fn index_bounds(module: &Module) -> Vec<Option<i64>> {
    let callers = module.callers();
    let mut steps = MAX_STEPS;
    let mut bounds = Vec::new();
    for parameter in module.parameters(module.entry()) {
        for leaf in 0..module[parameter].shape.leaf_count() {
            let mut walk =
                Walk { module, callers: &callers, seen: HashSet::new(), open: Vec::new(), bound: None };
            walk.reach(parameter, leaf);
            bounds.push(walk.run(&mut steps));
        }
    }
    bounds
}

/// Follows the elements of one leaf to all places that they are moved to unchanged.
struct Walk<'a> {
    module: &'a Module,
    callers: &'a std::collections::HashMap<ComputationId, Vec<InstrId>>,
    seen: HashSet<(InstrId, usize)>,
    open: Vec<(InstrId, usize)>,
    bound: Option<i64>,
}

impl Walk<'_> {
    fn reach(&mut self, at: InstrId, leaf: usize) {
        if self.seen.insert((at, leaf)) {
            self.open.push((at, leaf));
        }
    }

    fn reach_parameter(&mut self, computation: ComputationId, number: usize, leaf: usize) {
        if let Some(&parameter) = self.module.parameters(computation).get(number) {
            self.reach(parameter, leaf);
        }
    }

    fn limit(&mut self, bound: i64) {
        let bound = bound.max(0);
        self.bound = Some(self.bound.map_or(bound, |b| b.min(bound)));
    }

    fn run(mut self, steps: &mut usize) -> Option<i64> {
        while let Some((at, leaf)) = self.open.pop() {
            for &user in self.module.users(at) {
                for position in 0..self.module[user].operands.len() {
                    if self.module[user].operands[position] == at {
                        self.visit(user, position, leaf);
                    }
                }
                // What a visit may look through.
                let elements = |id: InstrId| self.module[id].shape.as_tuple().map_or(0, <[Shape]>::len);
                let cost = 1 + self.module[user].operands.len() + elements(at);
                let Some(left) = steps.checked_sub(cost) else { return self.bound };
                *steps = left;
            }
            self.leave_computation(at, leaf);
        }
        self.bound
    }

    /// If `at` is a root, its value is also that of what called the computation.
    fn leave_computation(&mut self, at: InstrId, leaf: usize) {
        let computation = self.module[at].parent;
        if self.module[computation].root() != at {
            return;
        }
        let callers = self.callers;
        for &caller in callers.get(&computation).into_iter().flatten() {
            match &self.module[caller].op {
                Op::Call(_) | Op::Fusion(_) | Op::Map(_) | Op::Conditional(_) => self.reach(caller, leaf),
                Op::While(a) if a.body == computation => {
                    self.reach(caller, leaf);
                    self.reach_parameter(a.body, 0, leaf);
                    self.reach_parameter(a.condition, 0, leaf);
                }
                // The results of other computations (comparators, reducers) are new values.
                _ => {}
            }
        }
    }

    /// The leaf is operand `position` of `user`.
    fn visit(&mut self, user: InstrId, position: usize, leaf: usize) {
        let module = self.module;
        let instruction = &module[user];
        let dims = |number: usize| {
            let operand = instruction.operands.get(number).map(|&o| &module[o].shape);
            operand.and_then(Shape::as_array).map(|a| a.dims.clone()).unwrap_or_default()
        };
        match &instruction.op {
            Op::Convert
            | Op::Copy
            | Op::Bitcast
            | Op::Broadcast(_)
            | Op::Concatenate(_)
            | Op::Reshape(_)
            | Op::Reverse(_)
            | Op::Slice(_)
            | Op::Transpose(_)
            | Op::OptBarrier => self.reach(user, leaf),
            Op::Pad(_) | Op::Gather(_) if position == 0 => self.reach(user, leaf),
            Op::Select if position > 0 => self.reach(user, leaf),
            Op::Clamp if position == 1 => self.reach(user, leaf),
            Op::Tuple => {
                let before: usize =
                    instruction.operands[..position].iter().map(|&o| module[o].shape.leaf_count()).sum();
                self.reach(user, before + leaf);
            }
            Op::GetTupleElement(a) => {
                let elements = module[instruction.operands[0]].shape.as_tuple().unwrap_or_default();
                let index = usize::try_from(a.index).unwrap_or(0).min(elements.len());
                let before: usize = elements[..index].iter().map(Shape::leaf_count).sum();
                let count = elements.get(index).map_or(0, Shape::leaf_count);
                if (before..before + count).contains(&leaf) {
                    self.reach(user, leaf - before);
                }
            }
            Op::Call(_) | Op::Fusion(_) | Op::Map(_) => {
                for callee in instruction.op.called_computations() {
                    self.reach_parameter(callee, position, leaf);
                }
            }
            Op::While(a) => {
                self.reach_parameter(a.condition, 0, leaf);
                self.reach_parameter(a.body, 0, leaf);
                self.reach(user, leaf);
            }
            Op::Conditional(_) => {
                let branches = instruction.op.called_computations();
                match position.checked_sub(1) {
                    None => self.limit(branches.len() as i64 - 1),
                    Some(branch) => {
                        if let Some(&callee) = branches.get(branch) {
                            self.reach_parameter(callee, 0, leaf);
                        }
                    }
                }
            }
            Op::DynamicSlice(a) => match position {
                0 => self.reach(user, leaf),
                _ => self.limit_starts(&dims(0), &a.dynamic_slice_sizes, position - 1, &dims(position)),
            },
            Op::DynamicUpdateSlice => match position {
                0 | 1 => self.reach(user, leaf),
                _ => self.limit_starts(&dims(0), &dims(1), position - 2, &dims(position)),
            },
            Op::Gather(a) if position == 1 => {
                let operand = dims(0);
                for &d in &a.start_index_map {
                    let size = |list: &[i64]| list.get(d as usize).copied().unwrap_or(1);
                    self.limit(size(&operand) - size(&a.slice_sizes));
                }
            }
            Op::Scatter(a) if position == instruction.operands.len() / 2 => {
                let operand = dims(0);
                for &d in &a.scatter_dims_to_operand_dims {
                    let size = operand.get(d as usize).copied().unwrap_or(1);
                    // A dimension that the window covers in part or whole: its start is sure to fit.
                    self.limit(if a.inserted_window_dims.contains(&d) { size - 1 } else { 0 });
                }
            }
            // Everything else makes new values.
            _ => {}
        }
    }

    /// A start index: of one dimension, or, where it is a vector, of all.
    fn limit_starts(&mut self, operand: &[i64], window: &[i64], dimension: usize, index: &[i64]) {
        for (d, (size, part)) in operand.iter().zip(window).enumerate() {
            if d == dimension || !index.is_empty() {
                self.limit(size - part);
            }
        }
    }
}
