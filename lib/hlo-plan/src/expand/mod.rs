//! Expansion of a module to steps over [`BufId`]s.
//!
//! Every array value gets a buffer of its own. Expansion adds a copy wherever a value must be in a certain
//! place:
//!
//! - a loop's initial value and next state, in the buffers of the state;
//! - a branch's result, in the buffers of the conditional;
//! - an operand that is updated in place, in the buffer of the result;
//! - the root, in the caller's buffers.
//!
//! Buffer assignment removes the copies that are not needed.

mod calls;
mod collectives;
mod control;
mod effects;
mod shared;
mod values;

use crate::Refusal;
use crate::{BufId, Buffers, Constant, Pin, Role, RuntimeCall, Step, copy, layouts, role};
use hlo_analysis::schedule::{schedule, schedule_alone};
use hlo_analysis::{Alias, Donation, Invariants, Roles, alias};
use hlo_ir::diag::Diag;
use hlo_ir::effects::Effects;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Maximum number of instructions of the program after all calls are expanded.
const MAX_INSTRUCTIONS: usize = 2_000_000;
/// Maximum nesting depth of calls, loops and branches.
const MAX_DEPTH: usize = 200;

/// The buffers of a value's leaves. `None` for a leaf without contents.
type Leaves = Rc<[Option<BufId>]>;

/// The steps and buffers of a module before assignment.
#[derive(Debug)]
pub struct Expanded {
    /// The entry computation.
    pub main: Body,
    /// The computations that become functions, callees first.
    pub functions: Vec<Body>,
    /// The constants. [`Pin::Constant`] is an index into this list.
    pub constants: Vec<Constant>,
    /// The transfers. Runtime calls refer to them by index.
    pub transfers: Vec<InstrId>,
    /// The custom calls. Runtime calls refer to them by index.
    pub custom_calls: Vec<InstrId>,
    /// The collectives of several devices. Runtime calls refer to them by index.
    pub collectives: Vec<InstrId>,
    /// The parameters that may be in the memory of their results when the program starts.
    pub donations: Vec<Donation>,
}

/// The steps and buffers of the entry computation or of a function.
#[derive(Debug)]
pub struct Body {
    /// The computation's root.
    pub root: InstrId,
    /// The steps.
    pub steps: Vec<Step<BufId>>,
    /// The buffers.
    pub buffers: Buffers,
    /// The buffers for the temporaries of called functions, with the numbers of the functions.
    pub frames: Vec<(BufId, usize)>,
    /// The sizes of the flattened parameters in bytes.
    pub param_bytes: Vec<u64>,
    /// The sizes of the leaves of the flattened result in bytes.
    pub output_bytes: Vec<u64>,
}

/// Expands a verified module, whose caller may donate parameters.
///
/// # Errors
/// Returns each instruction that can't be compiled, with the reason.
pub fn expand(module: &Module, donations: Vec<Donation>) -> Result<Expanded, Vec<Diag>> {
    let (effects, roles) = (Effects::of(module), Roles::of(module));
    let mut e = Expander {
        module,
        buffers: Buffers::default(),
        frames: Vec::new(),
        shared: shared::functions(module, &roles.order),
        function_numbers: HashMap::new(),
        functions: Vec::new(),
        constants: Vec::new(),
        constant_leaves: HashMap::new(),
        constant_numbers: HashMap::new(),
        transfers: Vec::new(),
        transfer_numbers: HashMap::new(),
        custom_calls: Vec::new(),
        custom_call_numbers: HashMap::new(),
        collectives: Vec::new(),
        collective_numbers: HashMap::new(),
        scheduled: schedule(module, &effects, &roles),
        orders: HashMap::new(),
        effects,
        invariants: Invariants::new(layouts::changes(module, &roles.order)),
        roles,
        covered: HashMap::new(),
        donated: HashMap::new(),
        expanded: 0,
        errors: Vec::new(),
        reported: HashSet::new(),
    };
    let mut steps = Vec::new();
    let (parameters, result) = module.entry_shapes();
    let (mut leaves, param_bytes) = e.parameters(&parameters);
    e.take_over(&mut leaves, &donations, &mut steps);
    let mut arguments = Vec::new();
    for ((p, shape), leaves) in module.parameters(module.entry()).into_iter().zip(parameters).zip(leaves) {
        arguments.push(e.relaid(p, leaves.into(), shape, &module[p].shape, &mut steps));
    }
    let root = e.steps_of(module.entry(), &arguments, &mut steps, 0);
    let id = module[module.entry()].root();
    let root = e.relaid(id, root, &module[id].shape, result, &mut steps);
    let output_bytes = e.outputs(&root, &mut steps);
    if e.errors.is_empty() {
        Ok(Expanded {
            main: Body { root: id, steps, buffers: e.buffers, frames: e.frames, param_bytes, output_bytes },
            functions: e.functions,
            constants: e.constants,
            transfers: e.transfers,
            custom_calls: e.custom_calls,
            collectives: e.collectives,
            donations,
        })
    } else {
        Err(e.errors)
    }
}

struct Expander<'m> {
    module: &'m Module,
    /// The buffers and frames of the current [`Body`].
    buffers: Buffers,
    frames: Vec<(BufId, usize)>,
    /// The computations that become functions, the numbers of those that are already expanded, and their
    /// bodies.
    shared: HashSet<ComputationId>,
    function_numbers: HashMap<ComputationId, usize>,
    functions: Vec<Body>,
    constants: Vec<Constant>,
    /// The buffers of the constants that the current body uses.
    constant_leaves: HashMap<InstrId, Leaves>,
    /// The numbers of constants, by the address of their elements and the layout of the copy (`None`:
    /// row-major).
    constant_numbers: HashMap<(*const u8, Option<&'m ArrayShape>), usize>,
    transfers: Vec<InstrId>,
    transfer_numbers: HashMap<InstrId, usize>,
    custom_calls: Vec<InstrId>,
    custom_call_numbers: HashMap<InstrId, usize>,
    collectives: Vec<InstrId>,
    collective_numbers: HashMap<InstrId, usize>,
    effects: Effects,
    scheduled: HashMap<ComputationId, Vec<InstrId>>,
    /// The scheduled instructions of each computation, without those that nothing needs.
    orders: HashMap<ComputationId, Rc<[InstrId]>>,
    roles: Roles,
    invariants: Invariants,
    /// Whether a kernel can compute each fusion.
    covered: HashMap<InstrId, bool>,
    /// The buffers of results that contain a donated parameter when the program starts, by result number.
    donated: HashMap<usize, BufId>,
    /// Number of instructions expanded so far.
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
    fn reject(&mut self, id: InstrId, why: impl Into<Refusal>) {
        // A computation that is called from several places is expanded several times. Its errors are reported
        // once.
        let error = why.into().of(self.module, id);
        if self.reported.insert((id, error.message.clone())) {
            self.errors.push(error);
        }
    }

    /// Returns the leaves of each of the entry's parameters, which have these shapes, and their sizes.
    fn parameters(&mut self, shapes: &[&Shape]) -> (Vec<Vec<Option<BufId>>>, Vec<u64>) {
        let mut sizes = Vec::new();
        let mut all = Vec::with_capacity(shapes.len());
        for (p, shape) in self.module.parameters(self.module.entry()).into_iter().zip(shapes) {
            let mut leaf = |shape| {
                let bytes = self.leaf_bytes(p, shape);
                sizes.push(bytes.unwrap_or(0));
                bytes.map(|b| self.buffers.add(b, Pin::Param(sizes.len() - 1), Some(p)))
            };
            all.push(shape.leaves().into_iter().map(&mut leaf).collect());
        }
        (all, sizes)
    }

    /// Copies the donated parameters to the memory of their results, and from there to new buffers. Buffer
    /// assignment merges the two where the program may use the parameter in the result's memory.
    fn take_over(
        &mut self,
        parameters: &mut [Vec<Option<BufId>>],
        donations: &[Donation],
        steps: &mut Vec<Step<BufId>>,
    ) {
        let mut leaves: Vec<&mut Option<BufId>> = parameters.iter_mut().flatten().collect();
        let mut values = Vec::new();
        for donation in donations {
            let Some(leaf) = leaves.get_mut(donation.parameter) else { continue };
            let Some(from) = **leaf else { continue };
            let (bytes, instruction) = (self.buffers[from].bytes, self.buffers[from].instruction);
            let to = self.buffers.add(bytes, Pin::Output(donation.output), instruction);
            steps.push(Step::Copy { from, to, bytes });
            self.donated.insert(donation.output, to);
            let value = self.buffers.add(bytes, Pin::Free, instruction);
            values.push(Step::Copy { from: to, to: value, bytes });
            **leaf = Some(value);
        }
        // These copies come after all copies to the results, because a result may be written where another
        // parameter was.
        steps.extend(values);
    }

    /// Copies the root's leaves to the caller's buffers. Returns their sizes.
    fn outputs(&mut self, root: &Leaves, steps: &mut Vec<Step<BufId>>) -> Vec<u64> {
        let id = self.module[self.module.entry()].root();
        let mut sizes = Vec::with_capacity(root.len());
        for (number, leaf) in root.iter().enumerate() {
            let bytes = leaf.map_or(0, |b| self.buffers[b].bytes);
            sizes.push(bytes);
            if let Some(from) = *leaf {
                let donated = self.donated.get(&number).copied();
                let to = donated.unwrap_or_else(|| self.buffers.add(bytes, Pin::Output(number), Some(id)));
                steps.push(Step::Copy { from, to, bytes });
            }
        }
        sizes
    }

    /// Adds a computation to `steps`, as its instructions or as a call if it is a function. Returns the
    /// leaves of its root.
    fn computation(
        &mut self,
        id: ComputationId,
        arguments: &[Leaves],
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        if depth > MAX_DEPTH {
            let root = self.module[id].root();
            self.reject(root, format!("computations nest more than {MAX_DEPTH} deep"));
            return self.fresh(root, &self.module[root].shape);
        }
        if self.shared.contains(&id) {
            self.call_function(id, arguments, steps, depth)
        } else {
            self.steps_of(id, arguments, steps, depth)
        }
    }

    /// Expands a computation's instructions into `steps`. Returns the leaves of its root.
    fn steps_of(
        &mut self,
        id: ComputationId,
        arguments: &[Leaves],
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let root = module[id].root();
        let order = self.order(id);
        let mut frame = Frame { arguments, values: HashMap::with_capacity(order.len()) };
        for &i in order.iter() {
            self.expanded += 1;
            if self.expanded > MAX_INSTRUCTIONS {
                if self.expanded == MAX_INSTRUCTIONS + 1 {
                    let message = format!("the calls expand to more than {MAX_INSTRUCTIONS} instructions");
                    self.reject(root, message);
                }
                return self.fresh(root, &module[root].shape);
            }
            let leaves = self.instruction(i, &mut frame, steps, depth);
            frame.values.insert(i, leaves);
        }
        self.value(root, &frame)
    }

    /// Returns the instructions that the root of a computation needs and those with effects, in the order in
    /// which they run.
    fn order(&mut self, id: ComputationId) -> Rc<[InstrId]> {
        if let Some(known) = self.orders.get(&id) {
            return Rc::clone(known);
        }
        let module = self.module;
        // A fusion that no kernel computes also needs an order.
        let all = match self.scheduled.get(&id) {
            Some(order) => order.clone(),
            None => schedule_alone(module, id, &self.effects, &self.roles),
        };
        let mut work = vec![module[id].root()];
        if self.effects.any(id) {
            work.extend(all.iter().copied().filter(|&i| self.effects.has(module, i)));
        }
        let mut needed: HashSet<InstrId> = work.iter().copied().collect();
        while let Some(at) = work.pop() {
            let control = module[at].control_predecessors();
            work.extend(module[at].operands.iter().chain(control).copied().filter(|&o| needed.insert(o)));
        }
        let order: Rc<[InstrId]> = all.iter().copied().filter(|i| needed.contains(i)).collect();
        self.orders.insert(id, Rc::clone(&order));
        order
    }

    /// Returns the leaves of an instruction that is already expanded.
    fn value(&mut self, id: InstrId, frame: &Frame<'_>) -> Leaves {
        if matches!(self.module[id].op, Op::Constant(_)) {
            return self.constant(id);
        }
        match frame.values.get(&id) {
            Some(leaves) => leaves.clone(),
            None => {
                self.reject(id, "internal error: the schedule uses a value before it is there");
                self.fresh(id, &self.module[id].shape)
            }
        }
    }

    /// Returns the leaves of operand number `index`.
    fn operand(&mut self, id: InstrId, index: usize, frame: &Frame<'_>) -> Leaves {
        match self.module[id].operands.get(index) {
            Some(&o) => self.value(o, frame),
            None => {
                self.reject(id, format!("operand {index} is missing"));
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
                        self.reject(id, format!("nothing is passed for parameter {}", p.number));
                        self.fresh(id, &instr.shape)
                    }
                }
            }
            // Constants are created on use, because most scalars become part of kernels.
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
                let Some(Alias::Element(index)) = alias(self.module, id) else { return whole };
                let n = instr.shape.leaf_count();
                let offsets = self.invariants.elements.offsets(self.module, instr.operands[0]);
                let part = (offsets.zip(usize::try_from(index).ok()))
                    .and_then(|(offsets, index)| offsets.get(index).copied())
                    .and_then(|at| whole.get(at..at + n));
                let tuple = self.module[instr.operands[0]].shape.as_tuple();
                let element = tuple.and_then(|t| t.get(usize::try_from(index).ok()?));
                match (part, element) {
                    (Some(part), Some(element)) => self.relaid(id, part.into(), element, &instr.shape, steps),
                    _ => {
                        self.reject(id, format!("there is no element {index}"));
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
                self.call(id, c.to_apply, &instr.shape, frame, steps, depth)
            }
            Role::Start => self.start(id, frame, steps, depth),
            Role::Exchange => self.exchange(id, frame, steps),
            Role::Transfer => self.transfer(id, frame, steps),
            Role::DeviceId => self.device_id(id, steps),
            Role::While => self.while_loop(id, frame, steps, depth),
            Role::Conditional => self.conditional(id, frame, steps, depth),
            Role::Dot => self.dot(id, frame, steps, depth),
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
                None => self.kernel(id, frame, steps, depth),
            },
            Role::Expanded => {
                let name = instr.op.name();
                let message = format!("`{name}` is left: the passes of `LOWERING` have to run before");
                self.reject(id, message);
                self.fresh(id, &instr.shape)
            }
        }
    }
}
