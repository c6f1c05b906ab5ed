//! The rewrite driver: one worklist, patterns as functions.
//!
//! A [`Pattern`] looks at one instruction and may return another value to use in its place. The driver visits
//! operands before users, replaces uses, and visits again what a replacement touched: the new instructions and
//! the users. What nothing uses any more is taken out of the user lists at once, so that a pattern may ask
//! whether a value has one user only, and removed from the module in one go at the end.

use super::combiner::Combiners;
use super::effects::{Effects, control_dependent};
use super::{constants, effects};
use crate::{Pass, Rewrites};
use hlo_ir::attr::{HloString, ResultAccuracy, SliceDim};
use hlo_ir::build::{Build, ComputationNamer};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, InstrId, Literal, Module, Op, Opcode, Shape};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// A rewrite.
pub(crate) struct Pattern {
    /// What it is called in tests and in the documentation.
    pub(crate) name: &'static str,
    /// One line, before → after.
    pub(crate) summary: &'static str,
    /// The opcodes that it looks at; all of them if there are none.
    pub(crate) opcodes: &'static [Opcode],
    /// Returns the value to use in place of the instruction, of the same shape, or `None`.
    pub(crate) apply: fn(&mut Cx<'_>, InstrId) -> Option<InstrId>,
}

impl Pattern {
    /// A pattern, for tables.
    pub(crate) const fn new(
        name: &'static str,
        summary: &'static str,
        opcodes: &'static [Opcode],
        apply: fn(&mut Cx<'_>, InstrId) -> Option<InstrId>,
    ) -> Self {
        Self { name, summary, opcodes, apply }
    }
}

/// What a pattern works on: the module, and ways to make instructions beside the one that it looks at.
pub(crate) struct Cx<'m> {
    pub(crate) module: &'m mut Module,
    at: InstrId,
    added: Vec<InstrId>,
    /// What [`Cx::concatenate_starts`] found of long concatenations: operands are replaced by others of their sizes.
    starts: HashMap<InstrId, Rc<[i64]>>,
    /// The names that computations have, once a pattern makes one.
    namer: Option<ComputationNamer>,
    combiners: Combiners,
}

impl Cx<'_> {
    /// The operands' ids, copied.
    pub(crate) fn operand(&self, id: InstrId, index: usize) -> Option<InstrId> {
        self.module[id].operands.get(index).copied()
    }

    /// The array shape of a static array; `None` for tuples, tokens and dynamic arrays, which patterns leave
    /// alone.
    pub(crate) fn array(&self, id: InstrId) -> Option<ArrayShape> {
        self.module[id].shape.as_array().filter(|a| a.is_static()).cloned()
    }

    /// The element type of an array.
    pub(crate) fn element_type(&self, id: InstrId) -> Option<ElementType> {
        self.module[id].shape.as_array().map(|a| a.element_type)
    }

    /// Where each operand of a concatenation begins along its dimension, and where the last one ends.
    pub(crate) fn concatenate_starts(&mut self, id: InstrId, dimension: usize) -> Option<Rc<[i64]>> {
        const MANY: usize = 16;
        if let Some(known) = self.starts.get(&id) {
            return Some(known.clone());
        }
        let operands = &self.module[id].operands;
        let (mut starts, mut end) = (Vec::with_capacity(operands.len() + 1), 0i64);
        for &o in operands {
            starts.push(end);
            let size = self.module[o].shape.as_array().filter(|a| a.is_static())?.dims.get(dimension)?;
            end = end.checked_add(*size)?;
        }
        starts.push(end);
        let starts: Rc<[i64]> = starts.into();
        if operands.len() > MANY {
            self.starts.insert(id, starts.clone());
        }
        Some(starts)
    }

    /// The opcode.
    pub(crate) fn opcode(&self, id: InstrId) -> Opcode {
        self.module[id].opcode()
    }

    /// True if only `user` uses the value and it is not a root.
    pub(crate) fn used_only_by(&self, id: InstrId, user: InstrId) -> bool {
        self.module.users(id) == [user] && !self.module.is_root(id)
    }

    /// The module, and names for the computations that a pattern adds to it.
    pub(crate) fn naming(&mut self) -> (&mut Module, &mut ComputationNamer) {
        let namer = self.namer.get_or_insert_with(|| ComputationNamer::new(self.module));
        (self.module, namer)
    }

    /// The computation that applies a binary operation to two scalars.
    pub(crate) fn combiner(&mut self, op: &Op, ty: ElementType) -> ComputationId {
        let caller = self.module[self.at].parent;
        let namer = self.namer.get_or_insert_with(|| ComputationNamer::new(self.module));
        self.combiners.get(self.module, namer, op, ty, caller)
    }

    /// Adds an instruction beside the one that the pattern looks at.
    pub(crate) fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        let id = self.module.add_like(self.at, shape, op, operands.iter().copied());
        self.added.push(id);
        id
    }

    /// The instruction with another operation and operands, and the shape of the one looked at.
    pub(crate) fn instead(&mut self, op: Op, operands: &[InstrId]) -> InstrId {
        let shape = self.module[self.at].shape.clone();
        self.add(shape, op, operands)
    }

    /// `value` with elements of another type; itself if it has them.
    pub(crate) fn convert(&mut self, value: InstrId, ty: ElementType) -> Option<InstrId> {
        let shape = self.array(value)?;
        if shape.element_type == ty {
            return Some(value);
        }
        Some(self.add(shape.with_element_type(ty), Op::Convert, &[value]))
    }

    /// The instruction looked at, an operation on arrays, computed on operands of another type, its result converted.
    pub(crate) fn computed_in(&mut self, ty: ElementType) -> Option<InstrId> {
        let (operands, op) = (self.module[self.at].operands.to_vec(), self.module[self.at].op.clone());
        let converted = operands.into_iter().map(|o| self.convert(o, ty)).collect::<Option<Vec<_>>>()?;
        let shape = self.array(self.at)?.with_element_type(ty);
        let result = self.add(shape, op, &converted);
        Some(self.instead(Op::Convert, &[result]))
    }

    /// The elements of `id` in these ranges, which lie inside; `id` itself if they are all.
    pub(crate) fn slice(&mut self, id: InstrId, ranges: Vec<SliceDim>) -> Option<InstrId> {
        let a = self.array(id)?;
        let dims: Dims = ranges.iter().map(taken).collect::<Option<_>>()?;
        if a.dims == dims {
            return Some(id);
        }
        Some(self.add(ArrayShape::new(a.element_type, dims), Op::slice(ranges), &[id]))
    }

    /// `id` in an array of the given sizes, its dimensions along `map`.
    pub(crate) fn broadcast(&mut self, id: InstrId, dims: &[i64], map: &[i64]) -> Option<InstrId> {
        let shape = ArrayShape::new(self.element_type(id)?, dims.iter().copied());
        Some(Build::broadcast(self, id, &shape, map))
    }

    /// A constant of the shape with all elements the given bytes.
    pub(crate) fn splat(&mut self, shape: &ArrayShape, bytes: &[u8]) -> Option<InstrId> {
        if shape.rank() == 0 {
            let literal = Literal::scalar_from_bytes(shape.element_type, bytes)?;
            return Some(self.add(shape.clone(), Op::constant(literal), &[]));
        }
        let scalar = self.scalar(shape.element_type, bytes)?;
        Some(self.add(shape.clone(), Op::broadcast([]), &[scalar]))
    }

    /// A constant of the shape with all elements the given small integer.
    pub(crate) fn splat_integer(&mut self, shape: &ArrayShape, value: i64) -> Option<InstrId> {
        let bytes = constants::integer_bytes(shape.element_type, value)?;
        self.splat(shape, &bytes)
    }
}

impl Build for Cx<'_> {
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        Cx::add(self, shape, op, operands)
    }

    fn shape_of(&self, id: InstrId) -> Shape {
        self.module[id].shape.clone()
    }

    /// Patterns leave arrays alone whose sizes are known at run time only.
    fn array_of(&self, id: InstrId) -> Option<ArrayShape> {
        self.array(id)
    }
}

/// How many elements a range takes; `None` for one that no valid slice has.
fn taken(range: &SliceDim) -> Option<i64> {
    let length = range.limit.checked_sub(range.start)?;
    (range.stride > 0 && length >= 0).then(|| length / range.stride + i64::from(length % range.stride != 0))
}

/// The dimension number `d` as an index.
pub(crate) fn index(d: i64) -> Option<usize> {
    usize::try_from(d).ok()
}

/// The sizes without those that are 1.
pub(crate) fn without_ones(dims: &[i64]) -> Dims {
    dims.iter().copied().filter(|&d| d != 1).collect()
}

/// True if both have the same layouts.
pub(crate) fn same_layout(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => {
            a.minor_to_major() == b.minor_to_major() && a.layout_items() == b.layout_items()
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_layout(a, b))
        }
        _ => true,
    }
}

/// True if the sharding of `old` is one that `new` has too: a value that was there before keeps its own.
fn keeps_sharding(module: &Module, old: InstrId, new: InstrId) -> bool {
    module[old].sharding().is_none_or(|s| module[new].sharding() == Some(s))
}

/// How exact the result of an instruction has to be.
pub(crate) fn result_accuracy(module: &Module, id: InstrId) -> ResultAccuracy {
    module[id].common.as_deref().map_or(ResultAccuracy::Default, |c| c.result_accuracy)
}

/// The attributes that change the value although every opcode has them; `None` if they are the defaults.
pub(crate) fn accuracy(module: &Module, id: InstrId) -> Option<(ResultAccuracy, &HloString)> {
    let common = module[id].common.as_deref()?;
    let any = common.result_accuracy != ResultAccuracy::Default || !common.backend_config.is_empty();
    any.then_some((common.result_accuracy, &common.backend_config))
}

/// True unless both are placed on devices, in different ways.
pub(crate) fn same_sharding(module: &Module, a: InstrId, b: InstrId) -> bool {
    module[a].sharding().zip(module[b].sharding()).is_none_or(|(a, b)| a == b)
}

/// More rewrites than this times the number of instructions mean that two patterns undo each other: the driver
/// stops, with what it has.
const MAX_REWRITES_PER_INSTRUCTION: usize = 32;

/// A pass that applies the patterns of some tables.
pub(crate) fn pattern_pass(tables: &'static [&'static [Pattern]]) -> Box<dyn Pass> {
    Box::new(|module: &mut Module, rewrites: &mut Rewrites| -> Result<bool, Diag> {
        let patterns: Vec<&Pattern> = tables.iter().flat_map(|table| table.iter()).collect();
        Ok(apply_patterns(module, &patterns, rewrites))
    })
}

/// Applies the patterns to every instruction of the module until none applies, and says whether any did. On one
/// instruction they are tried in their order.
pub(crate) fn apply_patterns(module: &mut Module, patterns: &[&Pattern], rewrites: &mut Rewrites) -> bool {
    apply_patterns_in(module, patterns, rewrites, |_| true)
}

/// The same in some computations only.
pub(crate) fn apply_patterns_in(
    module: &mut Module,
    patterns: &[&Pattern],
    rewrites: &mut Rewrites,
    within: impl Fn(ComputationId) -> bool,
) -> bool {
    let mut by_opcode: Vec<Vec<&Pattern>> = vec![Vec::new(); Opcode::ALL.len()];
    for p in patterns {
        let all = if p.opcodes.is_empty() { Opcode::ALL } else { p.opcodes };
        for &o in all {
            by_opcode[o as usize].push(p);
        }
    }
    let mut driver = Driver::new(module);
    let mut instructions = 0usize;
    for c in driver.cx.module.computations_post_order() {
        let order = driver.cx.module.post_order(c);
        instructions += order.len();
        if within(c) {
            order.into_iter().for_each(|i| driver.push(i));
        }
    }
    let mut budget = instructions.saturating_mul(MAX_REWRITES_PER_INSTRUCTION);
    let mut changed = false;
    while let Some(id) = driver.queue.pop_front() {
        driver.queued[id.index()] = false;
        if driver.dead[id.index()] || driver.pinned.contains(&id) {
            continue;
        }
        if budget == 0 || !rewrites.allowed() {
            break;
        }
        let tried = &by_opcode[driver.cx.opcode(id) as usize];
        if let Some(p) = tried.iter().find(|p| driver.try_pattern(p, id)) {
            rewrites.made(p.name, &driver.cx.module[id].name);
            changed = true;
            budget -= 1;
        }
    }
    driver.finish();
    changed
}

struct Driver<'m> {
    cx: Cx<'m>,
    effects: Effects,
    pinned: HashSet<InstrId>,
    queue: VecDeque<InstrId>,
    queued: Vec<bool>,
    dead: Vec<bool>,
    removed: Vec<InstrId>,
}

impl<'m> Driver<'m> {
    fn new(module: &'m mut Module) -> Self {
        let effects = Effects::of(module);
        let pinned = control_dependent(module);
        let n = module.instruction_capacity();
        let at = InstrId::new(0);
        Self {
            cx: Cx {
                module,
                at,
                added: Vec::new(),
                starts: HashMap::new(),
                namer: None,
                combiners: Combiners::default(),
            },
            effects,
            pinned,
            queue: VecDeque::new(),
            queued: vec![false; n],
            dead: vec![false; n],
            removed: Vec::new(),
        }
    }

    /// Makes room for what a pattern added.
    fn grow(&mut self) {
        let n = self.cx.module.instruction_capacity();
        self.queued.resize(n, false);
        self.dead.resize(n, false);
    }

    fn push(&mut self, id: InstrId) {
        if !self.queued[id.index()] && !self.dead[id.index()] {
            self.queued[id.index()] = true;
            self.queue.push_back(id);
        }
    }

    /// Looks again at what uses a new value, a few steps on: patterns see constants through what only moves them.
    /// `users` use it now instead of another. Those that used it before are beside others then, which patterns see as
    /// well; of many that is not asked each time that there is one more.
    fn push_users(&mut self, new: InstrId, users: Vec<InstrId>) {
        const STEPS: usize = 4;
        const FEW: usize = 16;
        let all = self.cx.module.users(new);
        let users = if all.len() <= FEW { all.to_vec() } else { users };
        let mut found = vec![(users, STEPS)];
        while let Some((users, steps)) = found.pop() {
            for user in users {
                let moves = matches!(
                    self.cx.module[user].op,
                    Op::Broadcast(_) | Op::Convert | Op::Copy | Op::Reshape(_) | Op::Transpose(_)
                );
                if moves && steps > 0 {
                    found.push((self.cx.module.users(user).to_vec(), steps - 1));
                }
                self.push(user);
            }
        }
    }

    /// Applies one pattern to one instruction.
    fn try_pattern(&mut self, pattern: &Pattern, id: InstrId) -> bool {
        self.cx.at = id;
        self.cx.added.clear();
        let result = (pattern.apply)(&mut self.cx, id);
        let added = std::mem::take(&mut self.cx.added);
        self.grow();
        let module = &*self.cx.module;
        let fits = result.is_some_and(|new| {
            new != id
                && module[new].shape.compatible(&module[id].shape)
                && same_layout(&module[new].shape, &module[id].shape)
                && (added.contains(&new) || keeps_sharding(module, id, new))
        });
        debug_assert!(
            result.is_none_or(|new| module[new].shape.compatible(&module[id].shape)),
            "{}: {} is not {}",
            pattern.name,
            result.map_or(String::new(), |new| module[new].shape.to_string()),
            module[id].shape
        );
        match result {
            Some(new) if fits => {
                for &a in &added {
                    self.push(a);
                }
                let users = self.cx.module.users(id).to_vec();
                self.cx.module.replace_all_uses_with(id, new);
                if added.contains(&new) {
                    self.cx.module.copy_annotations(id, new);
                }
                self.push_users(new, users);
                self.push(new);
                self.kill_if_unused(id, true);
                // What a pattern made and did not use after all.
                for a in added {
                    self.kill_if_unused(a, true);
                }
                true
            }
            _ => {
                // All is as before: looking at the same instructions again would fail again.
                for a in added.into_iter().rev() {
                    self.kill_if_unused(a, false);
                }
                false
            }
        }
    }

    /// Takes an instruction that nothing needs, and then its operands likewise, out of the user lists. `again`
    /// tells whether patterns that ask for a single user get another look at what has one now.
    fn kill_if_unused(&mut self, id: InstrId, again: bool) {
        let mut stack = vec![id];
        while let Some(i) = stack.pop() {
            let module = &mut *self.cx.module;
            let needed = self.dead[i.index()]
                || !module.users(i).is_empty()
                || module.is_root(i)
                || matches!(module[i].op, Op::Parameter(_))
                || self.pinned.contains(&i)
                || effects::is_impure(&module[i].op) && !matches!(module[i].op, Op::OptBarrier)
                || self.effects.has(module, i);
            if needed {
                continue;
            }
            self.dead[i.index()] = true;
            self.removed.push(i);
            let operands = module[i].operands.clone();
            module.set_operands(i, []);
            for &o in operands.iter().filter(|_| again) {
                // Their number of users changed: a pattern that asked for one user may apply now.
                if let &[user] = self.cx.module.users(o) {
                    self.push(user);
                }
            }
            stack.extend(operands);
        }
    }

    fn finish(self) {
        self.cx.module.remove_all(&self.removed);
    }
}
