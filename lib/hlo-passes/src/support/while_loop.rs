//! Loops whose state is a tuple that the condition and the body access by element: finds their elements, and
//! adds or removes elements.

use super::clone::{clone_instruction, clone_with_owned, set_callee};
use super::layouts::relaid;
use crate::rewrites::Rewrites;
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;

/// Returns the index if the instruction is a `get-tuple-element` of `tuple`.
pub fn element_of(module: &Module, id: InstrId, tuple: InstrId) -> Option<usize> {
    match &module[id].op {
        Op::GetTupleElement(a) if module[id].operands.first() == Some(&tuple) => {
            usize::try_from(a.index).ok()
        }
        _ => None,
    }
}

/// Number of instructions that call each computation.
pub struct CallCounts(HashMap<ComputationId, usize>);

impl CallCounts {
    /// Counts the calls of a module.
    pub fn of(module: &Module) -> Self {
        let mut counts = Self(HashMap::new());
        for c in module.computations() {
            counts.note(module, c);
        }
        counts
    }

    /// Counts the calls in a new computation.
    pub fn note(&mut self, module: &Module, computation: ComputationId) {
        for &i in module[computation].instructions() {
            for callee in module[i].op.called_computations() {
                *self.0.entry(callee).or_default() += 1;
            }
        }
    }

    /// Copies the computations that an instruction shares with others, so that it has its own.
    pub fn make_own(&mut self, module: &mut Module, namer: &mut ComputationNamer, id: InstrId) -> bool {
        let mut changed = false;
        for (n, callee) in module[id].op.called_computations().into_iter().enumerate() {
            if self.0.get(&callee).copied().unwrap_or(0) < 2 {
                continue;
            }
            let copies = clone_with_owned(module, namer, callee);
            for &copy in &copies {
                self.note(module, copy);
            }
            let Some(&copy) = copies.first() else { continue };
            set_callee(module.op_mut(id), n, copy);
            *self.0.entry(callee).or_default() -= 1;
            *self.0.entry(copy).or_default() += 1;
            changed = true;
        }
        changed
    }
}

/// Calls `visit` for each loop of these computations that [`WhileLoop`] can represent. Returns whether any
/// call changed something.
pub(crate) fn visit_loops(
    module: &mut Module,
    computations: impl IntoIterator<Item = ComputationId>,
    mut visit: impl FnMut(&mut Module, WhileLoop) -> bool,
) -> bool {
    let mut changed = false;
    for c in computations {
        for id in module.post_order(c) {
            if let Some(found) = WhileLoop::of(module, id) {
                changed |= visit(module, found);
            }
        }
    }
    changed
}

/// A `while` whose state is a tuple. The condition and the body only read elements of the state, and the root
/// of the body is a `tuple` instruction.
#[derive(Clone, Copy)]
pub struct WhileLoop {
    /// The `while` instruction.
    pub id: InstrId,
    /// Its condition.
    pub condition: ComputationId,
    /// Its body.
    pub body: ComputationId,
    /// The parameter of the condition.
    pub condition_state: InstrId,
    /// The parameter of the body.
    pub body_state: InstrId,
    /// The tuple that is the next state.
    pub next: InstrId,
    /// Number of elements.
    pub len: usize,
}

impl WhileLoop {
    /// Returns the loop if the instruction is one of this kind. Loops with per-element shardings, replication
    /// or original values are skipped.
    pub fn of(module: &Module, id: InstrId) -> Option<Self> {
        let Op::While(a) = &module[id].op else { return None };
        let len = module[id].shape.as_tuple()?.len();
        let state = |c: ComputationId| match module.parameters(c)[..] {
            [one] if module.has_root(c) && module[c].root() != one => Some(one),
            _ => None,
        };
        let found = Self {
            id,
            condition: a.condition,
            body: a.body,
            condition_state: state(a.condition)?,
            body_state: state(a.body)?,
            next: module[a.body].root(),
            len,
        };
        let taken_apart = |tuple: InstrId| {
            let parts = module[tuple].shape.as_tuple().map_or(0, <[Shape]>::len);
            parts == len
                && module.users(tuple).iter().all(|&u| element_of(module, u, tuple).is_some_and(|e| e < len))
        };
        let made = matches!(module[found.next].op, Op::Tuple)
            && module[found.next].operands.len() == len
            && module.users(found.next).is_empty();
        let init = *module[id].operands.first()?;
        let plain = |i: InstrId| {
            module[i]
                .common
                .as_deref()
                .is_none_or(|c| c.sharding.is_none() && c.parameter_replication.is_empty())
        };
        let all_plain =
            [id, init, found.next, found.condition_state, found.body_state].into_iter().all(plain);
        (made && all_plain && taken_apart(found.condition_state) && taken_apart(found.body_state))
            .then_some(found)
    }

    /// Returns the initial value of an element, if a `tuple` instruction creates the initial state.
    pub fn initial(&self, module: &Module, element: usize) -> Option<InstrId> {
        let init = *module[self.id].operands.first()?;
        match module[init].op {
            Op::Tuple => module[init].operands.get(element).copied(),
            _ => None,
        }
    }

    /// Returns the next value of an element.
    pub fn next_value(&self, module: &Module, element: usize) -> Option<InstrId> {
        module[self.next].operands.get(element).copied()
    }

    /// Returns whether the element is loop-invariant.
    pub(crate) fn is_invariant(&self, module: &Module, element: usize) -> bool {
        let next = self.next_value(module, element);
        next.is_some_and(|n| element_of(module, n, self.body_state) == Some(element))
    }

    /// Returns the `get-tuple-element` instructions of `tuple`, for each element.
    pub(crate) fn element_users(&self, module: &Module, tuple: InstrId) -> Vec<Vec<InstrId>> {
        let mut out = vec![Vec::new(); self.len];
        for &user in module.users(tuple) {
            if let Some(list) = element_of(module, user, tuple).and_then(|e| out.get_mut(e)) {
                list.push(user);
            }
        }
        out
    }

    /// Returns for each element whether the condition or the body reads it other than to pass it on.
    pub fn reads(&self, module: &Module) -> Vec<bool> {
        let mut out = vec![false; self.len];
        for state in [self.condition_state, self.body_state] {
            for (reads, takers) in out.iter_mut().zip(self.element_users(module, state)) {
                *reads |= takers.iter().any(|&taker| {
                    module.users(taker).iter().any(|&u| u != self.next) || module.is_root(taker)
                });
            }
        }
        out
    }

    /// Copies the initial values of some elements into the condition and the body. The elements must be
    /// loop-invariant, and their initial values constants or broadcasts of constants. No other instruction
    /// may call the condition and the body. `name` is the name of the rewrites.
    pub(crate) fn sink_constants(
        &self,
        module: &mut Module,
        elements: &[usize],
        name: &'static str,
        rewrites: &mut Rewrites,
    ) -> bool {
        let inside = [(self.condition, self.condition_state), (self.body, self.body_state)]
            .map(|(computation, state)| (computation, self.element_users(module, state)));
        let mut changed = false;
        for &element in elements {
            let Some(initial) = self.initial(module, element).filter(|_| rewrites.allowed()) else {
                continue;
            };
            rewrites.made(name, &module[initial].name);
            for (computation, takers) in &inside {
                self.replace_reads(module, *computation, &takers[element], initial);
            }
            changed = true;
        }
        changed
    }

    /// Replaces the reads of an element in the condition or the body by a copy of `value`, which is a
    /// constant or a broadcast of one. An element that is only passed on stays.
    fn replace_reads(
        &self,
        module: &mut Module,
        computation: ComputationId,
        takers: &[InstrId],
        value: InstrId,
    ) {
        let mut copy = None;
        for &taker in takers {
            let users: Vec<InstrId> =
                module.users(taker).iter().copied().filter(|&u| u != self.next).collect();
            let is_root = module[computation].root() == taker;
            if users.is_empty() && !is_root {
                continue;
            }
            // The layout outside of the loop may differ.
            let shape = module[taker].shape.clone();
            let here = *copy.get_or_insert_with(|| {
                let here = copy_constant(module, value, computation);
                relaid(module, here, &shape)
            });
            for user in users {
                module.replace_operands(user, taker, here);
            }
            if is_root {
                module.set_root(computation, here);
            }
        }
    }

    /// Appends loop-invariant elements with these initial values to the state. Returns the instructions that
    /// read them in the body. No other instruction may call the condition and the body. Users of the whole
    /// result get a tuple with the old elements.
    pub(crate) fn add_invariants(&mut self, module: &mut Module, values: &[InstrId]) -> Option<Vec<InstrId>> {
        let shapes: Vec<Shape> = values.iter().map(|&v| module[v].shape.clone()).collect();
        let mut init = self.initial_values(module)?;
        init.extend(values);
        self.take_apart_result(module);
        let mut next = module[self.next].operands.to_vec();
        for id in [self.id, self.condition_state, self.body_state, self.next] {
            let mut parts = module[id].shape.as_tuple()?.to_vec();
            parts.extend(shapes.iter().cloned());
            module.set_shape(id, Shape::tuple(parts));
        }
        let taken: Vec<InstrId> = shapes
            .iter()
            .enumerate()
            .map(|(n, shape)| add_element(module, self.body_state, self.len + n, shape.clone()))
            .collect();
        next.extend(&taken);
        module.set_operands(self.next, next);
        self.len += values.len();
        self.set_initial(module, init);
        self.forget_indices(module);
        Some(taken)
    }

    /// Returns the users of the loop's result that are not `get-tuple-element` instructions.
    fn whole_users(&self, module: &Module) -> Vec<InstrId> {
        let whole = |&u: &InstrId| element_of(module, u, self.id).is_none();
        module.users(self.id).iter().copied().filter(whole).collect()
    }

    /// Returns whether the loop's result is used as a whole.
    pub(crate) fn is_used_whole(&self, module: &Module) -> bool {
        module.is_root(self.id) || !self.whole_users(module).is_empty()
    }

    /// Replaces the uses of the whole result by a tuple of its elements.
    pub(crate) fn take_apart_result(&self, module: &mut Module) {
        let is_root = module.is_root(self.id);
        let users = self.whole_users(module);
        let parts = module[self.id].shape.as_tuple().map_or(Vec::new(), <[Shape]>::to_vec);
        if users.is_empty() && !is_root {
            return;
        }
        let parts: Vec<InstrId> =
            parts.into_iter().enumerate().map(|(n, part)| add_element(module, self.id, n, part)).collect();
        let shape = module[self.id].shape.clone();
        let whole = module.add_like(self.id, shape, Op::Tuple, parts);
        for user in users {
            module.replace_operands(user, self.id, whole);
        }
        if is_root {
            module.set_root(module[self.id].parent, whole);
        }
    }

    /// Removes the elements for which `keep` is false. Only the initial and the next state may use their
    /// values, and no instruction may read them.
    pub(crate) fn keep_elements(&mut self, module: &mut Module, keep: &[bool]) {
        let Some(init) = self.initial_values(module) else { return };
        let mut number = vec![0usize; self.len];
        let mut count = 0;
        for (place, &kept) in number.iter_mut().zip(keep) {
            *place = count;
            count += usize::from(kept);
        }
        for tuple in [self.id, self.condition_state, self.body_state] {
            for taker in module.users(tuple).to_vec() {
                if let Op::GetTupleElement(a) = module.op_mut(taker)
                    && let Some(&to) = usize::try_from(a.index).ok().and_then(|n| number.get(n))
                {
                    a.index = to as i64;
                }
            }
        }
        let kept = |n: &usize| keep.get(*n).copied().unwrap_or(true);
        for id in [self.id, self.condition_state, self.body_state, self.next] {
            let parts = module[id].shape.as_tuple().unwrap_or_default();
            let parts = parts.iter().enumerate().filter(|(n, _)| kept(n)).map(|(_, p)| p.clone()).collect();
            module.set_shape(id, Shape::Tuple(parts));
        }
        let next: Vec<InstrId> = module[self.next].operands.to_vec();
        let only = |all: Vec<InstrId>| all.into_iter().enumerate().filter(|(n, _)| kept(n)).map(|(_, i)| i);
        module.set_operands(self.next, only(next));
        self.len = count;
        self.set_initial(module, only(init).collect());
        self.forget_indices(module);
    }

    /// Returns the initial values of all elements. Emits `get-tuple-element` instructions unless a `tuple`
    /// instruction creates the initial state.
    fn initial_values(&self, module: &mut Module) -> Option<Vec<InstrId>> {
        let init = *module[self.id].operands.first()?;
        if let Op::Tuple = module[init].op {
            return Some(module[init].operands.to_vec());
        }
        let parts = module[init].shape.as_tuple()?.to_vec();
        Some(parts.into_iter().enumerate().map(|(n, shape)| add_element(module, init, n, shape)).collect())
    }

    /// Sets the initial state to a tuple of these values. Modifies the current tuple if nothing else uses it.
    fn set_initial(&self, module: &mut Module, values: Vec<InstrId>) {
        let Some(&old) = module[self.id].operands.first() else { return };
        let shape = Shape::Tuple(values.iter().map(|&v| module[v].shape.clone()).collect());
        let parent = module[self.id].parent;
        let own = matches!(module[old].op, Op::Tuple)
            && module.users(old) == [self.id]
            && module[parent].root() != old;
        if own {
            module.set_shape(old, shape);
            module.set_operands(old, values);
            return;
        }
        let tuple = module.add_like_in(parent, old, shape, Op::Tuple, values);
        module.set_operands(self.id, [tuple]);
    }

    /// Removes annotations that refer to elements by number.
    fn forget_indices(&self, module: &mut Module) {
        let Some(common) = module[self.id].common.as_deref() else { return };
        let numbered = common.backend_config.to_text().contains("tuple_index");
        if numbered || common.origin.is_some() {
            let common = module.common_mut(self.id);
            common.origin = None;
            if numbered {
                common.backend_config = Default::default();
            }
        }
    }
}

/// Adds a `get-tuple-element` instruction.
pub fn add_element(module: &mut Module, tuple: InstrId, index: usize, shape: Shape) -> InstrId {
    let (parent, base) = (module[tuple].parent, module[tuple].name.clone());
    let name = module.unique_name(&base);
    module.add(parent, &name, shape, Op::get_tuple_element(index as i64), [tuple])
}

/// Copies a constant, or a broadcast of one, to another computation.
fn copy_constant(module: &mut Module, value: InstrId, to: ComputationId) -> InstrId {
    let operands: Vec<InstrId> = module[value].operands.to_vec();
    let operands: Vec<InstrId> = operands.into_iter().map(|o| copy_constant(module, o, to)).collect();
    let base = module[value].name.clone();
    let name = module.unique_name(&base);
    clone_instruction(module, value, to, &name, operands)
}
