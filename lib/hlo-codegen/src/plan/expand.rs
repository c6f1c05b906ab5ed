//! From a module to steps over [`BufId`]s.
//!
//! Every array value gets a buffer of its own, and a copy is written down wherever a value has to be in a
//! given place: a loop's initial value and next state in the state's buffers, a branch's result in the
//! conditional's, an operand that is updated in place in the result's, the root in the caller's. Buffer
//! assignment removes the copies that are not needed.

mod effects;

use super::classify::element_index;
use super::in_place::{overwritable_operands, updated_operands};
use super::invariant::{Invariants, element_offset};
use super::{
    Argument, BufId, Buffers, Constant, KernelCall, Pin, Role, RuntimeCall, Step, convolution, copy, dot,
    layouts, linear_algebra, random, role, sort,
};
use crate::kernels::body::stored_constants;
use crate::schedule::schedule;
use hlo_ir::diag::Diag;
use hlo_ir::effects::Effects;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The bound on the instructions of the program with all calls expanded.
const MAX_INSTRUCTIONS: usize = 2_000_000;
/// The bound on the nesting of calls, loops and branches.
const MAX_DEPTH: usize = 200;

/// The buffers of a value's leaves; `None` for a leaf without contents.
type Leaves = Rc<[Option<BufId>]>;

/// A module's steps and buffers before assignment.
#[derive(Debug)]
pub struct Expanded {
    /// The steps.
    pub steps: Vec<Step<BufId>>,
    /// The buffers.
    pub buffers: Buffers,
    /// The constants that [`Pin::Constant`] numbers.
    pub constants: Vec<Constant>,
    /// The transfers that calls of the runtime number.
    pub transfers: Vec<InstrId>,
    /// The sizes of the flattened parameters.
    pub param_bytes: Vec<u64>,
    /// The sizes of the flattened result's leaves.
    pub output_bytes: Vec<u64>,
}

/// Expands a verified module.
pub fn expand(module: &Module) -> Result<Expanded, Vec<Diag>> {
    let mut e = Expander {
        module,
        buffers: Buffers::default(),
        constants: Vec::new(),
        constant_leaves: HashMap::new(),
        transfers: Vec::new(),
        transfer_numbers: HashMap::new(),
        effects: Effects::of(module),
        schedules: HashMap::new(),
        invariants: Invariants::new(layouts::changes(module)),
        expanded: 0,
        errors: Vec::new(),
        reported: HashSet::new(),
    };
    let mut param_bytes = Vec::new();
    let mut arguments = Vec::new();
    let mut steps = Vec::new();
    let (parameters, result) = layouts::entry_shapes(module);
    for (p, shape) in module.parameters(module.entry()).into_iter().zip(&parameters) {
        let leaves: Leaves = shape
            .leaves()
            .into_iter()
            .map(|shape| {
                let bytes = e.leaf_bytes(p, shape);
                let number = param_bytes.len();
                param_bytes.push(bytes.unwrap_or(0));
                bytes.map(|b| e.buffers.add(b, Pin::Param(number), Some(p)))
            })
            .collect();
        arguments.push(e.relaid(p, leaves, shape, &module[p].shape, &mut steps));
    }
    let root = e.computation(module.entry(), &arguments, &mut steps, 0);
    let id = module[module.entry()].root();
    let root = e.relaid(id, root, &module[id].shape, &result, &mut steps);
    let output_bytes = e.outputs(&root, &mut steps);
    match e.errors.is_empty() {
        true => Ok(Expanded {
            steps,
            buffers: e.buffers,
            constants: e.constants,
            transfers: e.transfers,
            param_bytes,
            output_bytes,
        }),
        false => Err(e.errors),
    }
}

struct Expander<'m> {
    module: &'m Module,
    buffers: Buffers,
    constants: Vec<Constant>,
    constant_leaves: HashMap<InstrId, Leaves>,
    transfers: Vec<InstrId>,
    transfer_numbers: HashMap<InstrId, usize>,
    effects: Effects,
    schedules: HashMap<ComputationId, Rc<[InstrId]>>,
    invariants: Invariants,
    /// Instructions expanded so far.
    expanded: usize,
    errors: Vec<Diag>,
    reported: HashSet<(InstrId, String)>,
}

/// The values of the computation that is being expanded.
struct Frame<'a> {
    arguments: &'a [Leaves],
    values: HashMap<InstrId, Leaves>,
}

impl Expander<'_> {
    fn error(&mut self, id: InstrId, message: impl Into<String>, label: &str) {
        // What is called from several places is expanded as often.
        let message = message.into();
        if self.reported.insert((id, message.clone())) {
            self.errors.push(Diag::error(message).at(self.module.span(id), label));
        }
    }

    /// The size of a leaf; `None` for a token, and with an error for what can't be compiled.
    fn leaf_bytes(&mut self, id: InstrId, shape: &Shape) -> Option<u64> {
        match shape {
            Shape::Array(a) if a.is_static() => {
                let bytes = a
                    .checked_element_count()
                    .and_then(|n| n.checked_mul(a.element_type.byte_size() as i64))
                    .filter(|&n| n <= i64::MAX / 2);
                if bytes.is_none() {
                    self.error(id, format!("{a} takes more bytes than can be addressed"), "this value");
                }
                bytes.map(|n| n as u64)
            }
            Shape::Array(a) => {
                let message = format!("dynamic dimensions can't be compiled yet: {a}");
                self.error(id, message, "a size known at run time only");
                None
            }
            Shape::Token => None,
            Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => {
                self.error(id, format!("values of shape {shape} can't be compiled"), "this value");
                None
            }
        }
    }

    /// The same value in the layouts of another shape.
    fn relaid(
        &mut self,
        id: InstrId,
        leaves: Leaves,
        from: &Shape,
        to: &Shape,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        if layouts::agree(from, to) {
            return leaves;
        }
        let shapes = from.leaves().into_iter().zip(to.leaves());
        let parts: Vec<_> = leaves.iter().copied().zip(shapes).collect();
        let relaid = parts.into_iter().map(|(leaf, (from, to))| {
            let (Some(buffer), Some((a, b))) = (leaf, layouts::change(from, to)) else { return leaf };
            let Some(descriptor) = copy::descriptor(b, &a.strides(), &b.strides()) else {
                self.error(
                    id,
                    format!("a change of layout from {from:#} to {to:#} can't be compiled"),
                    "here",
                );
                return leaf;
            };
            let other = self.buffers.add(self.buffers[buffer].bytes, Pin::Free, Some(id));
            let call = RuntimeCall::with_descriptor(id, copy::SYMBOL, descriptor, vec![buffer], vec![other]);
            steps.push(Step::Runtime(call));
            Some(other)
        });
        relaid.collect()
    }

    /// The leaves of operand number `index` in the layouts of another shape.
    fn operand_as(
        &mut self,
        id: InstrId,
        index: usize,
        shape: Option<&Shape>,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let leaves = self.operand(id, index, frame);
        match (self.module[id].operands.get(index), shape) {
            (Some(&o), Some(to)) => self.relaid(id, leaves, &self.module[o].shape, to, steps),
            _ => leaves,
        }
    }

    /// New buffers for the leaves of a shape.
    fn fresh(&mut self, id: InstrId, shape: &Shape) -> Leaves {
        shape
            .leaves()
            .into_iter()
            .map(|s| self.leaf_bytes(id, s).map(|b| self.buffers.add(b, Pin::Free, Some(id))))
            .collect()
    }

    /// Copies for the root's leaves into the caller's buffers.
    fn outputs(&mut self, root: &Leaves, steps: &mut Vec<Step<BufId>>) -> Vec<u64> {
        let id = self.module[self.module.entry()].root();
        let mut sizes = Vec::with_capacity(root.len());
        for (number, leaf) in root.iter().enumerate() {
            let bytes = leaf.map_or(0, |b| self.buffers[b].bytes);
            sizes.push(bytes);
            if let Some(from) = *leaf {
                let to = self.buffers.add(bytes, Pin::Output(number), Some(id));
                steps.push(Step::Copy { from, to, bytes });
            }
        }
        sizes
    }

    /// Expands a computation's instructions into `steps` and returns the leaves of its root.
    fn computation(
        &mut self,
        id: ComputationId,
        arguments: &[Leaves],
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let root = module[id].root();
        if depth > MAX_DEPTH {
            self.error(root, format!("computations nest more than {MAX_DEPTH} deep"), "in this computation");
            return self.fresh(root, &module[root].shape);
        }
        let order =
            self.schedules.entry(id).or_insert_with(|| schedule(module, id, &self.effects).into()).clone();
        let mut frame = Frame { arguments, values: HashMap::with_capacity(order.len()) };
        for &i in order.iter() {
            self.expanded += 1;
            if self.expanded > MAX_INSTRUCTIONS {
                if self.expanded == MAX_INSTRUCTIONS + 1 {
                    let message = format!("the calls expand to more than {MAX_INSTRUCTIONS} instructions");
                    self.error(root, message, "reached here");
                }
                return self.fresh(root, &module[root].shape);
            }
            let leaves = self.instruction(i, &mut frame, steps, depth);
            frame.values.insert(i, leaves);
        }
        self.value(root, &frame)
    }

    /// The leaves of an instruction that was expanded before.
    fn value(&mut self, id: InstrId, frame: &Frame<'_>) -> Leaves {
        if matches!(self.module[id].op, Op::Constant(_)) {
            return self.constant(id);
        }
        match frame.values.get(&id) {
            Some(leaves) => leaves.clone(),
            None => {
                self.error(id, "internal error: the schedule uses a value before it is there", "this value");
                self.fresh(id, &self.module[id].shape)
            }
        }
    }

    /// The leaves of operand number `index`.
    fn operand(&mut self, id: InstrId, index: usize, frame: &Frame<'_>) -> Leaves {
        match self.module[id].operands.get(index) {
            Some(&o) => self.value(o, frame),
            None => {
                self.error(id, format!("operand {index} is missing"), "this instruction");
                Rc::new([])
            }
        }
    }

    fn instruction(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let instr = &self.module[id];
        match role(self.module, id) {
            Role::Parameter => {
                let Op::Parameter(p) = &instr.op else { return Rc::new([]) };
                match usize::try_from(p.number).ok().and_then(|n| frame.arguments.get(n)) {
                    Some(leaves) => leaves.clone(),
                    None => {
                        self.error(id, format!("nothing is passed for parameter {}", p.number), "this one");
                        self.fresh(id, &instr.shape)
                    }
                }
            }
            // Made when something asks for it: scalars mostly become part of kernels.
            Role::Constant => Rc::new([]),
            Role::Tuple => {
                let element = |i: usize| instr.shape.as_tuple().and_then(|t| t.get(i));
                let parts: Vec<Leaves> = (0..instr.operands.len())
                    .map(|i| self.operand_as(id, i, element(i), frame, steps))
                    .collect();
                parts.iter().flat_map(|p| p.iter().copied()).collect()
            }
            Role::Element => {
                let whole = self.operand(id, 0, frame);
                let Some(index) = element_index(&instr.op) else { return whole };
                let n = instr.shape.leaf_count();
                let part = element_offset(self.module, instr.operands[0], index)
                    .and_then(|at| whole.get(at..at + n));
                let tuple = self.module[instr.operands[0]].shape.as_tuple();
                let element = tuple.and_then(|t| t.get(usize::try_from(index).ok()?));
                match (part, element) {
                    (Some(part), Some(element)) => self.relaid(id, part.into(), element, &instr.shape, steps),
                    _ => {
                        self.error(id, format!("there is no element {index}"), "this element");
                        self.fresh(id, &instr.shape)
                    }
                }
            }
            Role::Alias => {
                let leaves = self.alias(id, frame);
                match (self.invariants.changes_layout(id), instr.operands.first()) {
                    (true, Some(&o)) => self.relaid(id, leaves, &self.module[o].shape, &instr.shape, steps),
                    _ => leaves,
                }
            }
            Role::Token => Rc::new([None]),
            Role::Copy => {
                let from = self.operand(id, 0, frame);
                let to = self.fresh(id, &instr.shape);
                self.copies(&from, &to, steps);
                to
            }
            Role::Call => {
                let Op::Call(c) = &instr.op else { return Rc::new([]) };
                let root = self.call(id, c.to_apply, frame, steps, depth);
                self.relaid(id, root, layouts::result(self.module, c.to_apply), &instr.shape, steps)
            }
            Role::Start => self.start(id, frame, steps, depth),
            Role::Exchange => self.exchange(id, frame, steps),
            Role::Transfer => self.transfer(id, frame, steps),
            Role::Zero => self.zeros(id, &instr.shape, steps),
            Role::While => self.while_loop(id, frame, steps, depth),
            Role::Conditional => self.conditional(id, frame, steps, depth),
            Role::Dot => self.dot(id, frame, steps),
            Role::Convolution => self.convolution(id, frame, steps),
            Role::RandomBits => self.random_bits(id, frame, steps),
            Role::Runtime => self.row_major(id, frame, steps),
            Role::CustomCall => self.custom_call(id, frame, steps),
            Role::Kernel => match copy::lower(self.module, id) {
                Some(descriptor) => {
                    let from = self.arrays(id, frame);
                    self.runtime(id, steps, |results| {
                        RuntimeCall::with_descriptor(id, copy::SYMBOL, descriptor, from, results)
                    })
                }
                None => self.kernel(id, frame, steps),
            },
            Role::Unsupported => {
                let name = instr.op.name();
                let message =
                    format!("`{name}` can't be compiled yet (the interpreter may have it: --engine=eval)");
                self.error(id, message, "this instruction");
                self.fresh(id, &instr.shape)
            }
        }
    }

    /// A computation on the operands, in place; the leaves of its root, in the root's layouts.
    fn call(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let arguments: Vec<Leaves> = (0..module[id].operands.len())
            .map(|i| self.operand_as(id, i, layouts::parameter(module, computation, i), frame, steps))
            .collect();
        self.computation(computation, &arguments, steps, depth + 1)
    }

    /// A value whose bytes are its operand's.
    fn alias(&mut self, id: InstrId, frame: &Frame<'_>) -> Leaves {
        let leaves = self.operand(id, 0, frame);
        let sizes: Vec<Option<u64>> =
            self.module[id].shape.leaves().into_iter().map(|s| self.leaf_bytes(id, s)).collect();
        let have: Vec<Option<u64>> = leaves.iter().map(|l| l.map(|b| self.buffers[b].bytes)).collect();
        if sizes != have {
            self.error(id, "operand and result don't have the same size in bytes", "this instruction");
            return self.fresh(id, &self.module[id].shape);
        }
        leaves
    }

    /// Copies leaf by leaf.
    fn copies(&self, from: &Leaves, to: &Leaves, steps: &mut Vec<Step<BufId>>) {
        for (from, to) in from.iter().zip(to.iter()) {
            if let (Some(from), Some(to)) = (*from, *to) {
                steps.push(Step::Copy { from, to, bytes: self.buffers[to].bytes });
            }
        }
    }

    /// The buffers of a constant.
    fn constant(&mut self, id: InstrId) -> Leaves {
        if let Some(known) = self.constant_leaves.get(&id) {
            return known.clone();
        }
        let Op::Constant(c) = &self.module[id].op else { return Rc::new([]) };
        if c.is_elided() {
            let message = "the elements of this constant are elided (`{...}`): it has no value";
            self.error(id, message, "this constant");
        }
        let literals = c.literal.leaves();
        let shapes = self.module[id].shape.leaves();
        let mut leaves = Vec::with_capacity(shapes.len());
        for (i, shape) in shapes.into_iter().enumerate() {
            let size = self.leaf_bytes(id, shape);
            let (Some(size), Some(array)) = (size, shape.as_array()) else {
                leaves.push(None);
                continue;
            };
            let bytes = literals.get(i).map_or(&[][..], |l| l.bytes());
            if bytes.len() as u64 != size {
                self.error(id, format!("the literal does not have the elements of {array}"), "this constant");
            }
            let number = self.constants.len();
            self.constants.push(Constant { instruction: id, bytes: in_layout(array, bytes) });
            leaves.push(Some(self.buffers.add(size, Pin::Constant(number), Some(id))));
        }
        let leaves = Leaves::from(leaves);
        self.constant_leaves.insert(id, leaves.clone());
        leaves
    }

    fn while_loop(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let Op::While(w) = &module[id].op else { return Rc::new([]) };
        let shape = &module[id].shape;
        let init = self.operand_as(id, 0, Some(shape), frame, steps);
        let invariant = self.invariants.leaves(module, id);
        let mut state = Vec::with_capacity(init.len());
        for (k, leaf) in init.iter().enumerate() {
            state.push(match *leaf {
                Some(from) if !invariant.get(k).copied().unwrap_or(false) => {
                    let bytes = self.buffers[from].bytes;
                    let to = self.buffers.add(bytes, Pin::Free, Some(id));
                    steps.push(Step::Copy { from, to, bytes });
                    Some(to)
                }
                same => same,
            });
        }
        let state = Leaves::from(state);
        let mut condition = Vec::new();
        let argument = layouts::parameter(module, w.condition, 0).unwrap_or(shape);
        let argument = self.relaid(id, state.clone(), shape, argument, &mut condition);
        let go_on = self.computation(w.condition, &[argument], &mut condition, depth + 1);
        let mut body = Vec::new();
        let argument = layouts::parameter(module, w.body, 0).unwrap_or(shape);
        let argument = self.relaid(id, state.clone(), shape, argument, &mut body);
        let next = self.computation(w.body, &[argument], &mut body, depth + 1);
        let next = self.relaid(id, next, layouts::result(module, w.body), shape, &mut body);
        self.next_state(&next, &state, &invariant, &mut body);
        match go_on.first() {
            Some(&Some(predicate)) => steps.push(Step::While { condition, predicate, body }),
            _ => self.error(id, "the condition does not return a pred", "this loop"),
        }
        state
    }

    /// Copies of the body's result into the state, as if all at once: a leaf that comes from another leaf of the
    /// old state goes by way of a temporary, since it may be overwritten before.
    fn next_state(&mut self, next: &Leaves, state: &Leaves, invariant: &[bool], body: &mut Vec<Step<BufId>>) {
        let old: HashSet<BufId> = state.iter().copied().flatten().collect();
        let mut second = Vec::new();
        for (k, (from, to)) in next.iter().zip(state.iter()).enumerate() {
            let (Some(from), Some(to)) = (*from, *to) else { continue };
            // What the body hands on unchanged may lie in a buffer that must not be written.
            if from == to || invariant.get(k) == Some(&true) {
                continue;
            }
            let bytes = self.buffers[to].bytes;
            if old.contains(&from) {
                let temporary = self.buffers.add(bytes, Pin::Free, self.buffers[from].instruction);
                body.push(Step::Copy { from, to: temporary, bytes });
                second.push(Step::Copy { from: temporary, to, bytes });
            } else {
                second.push(Step::Copy { from, to, bytes });
            }
        }
        body.extend(second);
    }

    fn conditional(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let Op::Conditional(c) = &module[id].op else { return Rc::new([]) };
        let selector = self.operand(id, 0, frame);
        let mut branches = Vec::new();
        let mut roots = Vec::new();
        for (i, branch) in c.branches().into_iter().enumerate() {
            let mut inner = Vec::new();
            let parameter = layouts::parameter(module, branch, 0);
            let argument = self.operand_as(id, i + 1, parameter, frame, &mut inner);
            let root = self.computation(branch, &[argument], &mut inner, depth + 1);
            let root = self.relaid(id, root, layouts::result(module, branch), &module[id].shape, &mut inner);
            roots.push(root);
            branches.push(inner);
        }
        let leaves = module[id].shape.leaves();
        let mut result = Vec::with_capacity(leaves.len());
        for (k, shape) in leaves.into_iter().enumerate() {
            let Some(bytes) = self.leaf_bytes(id, shape) else {
                result.push(None);
                continue;
            };
            let from: Vec<Option<BufId>> = roots.iter().map(|r| r.get(k).copied().flatten()).collect();
            // Every branch hands on the same value: it stays where it is.
            if let Some(&Some(same)) = from.first()
                && from.iter().all(|f| *f == Some(same))
            {
                result.push(Some(same));
                continue;
            }
            let to = self.buffers.add(bytes, Pin::Free, Some(id));
            for (branch, from) in branches.iter_mut().zip(from) {
                if let Some(from) = from {
                    branch.push(Step::Copy { from, to, bytes });
                }
            }
            result.push(Some(to));
        }
        match selector.first() {
            Some(&Some(selector)) if !branches.is_empty() => {
                let by_pred = c.true_computation.is_some();
                steps.push(Step::Conditional { selector, by_pred, branches });
            }
            _ => self.error(id, "there is no selector or no branch", "this conditional"),
        }
        result.into()
    }

    /// The buffers of the operands, all of which are arrays.
    fn arrays(&mut self, id: InstrId, frame: &Frame<'_>) -> Vec<BufId> {
        (0..self.module[id].operands.len())
            .flat_map(|i| self.operand(id, i, frame).iter().copied().flatten().collect::<Vec<_>>())
            .collect()
    }

    /// A call of the runtime that makes all leaves of an instruction, unless they are empty.
    fn runtime(
        &mut self,
        id: InstrId,
        steps: &mut Vec<Step<BufId>>,
        call: impl FnOnce(Vec<BufId>) -> RuntimeCall<BufId>,
    ) -> Leaves {
        let leaves = self.fresh(id, &self.module[id].shape);
        let results: Vec<BufId> = leaves.iter().copied().flatten().collect();
        if results.iter().any(|&r| self.buffers[r].bytes > 0) {
            steps.push(Step::Runtime(call(results)));
        }
        leaves
    }

    /// A general product: a call of the runtime, or a kernel where that is better.
    fn dot(&mut self, id: InstrId, frame: &mut Frame<'_>, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let Some(lowered) = dot::lower(self.module, id) else {
            return self.kernel(id, frame, steps);
        };
        let mut operands = self.arrays(id, frame);
        for (operand, packing) in operands.iter_mut().zip(&lowered.packed) {
            if let Some(descriptor) = packing {
                let to = self.buffers.add(self.buffers[*operand].bytes, Pin::Free, Some(id));
                let (from, descriptor) = (vec![*operand], descriptor.clone());
                let call = RuntimeCall::with_descriptor(id, copy::SYMBOL, descriptor, from, vec![to]);
                steps.push(Step::Runtime(call));
                *operand = to;
            }
        }
        self.runtime(id, steps, |results| lowered.call(id, operands, results))
    }

    fn convolution(&mut self, id: InstrId, frame: &mut Frame<'_>, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let operands = self.arrays(id, frame);
        match convolution::lower(self.module, id) {
            Ok(descriptor) => self.runtime(id, steps, |results| {
                RuntimeCall::with_descriptor(id, convolution::SYMBOL, descriptor, operands, results)
            }),
            Err(message) => {
                self.error(id, message, "this convolution");
                self.fresh(id, &self.module[id].shape)
            }
        }
    }

    /// A call of the runtime that works on row-major arrays, with copies of what lies otherwise.
    fn row_major(&mut self, id: InstrId, frame: &mut Frame<'_>, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let instr = &self.module[id];
        let mut operands = Vec::new();
        for (i, &o) in instr.operands.iter().enumerate() {
            let shape = self.module[o].shape.without_layout();
            operands.extend(self.operand_as(id, i, Some(&shape), frame, steps).iter().copied().flatten());
        }
        let shape = instr.shape.without_layout();
        let leaves = self.fresh(id, &shape);
        let results: Vec<BufId> = leaves.iter().copied().flatten().collect();
        if results.iter().any(|&r| self.buffers[r].bytes > 0) {
            let call = match &instr.op {
                Op::TopK(_) => sort::top_k(self.module, id, operands, results),
                Op::Rng(_) | Op::RngGetAndUpdateState(_) => random::draw(self.module, id, operands, results),
                Op::Sort(_) => sort::sort(self.module, id, operands, results),
                _ => linear_algebra::lower(self.module, id, operands, results),
            };
            match call {
                Ok(call) => steps.push(Step::Runtime(call)),
                Err(message) => self.error(id, message, "this instruction"),
            }
        }
        self.relaid(id, leaves, &shape, &instr.shape, steps)
    }

    /// A call of a function from outside. It is made even if it gives nothing.
    fn custom_call(&mut self, id: InstrId, frame: &Frame<'_>, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let module = self.module;
        let leaves = self.fresh(id, &module[id].shape);
        let site = match hlo_custom_call::site(module, id) {
            Ok(site) => site,
            Err(message) => {
                self.error(id, message, "this call");
                return leaves;
            }
        };
        let mut operands = Vec::new();
        for i in 0..module[id].operands.len() {
            let shape = hlo_custom_call::operand_shape(module, id, i);
            operands.extend(self.operand_as(id, i, shape.as_ref(), frame, steps).iter().copied().flatten());
        }
        let results = leaves.iter().copied().flatten().collect();
        let arguments = vec![Argument::Descriptor, Argument::Operands, Argument::Results];
        let descriptor = site.encode();
        let symbol = "hlo_rt_custom_call";
        let call = RuntimeCall {
            instruction: id,
            symbol,
            arguments,
            descriptor,
            operands,
            results,
            loops: Vec::new(),
        };
        steps.push(Step::Runtime(call));
        leaves
    }

    /// Random bits. The new state is computed even where the result is the bits alone.
    fn random_bits(&mut self, id: InstrId, frame: &mut Frame<'_>, steps: &mut Vec<Step<BufId>>) -> Leaves {
        // They are made in row-major order.
        let inside = self.module[id].shape.without_layout();
        let leaves = self.fresh(id, &inside);
        let operands = self.arrays(id, frame);
        let mut results: Vec<BufId> = leaves.iter().copied().flatten().collect();
        if let ([bits], [state]) = (&results[..], &operands[..]) {
            let new_state = self.buffers.add(self.buffers[*state].bytes, Pin::Free, Some(id));
            results = vec![new_state, *bits];
        }
        match random::lower(self.module, id, operands, results) {
            Ok(call) => steps.push(Step::Runtime(call)),
            Err(message) => self.error(id, message, "this instruction"),
        }
        self.relaid(id, leaves, &inside, &self.module[id].shape, steps)
    }

    fn kernel(&mut self, id: InstrId, frame: &mut Frame<'_>, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let module = self.module;
        let instr = &module[id];
        // A fusion whose operands or results lie otherwise than in its computation gets copies of them.
        let fused = match &instr.op {
            Op::Fusion(f) if self.invariants.changes_layout(id) => Some(f.calls),
            _ => None,
        };
        let updated = if fused.is_some() { Vec::new() } else { updated_operands(module, id) };
        let mut operands: Vec<Option<BufId>> = Vec::new();
        for (i, &o) in instr.operands.iter().enumerate() {
            let at = operands.len();
            if is_embedded(module, o) && !updated.iter().any(|u| u.0 == at) {
                operands.push(None);
            } else {
                let shape = fused.and_then(|f| layouts::parameter(module, f, i));
                operands.extend(self.operand_as(id, i, shape, frame, steps).iter().copied());
            }
        }
        if let Op::Fusion(f) = &instr.op {
            for c in stored_constants(module, f.calls) {
                operands.extend(self.constant(c).iter().copied());
            }
        }
        let result = self.fresh(id, &instr.shape);
        let results: Vec<BufId> = result.iter().copied().flatten().collect();
        if results.iter().all(|&r| self.buffers[r].bytes == 0) {
            return result;
        }
        for (operand, leaf) in updated {
            let slot = operands.get_mut(operand);
            if let (Some(slot), Some(&Some(to))) = (slot, result.get(leaf))
                && let Some(from) = *slot
            {
                steps.push(Step::Copy { from, to, bytes: self.buffers[to].bytes });
                *slot = Some(to);
            }
        }
        let overwritable = if fused.is_some() { Vec::new() } else { overwritable_operands(module, id) };
        steps.push(Step::Kernel(KernelCall { instruction: id, operands, results, overwritable }));
        match fused {
            Some(f) => self.relaid(id, result, layouts::result(module, f), &instr.shape, steps),
            None => result,
        }
    }
}

/// True for a constant that kernels contain as an immediate value.
pub fn is_embedded(module: &Module, id: InstrId) -> bool {
    matches!(module[id].op, Op::Constant(_)) && module[id].shape.is_scalar()
}

/// Row-major bytes in the order of a layout.
fn in_layout(shape: &ArrayShape, bytes: &[u8]) -> Vec<u8> {
    let size = shape.element_type.byte_size();
    if super::classify::is_dense_row_major(shape) || bytes.len() != shape.byte_size() || bytes.is_empty() {
        return bytes.to_vec();
    }
    let strides = shape.strides();
    let mut out = vec![0; bytes.len()];
    let mut index = vec![0i64; shape.rank()];
    let mut at = 0i64;
    for element in bytes.chunks_exact(size) {
        let to = at as usize * size;
        out[to..to + size].copy_from_slice(element);
        for d in (0..shape.rank()).rev() {
            index[d] += 1;
            at += strides[d];
            if index[d] < shape.dims[d] {
                break;
            }
            at -= strides[d] * shape.dims[d];
            index[d] = 0;
        }
    }
    out
}
