//! Which parameters are used as indices, and how large these may be: made-up inputs should not all be clamped
//! or dropped.

use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The bound on the steps of all walks: what is not found by then is taken as no index. (The leaves of a loop's state
/// that change places are each followed to the places of all others.)
const MAX_STEPS: usize = 2_000_000;

/// For each flattened leaf of the entry's parameters, the largest sensible value if it is used as an index.
pub fn index_bounds(module: &Module) -> Vec<Option<i64>> {
    bounds_of(module, &module.parameters(module.entry())).concat()
}

/// The same for each leaf of each of some instructions.
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

/// What the walks ask over and over, found once for each instruction or computation.
struct Places<'a> {
    module: &'a Module,
    callers: HashMap<ComputationId, Vec<InstrId>>,
    parameters: HashMap<ComputationId, Rc<[InstrId]>>,
    /// Of users of many values, where each value stands among the operands.
    positions: HashMap<InstrId, HashMap<InstrId, Vec<usize>>>,
    /// The number of leaves before each operand of a tuple, or element of a value that is one, and of all.
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

    /// Parameter `number` of a computation.
    fn parameter(&mut self, computation: ComputationId, number: usize) -> Option<InstrId> {
        let module = self.module;
        let known = self.parameters.entry(computation);
        known.or_insert_with(|| module.parameters(computation).into()).get(number).copied()
    }

    /// Where a value stands among a user's operands.
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

    /// The leaves of element `index` of a tuple.
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

/// Follows the elements of one leaf to all places that they are moved to unchanged.
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

    /// If `at` is a root, its value is also that of what called the computation.
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

    /// The leaf is operand `position` of `user`.
    fn visit(&mut self, user: InstrId, position: usize, leaf: usize) {
        let module = self.module;
        let instruction = &module[user];
        let dims = |number: usize| {
            let operand = instruction.operands.get(number).map(|&o| &module[o].shape);
            operand.and_then(Shape::as_array).map(|a| a.dims.clone()).unwrap_or_default()
        };
        match &instruction.op {
            op if instruction.shape.as_array().is_some() && op.opcode().traits().moves.contains(position) => {
                self.reach(user, leaf);
            }
            Op::Convert | Op::OptBarrier => self.reach(user, leaf),
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
