//! Modules and computations: the arenas, and a few edits that keep their invariants.
//!
//! Invariants, between any two method calls:
//! - every live instruction is in its parent's instruction list exactly once, and no dead instruction is in
//!   any list;
//! - operands and control predecessors are live and have the same parent;
//! - [`Module::users`] of an instruction contains exactly the live instructions that have it as an operand,
//!   without duplicates, in an order that depends on previous edits;
//! - the order of the instruction list has no meaning except in a scheduled module (`is_scheduled`). Use
//!   [`Module::post_order`] for an order with operands before users.

pub(crate) mod asynchronous;
mod equality;
pub(crate) mod frames;
pub(crate) mod ids;
pub(crate) mod instruction;
mod late_binding;
pub mod names;
mod order;
pub(crate) mod uses;

use crate::attr::{Header, HloString};
use crate::module::frames::StackFrames;
use crate::module::uses::{OperandPlaces, Users};
use crate::{CommonAttrs, ComputationId, InstrId, Instruction, Op, Shape, Span};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// A computation: a function from its parameters to its root.
#[derive(Clone, Debug, PartialEq)]
pub struct Computation {
    /// The name, without `%`, unique in the module.
    pub name: Box<str>,
    /// The `execution_thread`; `None` for the main thread. The name of a thread may be empty.
    pub execution_thread: Option<HloString>,
    instructions: Vec<InstrId>,
    root: Option<InstrId>,
}

impl Computation {
    /// Returns the live instructions. Their order has no meaning unless the module is scheduled.
    pub fn instructions(&self) -> &[InstrId] {
        &self.instructions
    }

    /// Returns the root, whose value is the computation's result.
    ///
    /// # Panics
    /// Panics if no root is set yet. The parser and the builder always set a root.
    pub fn root(&self) -> InstrId {
        self.root.expect("a finished computation has a root")
    }
}

/// A module: computations with their instructions. One computation is the entry.
///
/// # Example
/// Instructions and computations have ids, which stay valid through edits:
///
/// ```
/// use hlo_ir::{ElementType, Module, Op, Shape};
///
/// let mut module = Module::new("m");
/// let main = module.add_computation("main");
/// let shape = Shape::scalar(ElementType::F32);
/// let x = module.add(main, "x", shape.clone(), Op::parameter(0), []);
/// let minus = module.add(main, "minus", shape.clone(), Op::Negate, [x]);
/// let y = module.add(main, "y", shape, Op::Negate, [minus]);
/// module.set_root(main, y);
///
/// // The negative of the negative is the value itself.
/// module.replace_all_uses_with(y, x);
/// module.remove(y);
/// module.remove(minus);
/// assert_eq!(module[main].root(), x);
/// assert_eq!(module[main].instructions(), [x]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The name after `HloModule`.
    pub name: Box<str>,
    /// The attributes in the first line.
    pub header: Header,
    /// The stack-frame tables.
    pub stack_frames: StackFrames,
    instructions: Vec<Instruction>,
    live: Vec<bool>,
    spans: Vec<Span>,
    /// The positions of the header's attributes in the source text, by name.
    header_spans: Vec<(Box<str>, Span)>,
    users: Vec<Users>,
    operand_places: OperandPlaces,
    computations: Vec<Computation>,
    live_computations: Vec<bool>,
    entry: Option<ComputationId>,
    /// A number greater than the numbers after the last `.` of all instruction names. Numbers that do not fit
    /// an `i64` are ignored.
    next_suffix: u64,
}

impl std::ops::Index<InstrId> for Module {
    type Output = Instruction;
    fn index(&self, id: InstrId) -> &Instruction {
        &self.instructions[id.index()]
    }
}

impl std::ops::Index<ComputationId> for Module {
    type Output = Computation;
    fn index(&self, id: ComputationId) -> &Computation {
        &self.computations[id.index()]
    }
}

impl std::ops::IndexMut<ComputationId> for Module {
    fn index_mut(&mut self, id: ComputationId) -> &mut Computation {
        &mut self.computations[id.index()]
    }
}

/// Construction and access.
impl Module {
    /// Creates an empty module. Its name is [`names::sanitized`].
    pub fn new(name: &str) -> Self {
        Self { name: names::sanitized(name).into(), ..Self::default() }
    }

    /// Adds a computation without instructions. Its name is [`names::sanitized`].
    pub fn add_computation(&mut self, name: &str) -> ComputationId {
        let id = ComputationId::new(self.computations.len());
        self.computations.push(Computation {
            name: names::sanitized(name).into(),
            execution_thread: None,
            instructions: Vec::new(),
            root: None,
        });
        self.live_computations.push(true);
        id
    }

    /// Adds an instruction to a computation. Its name is [`names::sanitized`], but not made unique. See
    /// [`Module::unique_name`].
    pub fn add(
        &mut self,
        computation: ComputationId,
        name: &str,
        shape: Shape,
        op: Op,
        operands: impl IntoIterator<Item = InstrId>,
    ) -> InstrId {
        let id = InstrId::new(self.instructions.len());
        self.note_name(name);
        let operands: SmallVec<[InstrId; 3]> = operands.into_iter().collect();
        for &o in &operands {
            let users = &mut self.users[o.index()];
            // If an operand is repeated, `id` is already its last user, because `id` is new.
            if users.as_slice().last() != Some(&id) {
                users.add_new(id);
            }
        }
        self.instructions.push(Instruction {
            name: names::sanitized(name).into(),
            shape,
            op,
            operands,
            common: None,
            parent: computation,
        });
        self.live.push(true);
        self.spans.push(Span::default());
        self.users.push(Users::default());
        self.computations[computation.index()].instructions.push(id);
        id
    }

    /// Adds an instruction that replaces or accompanies `like`: in the same computation, with a name derived
    /// from it, and with its metadata and span.
    pub fn add_like(
        &mut self,
        like: InstrId,
        shape: impl Into<Shape>,
        op: Op,
        operands: impl IntoIterator<Item = InstrId>,
    ) -> InstrId {
        self.add_like_in(self[like].parent, like, shape, op, operands)
    }

    /// As [`Module::add_like`], in another computation.
    pub fn add_like_in(
        &mut self,
        computation: ComputationId,
        like: InstrId,
        shape: impl Into<Shape>,
        op: Op,
        operands: impl IntoIterator<Item = InstrId>,
    ) -> InstrId {
        let base = self[like].name.clone();
        let name = self.unique_name(&base);
        let id = self.add(computation, &name, shape.into(), op, operands);
        self.copy_provenance(like, id);
        id
    }

    /// Returns the number of instructions ever added, including dead ones: one more than the index of the
    /// largest id.
    pub fn instruction_capacity(&self) -> usize {
        self.instructions.len()
    }

    /// Returns whether the instruction has not been removed.
    pub fn is_live(&self, id: InstrId) -> bool {
        self.live[id.index()]
    }

    /// Returns the live instructions that have `id` as an operand, without duplicates.
    pub fn users(&self, id: InstrId) -> &[InstrId] {
        self.users[id.index()].as_slice()
    }

    /// Returns the position of the instruction in the source text.
    pub fn span(&self, id: InstrId) -> Span {
        self.spans[id.index()]
    }

    /// Sets the position of the instruction in the source text.
    pub fn set_span(&mut self, id: InstrId, span: Span) {
        self.spans[id.index()] = span;
    }

    /// Returns the position of the name of a header attribute in the source text; empty if the text does not
    /// contain it.
    pub fn header_span(&self, attribute: &str) -> Span {
        self.header_spans.iter().find(|(name, _)| **name == *attribute).map_or(Span::default(), |&(_, s)| s)
    }

    /// Sets the position of the name of a header attribute in the source text.
    pub fn set_header_span(&mut self, attribute: &str, span: Span) {
        match self.header_spans.iter_mut().find(|(name, _)| **name == *attribute) {
            Some((_, old)) => *old = span,
            None => self.header_spans.push((attribute.into(), span)),
        }
    }

    /// Returns the entry computation.
    ///
    /// # Panics
    /// Panics if no entry is set yet. The parser always sets an entry.
    pub fn entry(&self) -> ComputationId {
        self.entry.expect("a finished module has an entry")
    }

    /// Returns the entry computation, or `None` if it is not set yet.
    pub fn entry_if_set(&self) -> Option<ComputationId> {
        self.entry
    }

    /// Makes a computation the entry.
    pub fn set_entry(&mut self, id: ComputationId) {
        self.entry = Some(id);
    }

    /// Returns the live computations in the order in which they were added.
    pub fn computations(&self) -> impl Iterator<Item = ComputationId> + '_ {
        (0..self.computations.len()).filter(|&i| self.live_computations[i]).map(ComputationId::new)
    }

    /// Returns whether `id` is a computation of the module that has not been removed.
    pub fn is_live_computation(&self, id: ComputationId) -> bool {
        self.live_computations.get(id.index()).copied().unwrap_or(false)
    }

    /// Returns whether `id` is a computation of the module whose root is set.
    pub fn has_root(&self, id: ComputationId) -> bool {
        self.computations.get(id.index()).is_some_and(|c| c.root.is_some())
    }

    /// Returns the computations of fusions. They have no schedule in a scheduled module.
    pub(crate) fn fused_computations(&self) -> HashSet<ComputationId> {
        let instructions = self.computations().flat_map(|c| self[c].instructions());
        let called = instructions.filter_map(|&i| match &self[i].op {
            Op::Fusion(a) => Some(a.calls),
            _ => None,
        });
        called.collect()
    }

    /// Returns whether the instruction is the root of its computation.
    pub fn is_root(&self, id: InstrId) -> bool {
        self[self[id].parent].root == Some(id)
    }

    /// Returns whether another instruction, or the caller of the computation, needs the instruction's value.
    pub fn is_used(&self, id: InstrId) -> bool {
        !self.users(id).is_empty() || self.is_root(id)
    }

    /// Returns the parameters of a computation in the order of their numbers.
    pub fn parameters(&self, id: ComputationId) -> Vec<InstrId> {
        let mut found: Vec<(i64, InstrId)> = self[id]
            .instructions
            .iter()
            .filter_map(|&i| match &self[i].op {
                Op::Parameter(p) => Some((p.number, i)),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, i)| i).collect()
    }

    /// Returns the shapes of the program's parameters, in order, and of its result, as a user of the program
    /// sees them: those in `entry_computation_layout`, if present.
    pub fn entry_shapes(&self) -> (Vec<&Shape>, &Shape) {
        match &self.header.entry_computation_layout {
            Some(layout) => (layout.parameters.iter().collect(), &layout.result),
            None => {
                let parameters = self.parameters(self.entry());
                let root = self[self.entry()].root();
                (parameters.into_iter().map(|p| &self[p].shape).collect(), &self[root].shape)
            }
        }
    }

    /// Returns the live instructions that call each computation.
    pub fn callers(&self) -> HashMap<ComputationId, Vec<InstrId>> {
        let mut out: HashMap<ComputationId, Vec<InstrId>> = HashMap::new();
        for c in self.computations() {
            for &i in self[c].instructions() {
                for callee in self[i].op.called_computations() {
                    let list = out.entry(callee).or_default();
                    if list.last() != Some(&i) {
                        list.push(i);
                    }
                }
            }
        }
        out
    }
}

/// Edits.
impl Module {
    /// Sets a computation's root.
    pub fn set_root(&mut self, computation: ComputationId, root: InstrId) {
        debug_assert_eq!(self[root].parent, computation);
        self.computations[computation.index()].root = Some(root);
    }

    /// Renames an instruction. The name is [`names::sanitized`].
    pub fn set_name(&mut self, id: InstrId, name: &str) {
        self.note_name(name);
        self.instructions[id.index()].name = names::sanitized(name).into();
    }

    /// Sets an instruction's shape.
    pub fn set_shape(&mut self, id: InstrId, shape: Shape) {
        self.instructions[id.index()].shape = shape;
    }

    /// Replaces an instruction's operation. Its operands and shape do not change.
    pub fn set_op(&mut self, id: InstrId, op: Op) {
        self.instructions[id.index()].op = op;
    }

    /// Returns the operation for changing its attributes.
    pub fn op_mut(&mut self, id: InstrId) -> &mut Op {
        &mut self.instructions[id.index()].op
    }

    /// Returns the attributes that every opcode accepts. Creates them if there are none.
    pub fn common_mut(&mut self, id: InstrId) -> &mut CommonAttrs {
        self.instructions[id.index()].common.get_or_insert_default()
    }

    /// Copies the metadata and span of `from` to its replacement `to`.
    pub fn copy_provenance(&mut self, from: InstrId, to: InstrId) {
        self.spans[to.index()] = self.spans[from.index()];
        if let Some(metadata) =
            self[from].common.as_ref().map(|c| c.metadata.clone()).filter(|m| !m.is_empty())
        {
            self.common_mut(to).metadata = metadata;
        }
    }

    /// Copies the sharding and frontend attributes of `from` to its replacement `to`, which must have the
    /// same shape. Attributes that `to` already has do not change.
    pub fn copy_annotations(&mut self, from: InstrId, to: InstrId) {
        let Some(common) = self[from].common.as_deref() else { return };
        let (sharding, frontend) = (common.sharding.clone(), common.frontend_attributes.clone());
        if sharding.is_none() && frontend.is_empty() {
            return;
        }
        let common = self.common_mut(to);
        common.sharding = common.sharding.take().or(sharding);
        if common.frontend_attributes.is_empty() {
            common.frontend_attributes = frontend;
        }
    }

    /// Replaces operand number `index` of `user`.
    pub fn replace_operand(&mut self, user: InstrId, index: usize, with: InstrId) {
        let operands = &mut self.instructions[user.index()].operands;
        let old = operands[index];
        if !self.operand_places.replace_one(user, operands, index, with) {
            self.users[old.index()].remove(user);
        }
        self.users[with.index()].add(user);
    }

    /// Replaces all occurrences of `old` in the operands of `user` by `new`.
    pub fn replace_operands(&mut self, user: InstrId, old: InstrId, new: InstrId) {
        let operands = &mut self.instructions[user.index()].operands;
        if old == new || !self.operand_places.replace_all(user, operands, old, new) {
            return;
        }
        self.users[old.index()].remove(user);
        self.users[new.index()].add(user);
    }

    /// Replaces the whole operand list of `user`.
    pub fn set_operands(&mut self, user: InstrId, operands: impl IntoIterator<Item = InstrId>) {
        let old = std::mem::take(&mut self.instructions[user.index()].operands);
        self.operand_places.forget(user);
        for o in old {
            self.users[o.index()].remove(user);
        }
        let new: SmallVec<[InstrId; 3]> = operands.into_iter().collect();
        for &o in &new {
            self.users[o.index()].add(user);
        }
        self.instructions[user.index()].operands = new;
    }

    /// Replaces `old` by `new` in all users, and as the root. Control predecessors are not replaced.
    pub fn replace_all_uses_with(&mut self, old: InstrId, new: InstrId) {
        if old == new {
            return;
        }
        for &user in std::mem::take(&mut self.users[old.index()]).as_slice() {
            if user == new {
                // `new` is computed from `old`. This use stays.
                self.users[old.index()].add_new(user);
                continue;
            }
            let operands = &mut self.instructions[user.index()].operands;
            self.operand_places.replace_all(user, operands, old, new);
            self.users[new.index()].add(user);
        }
        let parent = self[old].parent;
        if self[parent].root == Some(old) {
            self.computations[parent.index()].root = Some(new);
        }
    }

    /// Removes an instruction from its computation. It must have no users and must not be a root.
    pub fn remove(&mut self, id: InstrId) {
        self.remove_all(&[id]);
    }

    /// Removes instructions from their computations. Only instructions in the list may use them, and none may
    /// be a root. Takes time linear in the sizes of the computations, so pass many instructions at once.
    pub fn remove_all(&mut self, ids: &[InstrId]) {
        let mut parents = HashSet::new();
        for &id in ids {
            debug_assert_ne!(self[self[id].parent].root, Some(id), "a root is not removed");
            self.live[id.index()] = false;
            parents.insert(self[id].parent);
            self.operand_places.forget(id);
            for o in std::mem::take(&mut self.instructions[id.index()].operands) {
                self.users[o.index()].remove(id);
            }
        }
        let live = &self.live;
        let gone: HashSet<InstrId> = ids.iter().copied().collect();
        for p in parents {
            let list = &mut self.computations[p.index()].instructions;
            list.retain(|i| live[i.index()]);
            for &i in list.iter() {
                if let Some(c) = self.instructions[i.index()].common.as_deref_mut() {
                    c.control_predecessors.retain(|p| !gone.contains(p));
                }
            }
        }
        debug_assert!(ids.iter().all(|&i| self.users(i).is_empty()), "a removed instruction has no users");
    }

    /// Removes a computation without callers from the module, with its instructions.
    pub fn remove_computation(&mut self, id: ComputationId) {
        debug_assert_ne!(self.entry, Some(id), "the entry is not removed");
        self.live_computations[id.index()] = false;
        for i in std::mem::take(&mut self.computations[id.index()].instructions) {
            self.live[i.index()] = false;
            self.users[i.index()] = Users::default();
            self.operand_places.forget(i);
        }
        self.computations[id.index()].root = None;
    }

    /// Sets the order of a computation's instruction list. `order` must be a permutation of the list.
    pub fn set_order(&mut self, computation: ComputationId, order: Vec<InstrId>) {
        debug_assert_eq!(order.len(), self[computation].instructions.len());
        self.computations[computation.index()].instructions = order;
    }

    /// Returns a name that no instruction of the module has: the stem of `base` with a suffix `.N`.
    pub fn unique_name(&mut self, base: &str) -> String {
        let stem = match base.rsplit_once('.') {
            Some((stem, n)) if !stem.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => stem,
            _ => base,
        };
        let n = self.next_suffix.max(1);
        self.next_suffix = n + 1;
        format!("{stem}.{n}")
    }

    /// Keeps `next_suffix` greater than the number at the end of `name`. It never exceeds the range of `i64`.
    fn note_name(&mut self, name: &str) {
        let number = name.rsplit_once('.').and_then(|(_, n)| n.parse::<u64>().ok());
        if let Some(n) = number.filter(|&n| n < i64::MAX as u64) {
            self.next_suffix = self.next_suffix.max(n + 1);
        }
    }
}
