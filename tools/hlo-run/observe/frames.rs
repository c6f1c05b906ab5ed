//! Follows a running program: calls, iterations of loops, and the values that contain NaN or infinite
//! elements.

use super::numbers::specials;
use super::taps::{Event, is_sent, running};
use hlo_ir::effects::Effects;
use hlo_ir::{ComputationId, InstrId, Literal, Module, Op};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The leaves of a value. Only arrays with a NaN or an infinity are stored.
pub type Leaves = Arc<[Option<Literal>]>;

/// The order of a computation's instructions.
struct Order {
    list: Vec<InstrId>,
    position: HashMap<InstrId, usize>,
    /// For each position, the values that no later instruction uses.
    dead: Vec<Vec<InstrId>>,
}

/// A running computation.
struct Frame {
    /// The instruction that runs it; `None` for the entry.
    caller: Option<InstrId>,
    /// The values of the caller's operands. For a loop, only the state.
    arguments: Vec<Leaves>,
    /// The number of computations started so far. In a loop, condition and body alternate.
    begun: u64,
    /// The index of the active branch of a conditional.
    branch: usize,
    computation: ComputationId,
    /// The next position in the order.
    at: usize,
    /// The values that contain NaN or infinite elements.
    values: HashMap<InstrId, Leaves>,
}

/// The active calls.
pub struct Frames<'m> {
    module: &'m Module,
    orders: HashMap<ComputationId, Order>,
    stack: Vec<Frame>,
}

impl<'m> Frames<'m> {
    /// Creates the state at the start of the program. `inputs` are the leaves of the entry's parameters.
    pub fn new(module: &'m Module, inputs: &[Literal]) -> Self {
        let effects = Effects::of(module);
        let orders = running(module).into_iter().map(|c| (c, Order::new(module, &effects, c))).collect();
        let mut inputs = inputs.iter();
        let arguments = module.parameters(module.entry()).into_iter().map(|p| {
            let count = module[p].shape.leaf_count();
            inputs.by_ref().take(count).map(special_array).collect()
        });
        let entry = Frame::new(None, arguments.collect(), module.entry());
        Self { module, orders, stack: vec![entry] }
    }

    /// Processes an event. For the value of an instruction, returns the values of its operands that contain
    /// NaN or infinite elements.
    pub fn follow(&mut self, event: Event, arrays: &[Literal]) -> Vec<Option<Leaves>> {
        match event {
            Event::Begin(computation) => self.begin(computation),
            Event::Enter(id) => self.enter(id, arrays),
            Event::Leave(id) => self.leave(id),
            Event::Value(id) => return self.value(id, arrays),
        }
        Vec::new()
    }

    /// Describes the current position, outermost first: ``iteration 3 of `while.5` ``. Returns an empty
    /// string in the entry.
    pub fn place(&self) -> String {
        let frames = self.stack.iter().filter_map(|f| Some((f, f.caller?)));
        let parts: Vec<String> = frames
            .map(|(frame, id)| {
                let name = &self.module[id].name;
                match &self.module[id].op {
                    Op::While(a) if a.condition == frame.computation => {
                        format!("condition of iteration {} of `{name}`", frame.iteration())
                    }
                    Op::While(_) => format!("iteration {} of `{name}`", frame.iteration()),
                    Op::Conditional(_) => format!("branch {} of `{name}`", frame.branch),
                    _ => format!("`{name}`"),
                }
            })
            .collect();
        parts.join(", ")
    }

    fn begin(&mut self, computation: ComputationId) {
        let result = self.finish();
        let Some(frame) = self.stack.last_mut() else { return };
        // The body is the second computation of each iteration.
        let is_loop = frame.caller.is_some_and(|id| matches!(self.module[id].op, Op::While(_)));
        if is_loop && frame.begun > 0 && frame.begun % 2 == 0 {
            frame.arguments = vec![result];
        }
        frame.begun += 1;
        frame.computation = computation;
        frame.at = 0;
        frame.values.clear();
    }

    fn enter(&mut self, id: InstrId, arrays: &[Literal]) {
        self.advance_to(id);
        let operands: Vec<Leaves> = self.module[id].operands.iter().map(|&o| self.leaves(o)).collect();
        let mut frame = Frame::new(Some(id), operands, self.module[id].parent);
        if let Op::Conditional(a) = &self.module[id].op {
            let selector = arrays.first();
            let number = selector.and_then(|s| s.integer_at(0)).unwrap_or(0);
            let by_pred =
                selector.and_then(|s| s.shape().as_array()).is_some_and(|s| s.element_type.is_pred());
            let last = a.branches().len().saturating_sub(1);
            // For a pred, the first branch is for true. A number out of range selects the last branch.
            frame.branch = if by_pred {
                usize::from(number == 0)
            } else {
                usize::try_from(number).unwrap_or(last).min(last)
            };
            frame.arguments = frame.arguments.into_iter().skip(frame.branch + 1).take(1).collect();
        }
        self.stack.push(frame);
    }

    fn leave(&mut self, id: InstrId) {
        let result = self.finish();
        let Some(frame) = self.stack.pop_if(|f| f.caller == Some(id)) else { return };
        let result = match &self.module[id].op {
            // The condition ran last.
            Op::While(_) => frame.arguments.into_iter().next().unwrap_or(result),
            // The state consists of the operands, the result, and contexts, which carry no information.
            Op::AsyncStart(_) => {
                let mut state: Vec<Option<Literal>> =
                    frame.arguments.iter().chain([&result]).flat_map(|leaves| leaves.to_vec()).collect();
                state.resize(self.module[id].shape.leaf_count(), None);
                state.into()
            }
            _ => result,
        };
        self.set(id, result);
    }

    fn value(&mut self, id: InstrId, arrays: &[Literal]) -> Vec<Option<Leaves>> {
        self.advance_to(id);
        let mut arrays = arrays.iter();
        let shape = &self.module[id].shape;
        let leaves =
            shape.leaves().into_iter().map(|s| if is_sent(s) { special_array(arrays.next()?) } else { None });
        let leaves = leaves.collect();
        let Some(frame) = self.stack.last() else { return Vec::new() };
        let operands = self.module[id].operands.iter().map(|o| frame.values.get(o).cloned()).collect();
        if is_never_run(self.module, id) {
            self.set(id, leaves);
        }
        operands
    }

    /// Returns the leaves of a value of the innermost frame.
    fn leaves(&self, id: InstrId) -> Leaves {
        let known = self.stack.last().and_then(|f| f.values.get(&id));
        known.cloned().unwrap_or_else(|| vec![None; self.module[id].shape.leaf_count()].into())
    }

    fn set(&mut self, id: InstrId, leaves: Leaves) {
        if let Some(frame) = self.stack.last_mut()
            && leaves.iter().any(Option::is_some)
        {
            frame.values.insert(id, leaves);
        }
    }

    /// Returns the result of the innermost computation.
    fn finish(&mut self) -> Leaves {
        let Some(computation) = self.stack.last().map(|f| f.computation) else { return Vec::new().into() };
        let root = self.module[computation].root();
        self.advance(None);
        self.leaves(root)
    }

    fn advance_to(&mut self, id: InstrId) {
        self.advance(Some(id));
    }

    /// Computes the values before an instruction, or before the end, that are not reported because they are
    /// parts of other values.
    fn advance(&mut self, to: Option<InstrId>) {
        let module = self.module;
        let Some((computation, from)) = self.stack.last().map(|f| (f.computation, f.at)) else { return };
        let Some(order) = self.orders.get(&computation) else { return };
        let end = to.map_or(Some(order.list.len()), |id| order.position.get(&id).copied()).unwrap_or(from);
        for at in from..end {
            let id = order.list[at];
            let Some(frame) = self.stack.last_mut() else { return };
            if let Some(leaves) = frame.part(module, id).filter(|l| l.iter().any(Option::is_some)) {
                frame.values.insert(id, leaves);
            }
            for dead in &order.dead[at] {
                frame.values.remove(dead);
            }
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.at = end.max(from);
        }
    }
}

impl Frame {
    fn new(caller: Option<InstrId>, arguments: Vec<Leaves>, computation: ComputationId) -> Self {
        Self { caller, arguments, begun: 0, branch: 0, computation, at: 0, values: HashMap::new() }
    }

    /// Returns the iteration of a loop, starting at 0.
    fn iteration(&self) -> u64 {
        self.begun.saturating_sub(1) / 2
    }

    /// Returns a value that follows from others without arithmetic.
    fn part(&self, module: &Module, id: InstrId) -> Option<Leaves> {
        let instr = &module[id];
        match &instr.op {
            Op::Parameter(p) => self.arguments.get(usize::try_from(p.number).ok()?).cloned(),
            Op::Constant(a) => Some(a.literal.leaves().into_iter().map(special_array).collect()),
            Op::GetTupleElement(a) => {
                let &tuple = instr.operands.first()?;
                let leaves = self.values.get(&tuple)?;
                let parts = module[tuple].shape.as_tuple()?;
                let index = usize::try_from(a.index).ok()?;
                let before = parts.iter().take(index).map(|s| s.leaf_count()).sum::<usize>();
                Some(leaves.get(before..before + parts.get(index)?.leaf_count())?.into())
            }
            Op::Tuple if instr.operands.iter().any(|o| self.values.contains_key(o)) => {
                let parts = instr.operands.iter().flat_map(|&o| match self.values.get(&o) {
                    Some(leaves) => leaves.to_vec(),
                    None => vec![None; module[o].shape.leaf_count()],
                });
                Some(parts.collect())
            }
            _ => None,
        }
    }
}

impl Order {
    fn new(module: &Module, effects: &Effects, computation: ComputationId) -> Self {
        let list = super::taps::needed(module, effects, computation);
        let position = list.iter().enumerate().map(|(at, &i)| (i, at)).collect();
        let mut dead = vec![Vec::new(); list.len()];
        let mut seen: HashSet<InstrId> = HashSet::from([module[computation].root()]);
        for (at, &id) in list.iter().enumerate().rev() {
            for &o in module[id].operands.iter().chain([&id]) {
                if seen.insert(o) {
                    dead[at].push(o);
                }
            }
        }
        Self { list, position, dead }
    }
}

fn is_never_run(module: &Module, id: InstrId) -> bool {
    super::taps::runs(module, id).is_empty()
}

/// Returns the array if it contains NaN or infinite elements.
fn special_array(array: &Literal) -> Option<Literal> {
    specials(array).next().is_some().then(|| array.clone())
}
