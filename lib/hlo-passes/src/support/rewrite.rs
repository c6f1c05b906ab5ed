//! The rewrite driver: one worklist, patterns as functions.
//!
//! A [`Pattern`] examines one instruction and may return another value to replace it. The driver visits
//! operands before users and replaces all uses. It then visits the affected instructions again: the new ones
//! and the users.
//!
//! The driver immediately removes unused instructions from the user lists, so that a pattern can check
//! whether a value has a single user. It removes them from the module at the end.

use super::combiner::Combiners;
use super::effects::{Effects, control_dependent};
use super::range::{Range, range_of};
use super::{constants, effects};
use crate::pass::Pass;
use crate::rewrites::Rewrites;
use crate::rewriting::{AllNumbers, Matchers, Rule, RuleSet, numbers_of};
use hlo_ir::attr::{HloString, ResultAccuracy, SliceDim};
use hlo_ir::build::{Build, ComputationNamer};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, InstrId, Literal, Module, Op, Opcode, Shape};
use smallvec::SmallVec;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// A rewrite pattern.
pub struct Pattern {
    /// The name in tests and in the documentation.
    pub name: &'static str,
    /// A description of one line, before → after.
    pub summary: &'static str,
    /// The opcodes of the instructions to examine, or all if empty.
    pub opcodes: &'static [Opcode],
    /// Returns the value of the same shape that replaces the instruction, or `None`.
    pub apply: fn(&mut Cx<'_>, InstrId) -> Option<InstrId>,
}

impl Pattern {
    /// Creates a pattern for a table.
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        opcodes: &'static [Opcode],
        apply: fn(&mut Cx<'_>, InstrId) -> Option<InstrId>,
    ) -> Self {
        Self { name, summary, opcodes, apply }
    }
}

/// The ranges of some values; `None` for a value that has no range.
type KnownRanges = SmallVec<[(InstrId, Option<Range>); 3]>;

/// The context of a pattern: the module, and methods to emit instructions next to the examined one.
pub struct Cx<'m> {
    /// The module.
    pub module: &'m mut Module,
    at: InstrId,
    added: Vec<InstrId>,
    /// The results of [`Cx::concatenate_starts`] for long concatenations. They stay valid because operands
    /// are only replaced by others of the same sizes.
    starts: HashMap<InstrId, Rc<[i64]>>,
    /// The names of computations. Created when a pattern first adds a computation.
    namer: Option<ComputationNamer>,
    combiners: Combiners,
    /// The ranges of values, while the patterns examine one instruction.
    ranges: RefCell<KnownRanges>,
    /// The numbers in the attributes of the examined instruction, if they were needed.
    numbers: OnceCell<Option<AllNumbers>>,
}

impl Cx<'_> {
    /// Returns the numbers in the attributes of the examined instruction. Returns `None` for other instructions.
    pub(crate) fn examined_numbers(&self, id: InstrId) -> Option<&Option<AllNumbers>> {
        (id == self.at).then(|| self.numbers.get_or_init(|| numbers_of(self.module, &self.module[id])))
    }

    /// Returns the range of the elements of an integer array, as far as it is known.
    pub(crate) fn range(&self, id: InstrId) -> Option<Range> {
        let mut known = self.ranges.borrow_mut();
        if let Some((_, range)) = known.iter().find(|(of, _)| *of == id) {
            return *range;
        }
        let range = range_of(self.module, id);
        known.push((id, range));
        range
    }

    /// Returns an operand of an instruction.
    pub fn operand(&self, id: InstrId, index: usize) -> Option<InstrId> {
        self.module[id].operands.get(index).copied()
    }

    /// Returns the shape of a static array. Returns `None` for tuples, tokens and dynamic arrays, which
    /// patterns skip.
    pub fn array(&self, id: InstrId) -> Option<ArrayShape> {
        self.module[id].shape.as_array().filter(|a| a.is_static()).cloned()
    }

    /// Returns the element type of an array.
    pub fn element_type(&self, id: InstrId) -> Option<ElementType> {
        self.module[id].shape.as_array().map(|a| a.element_type)
    }

    /// Returns the offset of each operand of a concatenation along its dimension, and the end of the last
    /// one.
    pub(crate) fn concatenate_starts(&mut self, id: InstrId, dimension: usize) -> Option<Rc<[i64]>> {
        const MAX_UNCACHED_OPERANDS: usize = 16;
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
        if operands.len() > MAX_UNCACHED_OPERANDS {
            self.starts.insert(id, starts.clone());
        }
        Some(starts)
    }

    /// Returns the opcode of an instruction.
    pub fn opcode(&self, id: InstrId) -> Opcode {
        self.module[id].opcode()
    }

    /// Returns whether `user` is the only user of the value and the value is not a root.
    pub fn used_only_by(&self, id: InstrId, user: InstrId) -> bool {
        self.module.users(id) == [user] && !self.module.is_root(id)
    }

    /// Returns the module, and the namer for computations that a pattern adds to it.
    pub fn naming(&mut self) -> (&mut Module, &mut ComputationNamer) {
        let namer = self.namer.get_or_insert_with(|| ComputationNamer::new(self.module));
        (self.module, namer)
    }

    /// Returns a computation that applies a binary operation to two scalars.
    pub fn combiner(&mut self, op: &Op, ty: ElementType) -> ComputationId {
        let caller = self.module[self.at].parent;
        let namer = self.namer.get_or_insert_with(|| ComputationNamer::new(self.module));
        self.combiners.get(self.module, namer, op, ty, caller)
    }

    /// Adds an instruction next to the examined one.
    pub fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        let id = self.module.add_like(self.at, shape, op, operands.iter().copied());
        self.added.push(id);
        id
    }

    /// Adds an instruction with the shape of the examined one.
    pub fn add_same_shape(&mut self, op: Op, operands: &[InstrId]) -> InstrId {
        let shape = self.module[self.at].shape.clone();
        self.add(shape, op, operands)
    }

    /// Converts `value` to another element type. Returns it unchanged if it already has that type.
    pub fn convert(&mut self, value: InstrId, ty: ElementType) -> Option<InstrId> {
        let shape = self.array(value)?;
        if shape.element_type == ty {
            return Some(value);
        }
        Some(self.add(shape.with_element_type(ty), Op::Convert, &[value]))
    }

    /// Computes the examined array operation on operands of type `ty`, and converts the result back.
    pub(crate) fn computed_in(&mut self, ty: ElementType) -> Option<InstrId> {
        let (operands, op) = (self.module[self.at].operands.to_vec(), self.module[self.at].op.clone());
        let converted = operands.into_iter().map(|o| self.convert(o, ty)).collect::<Option<Vec<_>>>()?;
        let shape = self.array(self.at)?.with_element_type(ty);
        let result = self.add(shape, op, &converted);
        Some(self.add_same_shape(Op::Convert, &[result]))
    }

    /// Slices `id` to these ranges, which must be in bounds. Returns `id` if they contain the whole array.
    pub fn slice(&mut self, id: InstrId, ranges: Vec<SliceDim>) -> Option<InstrId> {
        let a = self.array(id)?;
        let dims: Dims = ranges.iter().map(taken).collect::<Option<_>>()?;
        if a.dims == dims {
            return Some(id);
        }
        Some(self.add(ArrayShape::new(a.element_type, dims), Op::slice(ranges), &[id]))
    }

    /// Broadcasts `id` to an array with the sizes `dims`. `map` contains the result dimension of each
    /// dimension.
    pub fn broadcast(&mut self, id: InstrId, dims: &[i64], map: &[i64]) -> Option<InstrId> {
        let shape = ArrayShape::new(self.element_type(id)?, dims.iter().copied());
        Some(Build::broadcast(self, id, &shape, map))
    }

    /// Emits a constant of the shape whose elements all have these bytes.
    pub fn splat(&mut self, shape: &ArrayShape, bytes: &[u8]) -> Option<InstrId> {
        if shape.rank() == 0 {
            let literal = Literal::scalar_from_bytes(shape.element_type, bytes)?;
            return Some(self.add(shape.clone(), Op::constant(literal), &[]));
        }
        let scalar = self.scalar(shape.element_type, bytes)?;
        Some(self.add(shape.clone(), Op::broadcast([]), &[scalar]))
    }

    /// Emits a constant of the shape whose elements all equal this small integer.
    pub fn splat_integer(&mut self, shape: &ArrayShape, value: i64) -> Option<InstrId> {
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

    /// Patterns skip dynamic arrays.
    fn array_of(&self, id: InstrId) -> Option<ArrayShape> {
        self.array(id)
    }
}

/// Returns the number of elements in a range, or `None` if the range is not valid.
fn taken(range: &SliceDim) -> Option<i64> {
    let length = range.limit.checked_sub(range.start)?;
    (range.stride > 0 && length >= 0).then(|| length / range.stride + i64::from(length % range.stride != 0))
}

/// Converts a dimension number to an index.
pub fn index(d: i64) -> Option<usize> {
    usize::try_from(d).ok()
}

/// Returns the sizes other than 1.
pub fn without_ones(dims: &[i64]) -> Dims {
    dims.iter().copied().filter(|&d| d != 1).collect()
}

/// Returns whether both shapes have the same layouts.
pub fn same_layout(a: &Shape, b: &Shape) -> bool {
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

/// Returns whether `new` has the sharding of `old`, if `old` has one. A value that existed before keeps its
/// sharding.
fn keeps_sharding(module: &Module, old: InstrId, new: InstrId) -> bool {
    module[old].sharding().is_none_or(|s| module[new].sharding() == Some(s))
}

/// Returns the required accuracy of an instruction's result.
pub fn result_accuracy(module: &Module, id: InstrId) -> ResultAccuracy {
    module[id].common.as_deref().map_or(ResultAccuracy::Default, |c| c.result_accuracy)
}

/// Returns the common attributes that affect the value, or `None` if they have their default values.
pub fn accuracy(module: &Module, id: InstrId) -> Option<(ResultAccuracy, &HloString)> {
    let common = module[id].common.as_deref()?;
    let any = common.result_accuracy != ResultAccuracy::Default || !common.backend_config.is_empty();
    any.then_some((common.result_accuracy, &common.backend_config))
}

/// Returns whether the shardings of two instructions are equal or at least one has none.
pub fn same_sharding(module: &Module, a: InstrId, b: InstrId) -> bool {
    module[a].sharding().zip(module[b].sharding()).is_none_or(|(a, b)| a == b)
}

/// Maximum number of rewrites per instruction. More of them mean that two patterns undo each other, so the
/// driver stops and keeps its current result.
const MAX_REWRITES_PER_INSTRUCTION: usize = 32;

/// Returns a pass that applies the patterns of some tables.
pub fn pattern_pass(tables: &'static [&'static [Pattern]]) -> Box<dyn Pass> {
    rule_pass(None, tables)
}

/// Returns a pass that applies rules and the patterns of some tables. For each instruction, the rules are tried
/// first.
pub fn rule_pass(rules: Option<&'static RuleSet>, tables: &'static [&'static [Pattern]]) -> Box<dyn Pass> {
    Box::new(move |module: &mut Module, rewrites: &mut Rewrites| -> Result<bool, Diag> {
        let mut attempts = Attempts { rules: rules.map(RuleSet::matchers), ..Attempts::default() };
        tables.iter().flat_map(|table| table.iter()).for_each(|pattern| attempts.add_pattern(pattern));
        Ok(apply(module, &attempts, rewrites, |_| true))
    })
}

/// Applies rules until none applies. Returns the number of rewrites.
pub(crate) fn apply_rules(module: &mut Module, rules: &[Rule]) -> u64 {
    let matchers =
        Matchers::new(rules.iter().flat_map(|rule| rule.clauses.iter().map(|clause| ("rule", clause))));
    let attempts = Attempts { rules: Some(&matchers), ..Attempts::default() };
    let mut rewrites = Rewrites::default();
    apply(module, &attempts, &mut rewrites, |_| true);
    rewrites.total()
}

/// The attempts for each opcode: first the rules, then the patterns.
struct Attempts<'p> {
    rules: Option<&'p Matchers<'p>>,
    patterns: Vec<Vec<&'p Pattern>>,
}

impl Default for Attempts<'_> {
    fn default() -> Self {
        Self { rules: None, patterns: vec![Vec::new(); Opcode::ALL.len()] }
    }
}

impl<'p> Attempts<'p> {
    fn add_pattern(&mut self, pattern: &'p Pattern) {
        let opcodes = if pattern.opcodes.is_empty() { Opcode::ALL } else { pattern.opcodes };
        for &opcode in opcodes {
            self.patterns[opcode as usize].push(pattern);
        }
    }
}

/// Applies the patterns to the instructions of the computations that `within` selects until none applies.
/// Returns whether any applied. For each instruction, the patterns are tried in their order.
pub(crate) fn apply_patterns_in(
    module: &mut Module,
    patterns: &[&Pattern],
    rewrites: &mut Rewrites,
    within: impl Fn(ComputationId) -> bool,
) -> bool {
    let mut attempts = Attempts::default();
    patterns.iter().for_each(|pattern| attempts.add_pattern(pattern));
    apply(module, &attempts, rewrites, within)
}

/// Makes the attempts on the instructions of the computations that `within` selects, until none succeeds.
/// Returns whether any did.
fn apply(
    module: &mut Module,
    attempts: &Attempts<'_>,
    rewrites: &mut Rewrites,
    within: impl Fn(ComputationId) -> bool,
) -> bool {
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
        if let Some(name) = driver.rewrite(attempts, id) {
            rewrites.made(name, &driver.cx.module[id].name);
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
                ranges: RefCell::default(),
                numbers: OnceCell::new(),
            },
            effects,
            pinned,
            queue: VecDeque::new(),
            queued: vec![false; n],
            dead: vec![false; n],
            removed: Vec::new(),
        }
    }

    /// Grows the tables after a pattern added instructions.
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

    /// Queues the users of a new value, and their users through a few data movements, because patterns find
    /// constants through data movements. `users` previously used the replaced value. The earlier users of
    /// `new` are queued as well, because patterns examine sibling users. They are omitted if there are many,
    /// to limit the cost.
    fn push_users(&mut self, new: InstrId, users: Vec<InstrId>) {
        const MAX_STEPS: usize = 4;
        const MAX_EXAMINED_USERS: usize = 16;
        let all = self.cx.module.users(new);
        let users = if all.len() <= MAX_EXAMINED_USERS { all.to_vec() } else { users };
        let mut found = vec![(users, MAX_STEPS)];
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

    /// Returns the opcodes of the operands of an elementwise operation.
    fn operand_opcodes(&self, id: InstrId) -> SmallVec<[Opcode; 3]> {
        let operands = &self.cx.module[id].operands;
        operands.iter().take(3).map(|&operand| self.cx.opcode(operand)).collect()
    }

    /// Makes the attempts on an instruction until one succeeds. Returns the name of the rewrite.
    fn rewrite(&mut self, attempts: &Attempts<'_>, id: InstrId) -> Option<&'static str> {
        let opcode = self.cx.opcode(id);
        self.cx.at = id;
        self.cx.added.clear();
        self.cx.ranges.borrow_mut().clear();
        self.cx.numbers.take();
        let rules = attempts.rules.map_or(&[][..], |rules| rules.of(opcode));
        if !rules.is_empty() {
            let operands = self.operand_opcodes(id);
            for (name, clause) in rules {
                if clause.admits(self.cx.module, id, &operands) {
                    let result = clause.apply(&mut self.cx, id);
                    if self.made(name, result, id) {
                        return Some(name);
                    }
                }
            }
        }
        for pattern in &attempts.patterns[opcode as usize] {
            let result = (pattern.apply)(&mut self.cx, id);
            if self.made(pattern.name, result, id) {
                return Some(pattern.name);
            }
        }
        None
    }

    /// Ends an attempt. Returns whether it replaced the instruction.
    fn made(&mut self, name: &str, result: Option<InstrId>, id: InstrId) -> bool {
        (result.is_some() || !self.cx.added.is_empty()) && self.replace(name, result, id)
    }

    /// Replaces an instruction by the result of an attempt. Returns whether it did.
    fn replace(&mut self, name: &str, result: Option<InstrId>, id: InstrId) -> bool {
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
            "{name}: {} is not {}",
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
                // Remove instructions that the pattern added but did not use.
                for a in added {
                    self.kill_if_unused(a, true);
                }
                true
            }
            _ => {
                // Nothing changed, so the same instructions are not queued again.
                for a in added.into_iter().rev() {
                    self.kill_if_unused(a, false);
                }
                false
            }
        }
    }

    /// Removes an unused instruction, and then operands that became unused, from the user lists. `again` is
    /// whether to queue the users of operands that now have a single user.
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
                // The number of users changed, so a pattern that requires a single user may apply now.
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
