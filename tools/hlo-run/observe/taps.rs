//! Taps: instruments a module so that it reports the values of its instructions while it runs.
//!
//! After each selected instruction, an outfeed sends its result. Markers report the start of each
//! computation, and the start and end of each instruction that calls computations. The taps of a computation
//! depend on each other, and on instructions that call computations or have effects. Therefore everything
//! happens in the order of the program, independent of passes and engine. Both engines run the same module.
//!
//! If a module has arrays whose sizes are only known at run time, each array is sent with the size of its
//! bounds. The actual sizes follow after all arrays.

use hlo_ir::attr::{DimensionAttrs, GetTupleElementAttrs, HloString, OptionalShape, OutfeedAttrs};
use hlo_ir::effects::Effects;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Literal, Module, Op, Opcode, Shape};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// An event that a running program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A computation starts.
    Begin(ComputationId),
    /// An instruction that calls computations starts. For a conditional, the selector is sent too.
    Enter(InstrId),
    /// The instruction ends.
    Leave(InstrId),
    /// An instruction was computed. The requested arrays are sent with it.
    Value(InstrId),
}

/// The meaning of an outfeed.
struct Tap {
    event: Event,
    /// The number of sizes for each array, which follow after the arrays: one for each dimension, or none.
    sizes: Vec<usize>,
}

impl Tap {
    /// Returns the received arrays in their actual sizes.
    fn arrays<'v>(&self, value: &'v Literal) -> Cow<'v, [Literal]> {
        let elements = value.tuple_elements();
        let (arrays, sizes) = elements.split_at(self.sizes.len().min(elements.len()));
        if sizes.is_empty() {
            return Cow::Borrowed(arrays);
        }
        let mut sizes = sizes.iter().map(|s| s.integer_at(0).and_then(|n| i64::try_from(n).ok()));
        let real = |(array, &count): (&Literal, &usize)| {
            let dims: Option<Vec<i64>> = sizes.by_ref().take(count).collect();
            dims.filter(|d| !d.is_empty()).and_then(|d| array.resized(&d)).unwrap_or_else(|| array.clone())
        };
        Cow::Owned(arrays.iter().zip(&self.sizes).map(real).collect())
    }
}

/// An instrumented module.
pub struct Tapped {
    /// The module to run.
    pub module: Module,
    /// The taps. Their indices are part of the outfeed configurations.
    taps: Vec<Tap>,
    /// The text before the index in the configurations.
    prefix: String,
    /// Whether sizes are sent. If a module has arrays of dynamic sizes, other arrays may be smaller than
    /// their shapes, too.
    sized: bool,
}

impl Tapped {
    /// Instruments the instructions of `wanted`, each with the instructions whose arrays are sent once it is
    /// computed. `markers` selects whether the other events are reported too.
    pub fn new(original: &Module, wanted: &HashMap<InstrId, Vec<InstrId>>, markers: bool) -> Self {
        let effects = Effects::of(original);
        let mut module = original.clone();
        module.header.is_scheduled = false;
        // Computations of asynchronous operations are called in order.
        for c in original.computations() {
            module[c].execution_thread = None;
        }
        let mut all = original.computations().flat_map(|c| original[c].instructions());
        let sized = all.any(|&i| !original[i].shape.dynamic_dimensions().is_empty());
        let mut tapped = Self { prefix: prefix(original), module, taps: Vec::new(), sized };
        for computation in running(original) {
            let order = needed(original, &effects, computation);
            Tapper { original, effects: &effects, tapped: &mut tapped, computation, last: None, acted: None }
                .tap(&order, wanted, markers);
        }
        tapped
    }

    /// Returns the event and the arrays of an outfeed with this configuration, or `None` for an outfeed of
    /// the program.
    pub fn decode_event<'v>(
        &self,
        config: &HloString,
        value: &'v Literal,
    ) -> Option<(Event, Cow<'v, [Literal]>)> {
        let number = config.as_str()?.strip_prefix(&self.prefix)?;
        let tap = self.taps.get(number.parse::<usize>().ok()?)?;
        Some((tap.event, tap.arrays(value)))
    }
}

/// Returns a prefix that no configuration in the module begins with.
fn prefix(module: &Module) -> String {
    let own: Vec<String> = (module.computations().flat_map(|c| module[c].instructions()))
        .filter_map(|&i| match &module[i].op {
            Op::Outfeed(a) => Some(a.outfeed_config.to_text().into_owned()),
            _ => None,
        })
        .collect();
    let mut prefix = "tap ".to_string();
    while own.iter().any(|config| config.starts_with(&prefix)) {
        prefix.insert(0, '_');
    }
    prefix
}

/// Returns the computations that an instruction runs as separate programs. Their instructions can be watched.
/// Computations that are applied to elements cannot.
pub fn runs(module: &Module, id: InstrId) -> Vec<ComputationId> {
    match &module[id].op {
        Op::Call(a) => vec![a.to_apply],
        Op::Fusion(a) => vec![a.calls],
        Op::While(a) => vec![a.condition, a.body],
        Op::Conditional(a) => a.branches().to_vec(),
        Op::AsyncStart(a) => {
            a.calls.filter(|_| state_parts(&module[id].shape).is_some()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Splits the state of an asynchronous operation into the operands, the result, and contexts, which carry no
/// information.
fn state_parts(shape: &Shape) -> Option<(&Shape, &Shape, &[Shape])> {
    let [given, result, contexts @ ..] = shape.as_tuple()? else { return None };
    let known = |s: &Shape| s.as_array().is_some_and(|a| a.is_static() && a.rank() == 0);
    contexts.iter().all(known).then_some((given, result, contexts))
}

/// Returns the computations whose instructions can be watched, the entry first.
pub fn running(module: &Module) -> Vec<ComputationId> {
    let mut list = vec![module.entry()];
    let mut seen: HashSet<ComputationId> = list.iter().copied().collect();
    let mut at = 0;
    while let Some(&c) = list.get(at) {
        let called = module[c].instructions().iter().flat_map(|&i| runs(module, i));
        list.extend(called.filter(|&c| seen.insert(c)));
        at += 1;
    }
    list
}

/// Returns the instructions of a computation that run, in execution order.
pub fn needed(module: &Module, effects: &Effects, computation: ComputationId) -> Vec<InstrId> {
    let order = effects.order(module, computation);
    let mut needed: HashSet<InstrId> = HashSet::new();
    for &i in order.iter().rev() {
        if needed.contains(&i) || module.is_root(i) || effects.has(module, i) || is_parameter(module, i) {
            needed.insert(i);
            needed.extend(module[i].operands.iter().chain(module[i].control_predecessors()));
        }
    }
    order.into_iter().filter(|i| needed.contains(i)).collect()
}

fn is_parameter(module: &Module, id: InstrId) -> bool {
    module[id].opcode() == Opcode::Parameter
}

/// Whether a leaf of a value is sent. Only arrays are.
pub fn is_sent(shape: &Shape) -> bool {
    shape.as_array().is_some()
}

/// Instruments one computation.
struct Tapper<'a> {
    original: &'a Module,
    effects: &'a Effects,
    tapped: &'a mut Tapped,
    computation: ComputationId,
    /// The last token.
    last: Option<InstrId>,
    /// The last instruction that called a computation or had effects.
    acted: Option<InstrId>,
}

impl Tapper<'_> {
    fn tap(&mut self, order: &[InstrId], wanted: &HashMap<InstrId, Vec<InstrId>>, markers: bool) {
        if markers {
            self.mark(Event::Begin(self.computation));
        }
        for &id in order {
            let op = &self.original[id].op;
            let calls = !runs(self.original, id).is_empty();
            if calls && markers {
                match (op, self.original[id].operands.first()) {
                    (Op::Conditional(_), Some(&selector)) => self.send(Event::Enter(id), &[selector]),
                    _ => self.mark(Event::Enter(id)),
                }
            }
            let acts = self.in_order(id);
            if calls || self.effects.has(self.original, id) {
                self.follows(acts);
            }
            if calls && markers {
                self.mark(Event::Leave(id));
            }
            if let Some(values) = wanted.get(&id) {
                self.send(Event::Value(id), values);
            }
        }
        self.first();
    }

    /// Converts a fusion or an asynchronous operation to a call. An asynchronous operation then ends where it
    /// starts. Returns the instruction that runs the computation.
    fn in_order(&mut self, id: InstrId) -> InstrId {
        let call = |to_apply| Op::call(to_apply);
        let instr = &self.original[id];
        let state = |id: InstrId| state_parts(&self.original[id].shape);
        match (&instr.op, instr.operands.first().and_then(|&o| state(o))) {
            (Op::Fusion(a), _) => self.tapped.module.set_op(id, call(a.calls)),
            (Op::AsyncUpdate(_), Some(_)) => self.tapped.module.set_op(id, Op::OptBarrier),
            (Op::AsyncDone(_), Some(_)) => {
                let attrs = GetTupleElementAttrs { index: 1 };
                self.tapped.module.set_op(id, Op::GetTupleElement(attrs));
            }
            (Op::AsyncStart(a), _) => {
                let (Some(callee), Some((given, result, contexts))) = (a.calls, state(id)) else { return id };
                let acts = self.add("call", result.clone(), call(callee), &instr.operands);
                let mut parts = vec![self.add("given", given.clone(), Op::Tuple, &instr.operands), acts];
                for context in contexts {
                    parts.extend(Literal::try_zeros(context).map(|zero| self.constant("context", zero)));
                }
                self.tapped.module.set_op(id, Op::Tuple);
                self.tapped.module.set_operands(id, parts);
                return acts;
            }
            _ => {}
        }
        id
    }

    /// Moves the last tap to the front of the list. The execution order follows operands, starting from the
    /// first instruction in the list. Therefore each value is reported, and can be freed, before the next one
    /// is computed.
    fn first(&mut self) {
        let Some(last) = self.last else { return };
        let others =
            self.tapped.module[self.computation].instructions().iter().copied().filter(|&i| i != last);
        let order = std::iter::once(last).chain(others).collect();
        self.tapped.module.set_order(self.computation, order);
    }

    /// Makes an instruction run after all earlier taps and effects.
    fn follows(&mut self, id: InstrId) {
        let before = [self.last, self.acted.replace(id)];
        let predecessors = &mut self.tapped.module.common_mut(id).control_predecessors;
        for p in before.into_iter().flatten() {
            if !predecessors.contains(&p) {
                predecessors.push(p);
            }
        }
    }

    /// Reports an event without a value.
    fn mark(&mut self, event: Event) {
        let mark = self.constant("mark", Literal::scalar(ElementType::Pred, 1u8));
        self.outfeed(event, vec![mark]);
    }

    fn constant(&mut self, base: &str, literal: Literal) -> InstrId {
        let shape = literal.shape().clone();
        self.add(base, shape, Op::constant(literal), &[])
    }

    fn add(&mut self, base: &str, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        let name = self.tapped.module.unique_name(base);
        self.tapped.module.add(self.computation, &name, shape.into(), op, operands.iter().copied())
    }

    /// Reports an event with the arrays of values.
    fn send(&mut self, event: Event, values: &[InstrId]) {
        let mut arrays = Vec::new();
        for &value in values {
            self.arrays(value, &mut arrays);
        }
        if !arrays.is_empty() {
            self.outfeed(event, arrays);
        }
    }

    /// Collects the arrays in a value that can be sent, in the order of its leaves.
    fn arrays(&mut self, value: InstrId, out: &mut Vec<InstrId>) {
        // Depth-first: the element that was pushed last is visited first.
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            let module = &mut self.tapped.module;
            let Shape::Tuple(parts) = module[value].shape.clone() else {
                out.extend(is_sent(&module[value].shape).then_some(value));
                continue;
            };
            let mut elements = Vec::with_capacity(parts.len());
            for (index, shape) in parts.into_iter().enumerate() {
                if !shape.leaves().into_iter().any(is_sent) {
                    continue;
                }
                let name = module.unique_name("part");
                let op = Op::get_tuple_element(index as i64);
                elements.push(module.add(self.computation, &name, shape.clone(), op, [value]));
            }
            open.extend(elements.into_iter().rev());
        }
    }

    fn outfeed(&mut self, event: Event, mut arrays: Vec<InstrId>) {
        let number = self.tapped.taps.len();
        let (mut counts, mut sizes) = (Vec::with_capacity(arrays.len()), Vec::new());
        for array in &mut arrays {
            let shape = self.tapped.module[*array].shape.as_array().filter(|_| self.tapped.sized).cloned();
            let dims = 0..shape.as_ref().map_or(0, ArrayShape::rank);
            for d in dims.clone() {
                let attrs = DimensionAttrs { dimensions: [d as i64].into_iter().collect() };
                let op = Op::GetDimensionSize(attrs);
                sizes.push(self.add("size", Shape::scalar(ElementType::S32), op, &[*array]));
            }
            let padded = shape.filter(|s| s.rank() > 0).and_then(|s| self.padded(*array, &s));
            *array = padded.unwrap_or(*array);
            counts.push(dims.len());
        }
        arrays.extend(sizes);
        self.tapped.taps.push(Tap { event, sizes: counts });
        let config = HloString::from_bytes(format!("{}{number}", self.tapped.prefix).into_bytes());
        let token = self.last.unwrap_or_else(|| self.add("start", Shape::Token, Op::AfterAll, &[]));
        let shape = Shape::Tuple(arrays.iter().map(|&a| self.tapped.module[a].shape.clone()).collect());
        let told = self.add("told", shape, Op::Tuple, &arrays);
        let attrs = OutfeedAttrs { outfeed_shape: OptionalShape(None), outfeed_config: config };
        let tap = self.add("tap", Shape::Token, Op::Outfeed(Box::new(attrs)), &[told, token]);
        let before = self.acted.into_iter().chain(self.last).collect();
        self.tapped.module.common_mut(tap).control_predecessors = before;
        self.last = Some(tap);
    }

    /// Pads an array with zeros to its bounds.
    fn padded(&mut self, array: InstrId, shape: &ArrayShape) -> Option<InstrId> {
        let whole = ArrayShape::new(shape.element_type, shape.dims.iter().copied());
        let zero = self.constant("zero", Literal::try_zeros(&Shape::scalar(shape.element_type))?);
        let zeros = self.add("zeros", whole.clone(), Op::broadcast([]), &[zero]);
        let first = self.constant("first", Literal::scalar(ElementType::S32, 0i32));
        let operands: Vec<InstrId> =
            [zeros, array].into_iter().chain(std::iter::repeat_n(first, shape.rank())).collect();
        Some(self.add("padded", whole, Op::DynamicUpdateSlice, &operands))
    }
}
