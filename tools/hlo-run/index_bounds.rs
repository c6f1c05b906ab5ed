//! Finds parameters that are used as indices and their bounds, so that not all generated indices are clamped
//! or dropped.

use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// Maximum total number of steps. Parameters that are not reached by then do not count as indices. Loops are
/// expensive: if leaves of the state change places, each one is followed to the places of all others.
const MAX_STEPS: usize = 2_000_000;

/// Returns the largest valid index for each flattened leaf of the entry's parameters, or `None` if the leaf
/// is not used as an index.
pub fn index_bounds(module: &Module) -> Vec<Option<i64>> {
    bounds_of(module, &module.parameters(module.entry())).concat()
}

/// Returns the same for each leaf of the given instructions.
pub fn bounds_of(module: &Module, ids: &[InstrId]) -> Vec<Vec<Option<i64>>> {
    let mut places = Places::new(module);
    let mut steps = MAX_STEPS;
    let mut bound = |id: InstrId, leaf: usize| {
        let mut walk =
            Walk { module, places: &mut places, seen: HashSet::new(), open: Vec::new(), bound: None };
        walk.reach(id, leaf);
        walk.run(&mut steps)
    };
    let leaves = |id: InstrId| 0..module[id].shape.leaf_count();
    ids.iter().map(|&id| leaves(id).map(|leaf| bound(id, leaf)).collect()).collect()
}

/// Cached lookups that the walks repeat for each instruction or computation.
struct Places<'a> {
    module: &'a Module,
    callers: HashMap<ComputationId, Vec<InstrId>>,
    parameters: HashMap<ComputationId, Rc<[InstrId]>>,
    /// The operand positions of each value, for users with many operands.
    positions: HashMap<InstrId, HashMap<InstrId, Vec<usize>>>,
    /// The number of leaves before each element of a tuple, and the total.
    offsets: HashMap<InstrId, Rc<[usize]>>,
}

impl<'a> Places<'a> {
    fn new(module: &'a Module) -> Self {
        Self {
            module,
            callers: module.callers(),
            parameters: HashMap::new(),
            positions: HashMap::new(),
            offsets: HashMap::new(),
        }
    }

    /// Returns parameter `number` of a computation.
    fn parameter(&mut self, computation: ComputationId, number: usize) -> Option<InstrId> {
        let module = self.module;
        let known = self.parameters.entry(computation);
        known.or_insert_with(|| module.parameters(computation).into()).get(number).copied()
    }

    /// Returns the positions of a value in the operands of a user.
    fn positions(&mut self, user: InstrId, value: InstrId) -> Vec<usize> {
        let operands = &self.module[user].operands;
        let all = || operands.iter().enumerate();
        if operands.len() < 16 {
            return all().filter(|(_, o)| **o == value).map(|(n, _)| n).collect();
        }
        let known = self.positions.entry(user).or_insert_with(|| {
            let mut positions: HashMap<InstrId, Vec<usize>> = HashMap::new();
            all().for_each(|(n, &o)| positions.entry(o).or_default().push(n));
            positions
        });
        known.get(&value).cloned().unwrap_or_default()
    }

    /// Returns the leaves of element `index` of a tuple.
    fn leaves(&mut self, tuple: InstrId, index: usize) -> Range<usize> {
        let shape = &self.module[tuple].shape;
        let offsets = self.offsets.entry(tuple).or_insert_with(|| {
            let mut sum = 0;
            let after = shape.as_tuple().unwrap_or_default().iter().map(|element| {
                sum += element.leaf_count();
                sum
            });
            std::iter::once(0).chain(after).collect()
        });
        let at = |n: usize| offsets.get(n).or(offsets.last()).copied().unwrap_or(0);
        at(index)..at(index.saturating_add(1))
    }
}

/// Follows the elements of one leaf to all instructions that receive them unchanged.
struct Walk<'a, 'm> {
    module: &'m Module,
    places: &'a mut Places<'m>,
    seen: HashSet<(InstrId, usize)>,
    open: Vec<(InstrId, usize)>,
    bound: Option<i64>,
}

impl Walk<'_, '_> {
    fn reach(&mut self, at: InstrId, leaf: usize) {
        if self.seen.insert((at, leaf)) {
            self.open.push((at, leaf));
        }
    }

    fn reach_parameter(&mut self, computation: ComputationId, number: usize, leaf: usize) {
        if let Some(parameter) = self.places.parameter(computation, number) {
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
                let positions = self.places.positions(user, at);
                let Some(left) = steps.checked_sub(1 + positions.len()) else { return self.bound };
                positions.into_iter().for_each(|position| self.visit(user, position, leaf));
                *steps = left;
            }
            self.leave_computation(at, leaf);
        }
        self.bound
    }

    /// If `at` is a root, continues with the callers of its computation.
    fn leave_computation(&mut self, at: InstrId, leaf: usize) {
        let computation = self.module[at].parent;
        if self.module[computation].root() != at {
            return;
        }
        for caller in self.places.callers.get(&computation).cloned().unwrap_or_default() {
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

    /// Handles the use of the leaf as operand `position` of `user`.
    fn visit(&mut self, user: InstrId, position: usize, leaf: usize) {
        let module = self.module;
        let instruction = &module[user];
        let dims = |number: usize| {
            let operand = instruction.operands.get(number).map(|&o| &module[o].shape);
            operand.and_then(Shape::as_array).map(|a| a.dims.clone()).unwrap_or_default()
        };
        match &instruction.op {
            op if op.opcode().traits().moves.contains(position) => self.reach(user, leaf),
            Op::Convert | Op::Bitcast | Op::OptBarrier => self.reach(user, leaf),
            Op::Clamp if position == 1 => self.reach(user, leaf),
            Op::Tuple => {
                let before = self.places.leaves(user, position).start;
                self.reach(user, before + leaf);
            }
            Op::GetTupleElement(a) => {
                let index = usize::try_from(a.index).unwrap_or(usize::MAX);
                let leaves = self.places.leaves(instruction.operands[0], index);
                if leaves.contains(&leaf) {
                    self.reach(user, leaf - leaves.start);
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
                    // The window covers a part or all of this dimension. Start 0 is always valid.
                    self.limit(if a.inserted_window_dims.contains(&d) { size - 1 } else { 0 });
                }
            }
            // All other operations compute new values.
            _ => {}
        }
    }

    /// Limits a start index of one dimension, or of all dimensions if it is a vector.
    fn limit_starts(&mut self, operand: &[i64], window: &[i64], dimension: usize, index: &[i64]) {
        for (d, (size, part)) in operand.iter().zip(window).enumerate() {
            if d == dimension || !index.is_empty() {
                self.limit(size - part);
            }
        }
    }
}
