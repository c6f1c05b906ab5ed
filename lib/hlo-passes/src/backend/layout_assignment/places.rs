//! The places of a module's arrays, and the orders that each instruction requires.

use super::orders::{Link, Order, arrays, canonical, order_of, row_major};
use super::solve::{Orders, Slot};
use crate::analysis::trips;
use hlo_analysis::Elements;
use hlo_analysis::cost_model::UNKNOWN_TRIP_COUNT;
use hlo_ir::attr::FusionKind;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Module, Op, Shape, elementwise_op};
use std::collections::{HashMap, HashSet};

/// A use of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// An operand of an instruction.
    Operand(InstrId, usize),
    /// The result of a computation.
    Root(ComputationId),
}

impl Place {
    /// Returns the value that is used.
    fn value(self, module: &Module) -> Option<InstrId> {
        match self {
            Place::Operand(user, n) => module[user].operands.get(n).copied(),
            Place::Root(c) => Some(module[c].root()),
        }
    }

    /// Checks whether the value and its use must have exactly the same layout, including the order of
    /// dimensions of size 1, which has no effect in memory.
    pub(super) fn is_exact(self, module: &Module) -> bool {
        match self {
            Place::Operand(user, _) => {
                let op = &module[user].op;
                returns_first_operand(op)
                    || has_callee_layouts(op)
                    || keeps_layouts(op)
                    || matches!(op, Op::Tuple | Op::CustomCall(_))
            }
            Place::Root(_) => true,
        }
    }
}

/// The places of a module. A place is an array that has an order. The leaves of a value have consecutive
/// places.
#[derive(Default)]
pub(super) struct Places {
    /// The constraints on the orders of the places.
    pub(super) orders: Orders,
    /// The first place of each instruction's result.
    results: HashMap<InstrId, Slot>,
    /// The instructions whose layouts may change, in order.
    free: Vec<InstrId>,
    /// The first place of the result of each computation.
    outcomes: HashMap<ComputationId, Slot>,
    parameters: HashMap<ComputationId, Vec<InstrId>>,
    /// The uses of each value, with the first place of the layout that each use requires.
    uses: HashMap<InstrId, Vec<(Place, Slot)>>,
    /// Number of uses of each value.
    use_counts: HashMap<InstrId, usize>,
    /// The first hub place of each value with several uses.
    hubs: HashMap<InstrId, Slot>,
    elements: Elements,
    /// Estimated number of runs of the current computation.
    runs: u64,
}

impl Places {
    /// Collects the places and constraints of a module.
    pub(super) fn of(module: &Module) -> Self {
        let mut places = Self::default();
        let fixed = custom_fusions(module);
        let computations = module.computations_post_order();
        let orders: Vec<Vec<InstrId>> = computations.iter().map(|&c| module.post_order(c)).collect();
        for (&c, order) in computations.iter().zip(&orders) {
            *places.use_counts.entry(module[c].root()).or_default() += 1;
            for &i in order {
                for &operand in &module[i].operands {
                    *places.use_counts.entry(operand).or_default() += 1;
                }
                let first = places.add(&module[i].shape);
                places.results.insert(i, first);
                if fixed.contains(&c) {
                    places.keep(first, &module[i].shape, &module[i].shape);
                } else {
                    places.keep_items(first, &module[i].shape);
                    places.free.push(i);
                }
            }
            let result = &module[module[c].root()].shape;
            let outcome = places.add(result);
            if fixed.contains(&c) {
                places.keep(outcome, result, result);
            }
            places.outcomes.insert(c, outcome);
            places.parameters.insert(c, module.parameters(c));
        }
        places.keep_outside(module);
        let runs = runs(module, &computations);
        for (&c, order) in computations.iter().zip(&orders).filter(|(c, _)| !fixed.contains(c)) {
            places.runs = runs.get(&c).copied().unwrap_or(1);
            for &i in order {
                places.add_constraints(module, i);
            }
            let outcome = places.outcomes[&c];
            places.use_at(module, Place::Root(c), outcome);
        }
        places
    }

    /// Returns the instructions whose layouts may change, with their first places.
    pub(super) fn results(&self) -> Vec<(InstrId, Slot)> {
        self.free.iter().filter_map(|&i| Some((i, self.result(i)?))).collect()
    }

    /// Returns the first place of a result.
    pub(super) fn result(&self, id: InstrId) -> Option<Slot> {
        self.results.get(&id).copied()
    }

    /// Removes and returns the uses of a value, with the first place of the layout that each requires.
    pub(super) fn take_uses(&mut self, value: InstrId) -> Vec<(Place, Slot)> {
        self.uses.remove(&value).unwrap_or_default()
    }

    /// Adds places for the leaves of a shape. Returns the first.
    fn add(&mut self, shape: &Shape) -> Slot {
        let ranks = shape.leaves().into_iter().map(|l| l.as_array().map_or(0, |a| a.rank()));
        let slots: Vec<Slot> = ranks.map(|rank| self.orders.add(rank)).collect();
        // An empty tuple has no places, so the returned place is never used.
        slots.first().copied().unwrap_or(0)
    }

    /// Fixes the orders of a value of shape `own` to those of `shape`.
    fn keep(&mut self, first: Slot, own: &Shape, shape: &Shape) {
        if own.leaf_count() == shape.leaf_count() {
            for (n, array) in arrays(shape) {
                self.keep_order(first + n, &array.dims, order_of(array));
            }
        }
    }

    fn keep_order(&mut self, slot: Slot, dims: &[i64], order: Order) {
        // Orders that differ only in dimensions of size 1 impose the same constraint on others.
        let asked = canonical(dims, &order);
        self.orders.keep(slot, order, asked);
    }

    /// Fixes the orders of arrays whose layouts contain more than an order.
    fn keep_items(&mut self, first: Slot, shape: &Shape) {
        for (n, array) in arrays(shape) {
            if array.layout_items().is_some() {
                self.keep_order(first + n, &array.dims, order_of(array));
            }
        }
    }

    /// Gives the places from `first` on the same order of dimensions of size 1 as the places of `value`,
    /// which begin at `like`. Skips arrays whose layouts contain more than an order.
    fn follow_exactly(&mut self, first: Slot, like: Slot, value: &Shape) {
        for (n, array) in arrays(value) {
            if array.layout_items().is_none() {
                self.orders.follow_exactly(first + n, like + n, &array.dims);
            }
        }
    }

    /// Gives a value the order of dimensions of size 1 that a place requires, unless another instruction
    /// determines its exact layout. A value that cannot follow needs a bitcast there. Arrays of dynamic size
    /// cannot be bitcast, and follow only if `must` is set.
    fn follow_place(&mut self, module: &Module, value: InstrId, place: Slot, must: bool) {
        let mut stack = vec![(value, place)];
        // Limits the walk if tuples form a cycle, which the verifier rejects.
        let mut left = module[value].shape.node_count();
        while let Some((value, mut first)) = stack.pop().filter(|_| left > 0) {
            left -= 1;
            let instr = &module[value];
            match &instr.op {
                Op::Tuple => {
                    for &operand in &instr.operands {
                        stack.push((operand, first));
                        first += module[operand].shape.leaf_count();
                    }
                }
                Op::GetTupleElement(_) | Op::Parameter(_) => {}
                op if has_callee_layouts(op) || returns_first_operand(op) => {}
                // Only array results follow. The elements of a tuple result may not all be able to, so none
                // of them does.
                _ => {
                    let array = instr.shape.as_array().filter(|a| must || a.is_static());
                    if let Some(own) = array.and_then(|_| self.result(value)) {
                        self.follow_exactly(own, first, &instr.shape);
                    }
                }
            }
        }
    }

    /// Fixes arrays to row-major order, except those whose order is already fixed.
    fn keep_row_major(&mut self, first: Slot, shape: &Shape) {
        for (n, array) in arrays(shape) {
            if self.orders.required_order(first + n).is_none() {
                let order = row_major(array.rank());
                self.orders.keep(first + n, order.clone(), order);
            }
        }
    }

    /// Fixes the layouts that are visible outside: those of the entry's parameters and result, and those of
    /// computations that are not called, or whose callers do not determine their layouts.
    fn keep_outside(&mut self, module: &Module) {
        let entry = module.entry();
        if let Some(layout) = module.entry_layout() {
            let parameters = self.parameters.get(&entry).cloned().unwrap_or_default();
            for (p, shape) in parameters.into_iter().zip(&layout.parameters) {
                self.keep(self.results[&p], &module[p].shape, shape);
            }
            let root = module[entry].root();
            let outcome = self.outcomes[&entry];
            self.keep(outcome, &module[root].shape, &layout.result);
            self.follow_place(module, root, outcome, true);
        }
        let mut known: HashSet<ComputationId> = HashSet::from([entry]);
        let mut opaque = Vec::new();
        for c in module.computations() {
            for &i in module[c].instructions() {
                let callees = module[i].op.called_computations();
                if !has_callee_layouts(&module[i].op) {
                    opaque.extend(callees.iter().copied());
                }
                known.extend(callees);
            }
        }
        opaque.extend(module.computations().filter(|c| !known.contains(c)));
        for c in opaque {
            for p in self.parameters.get(&c).cloned().unwrap_or_default() {
                self.keep(self.results[&p], &module[p].shape, &module[p].shape);
            }
            if let Some(&outcome) = self.outcomes.get(&c) {
                let root = module[c].root();
                let shape = &module[root].shape;
                self.keep(outcome, shape, shape);
                self.follow_place(module, root, outcome, true);
            }
        }
    }

    /// Records a use of a value that requires the orders of the places from `first` on.
    fn use_at(&mut self, module: &Module, place: Place, first: Slot) {
        let Some(value) = place.value(module) else { return };
        let Some(&from) = self.results.get(&value) else { return };
        let hub = self.hub(module, value, from);
        for (n, array) in arrays(&module[value].shape).filter(|(_, a)| has_orders(a)) {
            self.orders.prefer_same_order(self.copied_bytes(module, value, array), hub + n, first + n);
        }
        if place.is_exact(module) {
            self.follow_place(module, value, first, false);
        }
        self.uses.entry(value).or_default().push((place, first));
    }

    /// Returns the first hub place of a value, which is between the value and its uses if there are several.
    /// One copy serves all uses that need the same order, so together they count once against the value's own
    /// order.
    fn hub(&mut self, module: &Module, value: InstrId, from: Slot) -> Slot {
        if self.use_counts.get(&value).is_none_or(|&uses| uses < 2) {
            return from;
        }
        if let Some(&hub) = self.hubs.get(&value) {
            return hub;
        }
        let hub = self.add(&module[value].shape);
        self.hubs.insert(value, hub);
        for (n, array) in arrays(&module[value].shape).filter(|(_, a)| has_orders(a)) {
            self.orders.prefer_same_order(self.copied_bytes(module, value, array), from + n, hub + n);
        }
        hub
    }

    /// Returns the cost of having an array of a value in a second order.
    fn copied_bytes(&self, module: &Module, value: InstrId, array: &ArrayShape) -> u64 {
        // Recomputing a value writes it but reads nothing.
        let parts = if is_recomputable(module, value) { 2 } else { 1 };
        self.each_run(array.byte_size() as u64 / parts)
    }

    /// Returns the number of bytes copied in all runs of the computation, given the number for one run.
    fn each_run(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.runs)
    }

    /// Joins the places of the leaves of two values.
    fn join(&mut self, module: &Module, a: Slot, b: Slot, like: InstrId) {
        for n in 0..module[like].shape.leaf_count() {
            self.orders.join(a + n, b + n);
        }
    }

    /// Records that operand `n` should have the layout of the places from `first` on, which belong to a value
    /// of shape `like`.
    fn operand_like(&mut self, module: &Module, id: InstrId, n: usize, first: Slot, like: &Shape) {
        let Some(&operand) = module[id].operands.get(n) else { return };
        let ranks = |s: &Shape| -> Vec<usize> {
            s.leaves().iter().map(|l| l.as_array().map_or(0, |a| a.rank())).collect()
        };
        if ranks(&module[operand].shape) == ranks(like) {
            self.use_at(module, Place::Operand(id, n), first);
        }
    }

    /// Adds separate places for an operand. Returns the first.
    fn own_operand(&mut self, module: &Module, id: InstrId, n: usize) -> Option<Slot> {
        let operand = *module[id].operands.get(n)?;
        let first = self.add(&module[operand].shape);
        self.use_at(module, Place::Operand(id, n), first);
        Some(first)
    }

    /// Records the constraints of an instruction.
    fn add_constraints(&mut self, module: &Module, id: InstrId) {
        let instr = &module[id];
        let own = self.results[&id];
        let count = instr.operands.len();
        match &instr.op {
            // No constraints. The size of a dimension does not depend on the layout.
            Op::Parameter(_) | Op::Constant(_) | Op::Iota(_) | Op::GetDimensionSize(_) => {}
            elementwise_op!()
            | Op::BitcastConvert
            | Op::Concatenate(_)
            | Op::DynamicSlice(_)
            | Op::DynamicUpdateSlice
            | Op::Map(_)
            | Op::Pad(_)
            | Op::Reverse(_)
            | Op::SetDimensionSize(_)
            | Op::Slice(_) => {
                for n in 0..count {
                    self.operand_like(module, id, n, own, &instr.shape);
                }
            }
            op if returns_first_operand(op) => {
                if let Some((&operand, &from)) =
                    instr.operands.first().and_then(|o| self.results.get_key_value(o))
                {
                    self.follow_exactly(own, from, &module[operand].shape);
                }
                self.operand_like(module, id, 0, own, &instr.shape);
            }
            Op::Copy => {
                self.own_operand(module, id, 0);
            }
            Op::Tuple => {
                let mut first = own;
                for (n, &operand) in instr.operands.iter().enumerate() {
                    self.use_at(module, Place::Operand(id, n), first);
                    if let Some(&from) = self.results.get(&operand) {
                        self.follow_exactly(first, from, &module[operand].shape);
                    }
                    first += module[operand].shape.leaf_count();
                }
            }
            Op::GetTupleElement(a) => {
                let tuple = instr.operands.first().copied();
                let leaf = tuple
                    .zip(usize::try_from(a.index).ok())
                    .and_then(|(tuple, n)| self.elements.first_leaf(module, tuple, n));
                if let (Some(leaf), Some(&from)) = (leaf, tuple.and_then(|t| self.results.get(&t))) {
                    self.follow_exactly(own, from + leaf, &instr.shape);
                    self.join(module, from + leaf, own, id);
                }
            }
            Op::Transpose(_) | Op::Broadcast(_) | Op::Reshape(_) => {
                if let Some(link) = Link::of(module, id, 0) {
                    self.ask_linked(module, id, link);
                }
            }
            Op::Reduce(_) => self.ask_reduce(module, id),
            Op::While(_) | Op::Conditional(_) | Op::Call(_) => self.ask_call(module, id),
            Op::Fusion(a) if a.kind != FusionKind::Custom => self.ask_call(module, id),
            Op::CustomCall(a) => {
                self.keep(own, &instr.shape, &instr.shape);
                let constraints = a.operand_layout_constraints.0.as_deref().unwrap_or_default();
                for n in 0..count {
                    let Some(first) = self.own_operand(module, id, n) else { continue };
                    let shape = &module[instr.operands[n]].shape;
                    match constraints.get(n) {
                        Some(asked) => self.keep(first, shape, asked),
                        None => self.keep_row_major(first, shape),
                    }
                }
            }
            op if keeps_layouts(op) => {
                self.keep(own, &instr.shape, &instr.shape);
                for n in 0..count {
                    let Some(first) = self.own_operand(module, id, n) else { continue };
                    let shape = &module[instr.operands[n]].shape;
                    self.keep(first, shape, shape);
                }
            }
            _ => {
                self.keep_row_major(own, &instr.shape);
                for n in 0..count {
                    let Some(first) = self.own_operand(module, id, n) else { continue };
                    self.keep_row_major(first, &module[instr.operands[n]].shape);
                }
            }
        }
    }

    /// Records the constraint of an operation with one operand, whose order is related to that of the result.
    fn ask_linked(&mut self, module: &Module, id: InstrId, link: Link) {
        let own = self.results[&id];
        let bytes = self.each_run(module[id].shape.byte_size() as u64);
        if let Some(first) = self.own_operand(module, id, 0) {
            self.orders.link(bytes, link, first, own);
        }
    }

    /// Records the constraint that a reduction reads all its operands in the same order.
    fn ask_reduce(&mut self, module: &Module, id: InstrId) {
        let own = self.results[&id];
        let inputs = module[id].operands.len() / 2;
        let mut before: Option<Slot> = None;
        for n in 0..inputs {
            let bytes = self.each_run(module[module[id].operands[n]].shape.byte_size() as u64);
            let Some(first) = self.own_operand(module, id, n) else { continue };
            if let Some(before) = before {
                self.orders.join(before, first);
            }
            before = Some(first);
            if let Some(link) = Link::of(module, id, n).filter(|_| n < module[id].shape.leaf_count()) {
                self.orders.link(bytes, link, first, own + n);
            }
        }
    }

    /// Records that a called computation has the caller's layouts for its arguments and its result.
    fn ask_call(&mut self, module: &Module, id: InstrId) {
        let own = self.results[&id];
        let callees = module[id].op.called_computations();
        for c in &callees {
            let condition = matches!(&module[id].op, Op::While(a) if a.condition == *c && a.body != *c);
            let same = !condition && module[module[*c].root()].shape.compatible(&module[id].shape);
            if let Some(&outcome) = self.outcomes.get(c).filter(|_| same) {
                self.follow_exactly(own, outcome, &module[module[*c].root()].shape);
                self.join(module, own, outcome, id);
            }
        }
        match &module[id].op {
            Op::While(_) => {
                for c in &callees {
                    let parameter =
                        self.parameter(*c, 0).filter(|&p| module[p].shape.compatible(&module[id].shape));
                    if let Some(p) = parameter {
                        self.join(module, own, self.results[&p], id);
                    }
                }
                self.operand_like(module, id, 0, own, &module[id].shape);
            }
            Op::Conditional(a) => {
                for (n, c) in a.branches().into_iter().enumerate() {
                    self.argument(module, id, n + 1, self.parameter(c, 0));
                }
            }
            _ => {
                for n in 0..module[id].operands.len() {
                    let parameter = callees.first().and_then(|&c| self.parameter(c, n));
                    self.argument(module, id, n, parameter);
                }
            }
        }
    }

    fn parameter(&self, computation: ComputationId, n: usize) -> Option<InstrId> {
        self.parameters.get(&computation)?.get(n).copied()
    }

    /// Records that an operand becomes a parameter.
    fn argument(&mut self, module: &Module, id: InstrId, n: usize, parameter: Option<InstrId>) {
        if let Some(p) = parameter {
            self.operand_like(module, id, n, self.results[&p], &module[p].shape);
        }
    }
}

/// Estimates how often each called computation runs. `order` contains callees before callers.
fn runs(module: &Module, order: &[ComputationId]) -> HashMap<ComputationId, u64> {
    let mut out: HashMap<ComputationId, u64> = HashMap::new();
    for &c in order.iter().rev() {
        let times = out.get(&c).copied().unwrap_or(1);
        for &i in module[c].instructions() {
            let op = &module[i].op;
            let each = match op {
                Op::While(_) => trips(module, i).unwrap_or(UNKNOWN_TRIP_COUNT).max(1),
                _ => 1,
            };
            for callee in op.called_computations() {
                let sum = out.entry(callee).or_default();
                *sum = sum.saturating_add(times.saturating_mul(each));
            }
        }
    }
    out
}

/// Checks whether an array's positions in memory depend on its order.
fn has_orders(array: &ArrayShape) -> bool {
    array.dims.iter().filter(|&&d| d != 1).count() > 1 && !array.dims.contains(&0)
}

/// Checks whether a value is computed without reading an array from memory, so that it can be recomputed in
/// any layout.
pub(super) fn is_recomputable(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::Constant(_) | Op::Iota(_) => true,
        Op::Broadcast(_) => module[id].operands.iter().all(|&o| module[o].shape.is_scalar()),
        _ => false,
    }
}

/// Checks whether an operation returns its first operand unchanged.
fn returns_first_operand(op: &Op) -> bool {
    matches!(op, Op::OptBarrier | Op::AddDependency | Op::Domain(_))
}

/// Checks whether an operation has the layouts of the computations that it calls.
fn has_callee_layouts(op: &Op) -> bool {
    match op {
        Op::While(_) | Op::Conditional(_) | Op::Call(_) => true,
        Op::Fusion(a) => a.kind != FusionKind::Custom,
        _ => false,
    }
}

/// Checks whether something other than its operands and users determines an operation's layouts.
fn keeps_layouts(op: &Op) -> bool {
    use hlo_ir::Family;
    matches!(op, Op::Bitcast | Op::Fusion(_))
        || matches!(op.opcode().family(), Family::Effects | Family::Collective)
}

/// Returns the computations of custom fusions, and those that they call.
fn custom_fusions(module: &Module) -> HashSet<ComputationId> {
    let mut out = HashSet::new();
    // Callers come first.
    for c in module.computations_post_order().into_iter().rev() {
        for &i in module[c].instructions() {
            let custom = matches!(&module[i].op, Op::Fusion(a) if a.kind == FusionKind::Custom);
            if custom || out.contains(&c) {
                out.extend(module[i].op.called_computations());
            }
        }
    }
    out
}
