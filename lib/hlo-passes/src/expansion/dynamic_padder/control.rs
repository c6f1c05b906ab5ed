//! Padding of computations, and of the instructions that call them. Arrays with dynamic sizes are padded to
//! their bounds. Calls pass the actual sizes as additional arguments and results.

use super::interface::{Interface, Kind, declared, marked, sized, union};
use super::{Flags, Leaves, Padded, Padder, Result, padded_shape};
use crate::support::clone::inline_computation;
use crate::support::expander::{Functions, rename_control_predecessors};
use crate::support::places::Places;
use hlo_ir::attr::WhileAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};

/// Pads all computations that the program executes. Pads callers before callees.
pub(super) fn pad_module(module: &mut Module) -> Result<()> {
    let mut functions = Functions::new(module);
    let entry = module.entry();
    let parameters = module.parameters(entry).iter().map(|&p| declared(&module[p].shape)).collect();
    let result = declared(&module[module[entry].root()].shape);
    let mut checked = checked_computations(module);
    let first = Interface {
        computation: entry,
        parameters,
        wrapped: false,
        result,
        takes_check: false,
        gives_check: checked.contains(&entry),
        kind: Kind::Entry,
    };
    // Computations that are applied to elements come first, because other computations inline their
    // instructions.
    let mut queue = vec![first];
    queue.extend(applied_computations(module, &checked));
    let mut done = HashSet::new();
    let mut replaced = HashMap::new();
    while let Some(next) = queue.pop() {
        if !done.insert(next.computation) {
            continue;
        }
        let at = module[next.computation].root();
        let mut padder = Padder {
            computation: next.computation,
            at,
            module,
            functions: &mut functions,
            values: HashMap::new(),
            sizes: HashMap::new(),
            declared: HashMap::new(),
            constants: HashMap::new(),
            known: HashMap::new(),
            called: Vec::new(),
            added: Vec::new(),
            checks: Vec::new(),
            checked: &mut checked,
        };
        padder.pad_computation(&next, &mut replaced)?;
        queue.append(&mut padder.called);
    }
    if !replaced.is_empty() {
        rename_control_predecessors(module, &replaced);
    }
    Ok(())
}

/// Returns the computations that contain dynamic arrays, and their direct and indirect callers. These
/// computations check at run time whether the dynamic sizes of operands match.
fn checked_computations(module: &Module) -> HashSet<ComputationId> {
    let is_dynamic =
        |&c: &ComputationId| module[c].instructions().iter().any(|&i| super::needs_rewrite(module, i));
    let callers = module.callers();
    let mut pending: Vec<ComputationId> = module.computations().filter(is_dynamic).collect();
    let mut checked = HashSet::new();
    while let Some(c) = pending.pop() {
        if checked.insert(c) {
            pending.extend(callers.get(&c).into_iter().flatten().map(|&site| module[site].parent));
        }
    }
    checked
}

/// Returns the computations with dynamic arrays that instructions apply to elements, such as those of
/// `reduce`.
fn applied_computations(module: &Module, checked: &HashSet<ComputationId>) -> Vec<Interface> {
    let all = module.computations().flat_map(|c| module[c].instructions().iter().copied());
    let applies = |id: &InstrId| !passes_sizes(&module[*id].op);
    let applied: HashSet<ComputationId> =
        all.filter(applies).flat_map(|id| module[id].op.called_computations()).collect();
    // The caller pads the last computation of the list first.
    let mut found = module.computations_post_order();
    found.retain(|c| applied.contains(c) && checked.contains(c));
    found.reverse();
    let interface = |computation| Interface {
        computation,
        parameters: Vec::new(),
        wrapped: false,
        result: Flags::new(),
        takes_check: false,
        gives_check: false,
        kind: Kind::Applied,
    };
    found.into_iter().map(interface).collect()
}

/// Checks whether an operation passes sizes to its computations together with the arguments.
fn passes_sizes(op: &Op) -> bool {
    matches!(
        op,
        Op::Call(_) | Op::Fusion(_) | Op::While(_) | Op::Conditional(_) | Op::AsyncStart(_) | Op::Scan(_)
    )
}

impl Padder<'_> {
    fn pad_computation(
        &mut self,
        interface: &Interface,
        all_replaced: &mut HashMap<InstrId, InstrId>,
    ) -> Result<()> {
        let order = self.module.post_order(self.computation);
        let root = self.module[self.computation].root();
        self.take_parameters(interface)?;
        let mut places = Places::default();
        for &id in &order {
            if matches!(self.module[id].op, Op::Parameter(_)) {
                continue;
            }
            self.at = id;
            let first = self.module.instruction_capacity();
            self.pad_here()?;
            places.note(self.module, first, id);
        }
        self.at = root;
        self.create_root(root, interface)?;
        places.arrange(self.module, self.computation);
        let mut replaced = Vec::new();
        let added = std::mem::take(&mut self.added);
        for id in order.into_iter().chain(added) {
            let value = self.value(id);
            if value != id && !self.declared.contains_key(&id) {
                replaced.push(id);
                all_replaced.insert(id, value);
            }
            let shape = padded_shape(&self.module[id].shape);
            if let Op::Constant(a) = self.module.op_mut(id)
                && a.literal.shape() != &shape
            {
                a.literal = a.literal.clone().with_shape(padded_shape(a.literal.shape()));
            }
            self.module.set_shape(id, shape);
        }
        self.module.remove_all(&replaced);
        Ok(())
    }

    /// Pads the current instruction, and records the instruction that replaces it and its dynamic sizes.
    fn pad_here(&mut self) -> Result<()> {
        let id = self.at;
        let (value, leaves) = self.pad_instruction()?;
        self.values.insert(id, value);
        if leaves.iter().any(Self::any) {
            self.sizes.insert(id, leaves);
        }
        Ok(())
    }

    /// Pads an instruction that this pass has added. The operands of the instruction are not padded yet.
    pub(super) fn pad_added(&mut self, id: InstrId) -> Result<()> {
        let at = std::mem::replace(&mut self.at, id);
        self.added.push(id);
        self.pad_here()?;
        self.at = at;
        Ok(())
    }

    /// Pads a `call`, `fusion`, `while` or `conditional`, and adds the sizes to its arguments and results.
    pub(super) fn call_site(&mut self, op: &Op) -> Result<Padded> {
        let id = self.at;
        let wrapped = matches!(op, Op::While(_) | Op::Conditional(_));
        let is_loop = matches!(op, Op::While(_));
        let callees = op.called_computations();
        let first = usize::from(matches!(op, Op::Conditional(_)));
        let mut operands = self.operands().to_vec();
        let shape = self.module[id].shape.clone();

        let mut result = declared(&shape);
        for &c in &callees {
            let root = &self.module[self.module[c].root()].shape;
            if root.leaf_count() == shape.leaf_count() && (!is_loop || !root.is_scalar()) {
                result = union(result, &declared(root));
            }
        }
        // The dynamic dimensions whose sizes are passed with each argument: those of the argument, and those
        // of the parameters of the callees.
        let mut arguments: Vec<Flags> = Vec::new();
        for n in first..operands.len() {
            let of = self.operand_shape(n)?;
            let mut flags = union(declared(&of), &sized(&self.leaves(n)));
            for (k, &c) in callees.iter().enumerate() {
                let parameters = self.module.parameters(c);
                let takes = if wrapped { is_loop || k == n - first } else { true };
                let number = if wrapped { 0 } else { n };
                if let Some(&p) = parameters.get(number).filter(|_| takes) {
                    flags = union(flags, &declared(&self.module[p].shape));
                }
            }
            arguments.push(flags);
        }
        if is_loop {
            result = union(result, &arguments[0]);
            arguments[0].clone_from(&result);
        }
        let gives_check = callees.iter().any(|c| self.checked.contains(c))
            || arguments.iter().chain([&result]).any(|flags| !marked(flags).is_empty());
        let mut after = Vec::new();
        for (k, flags) in arguments.iter().enumerate() {
            let n = first + k;
            let (of, leaves) = (self.operand_shape(n)?, self.leaves(n));
            let mut sizes = self.asked(&of, &leaves, flags)?;
            if is_loop && gives_check {
                sizes.push(self.all_fit());
            }
            if sizes.is_empty() {
                continue;
            }
            if wrapped {
                let mut parts = vec![operands[n]];
                parts.extend(sizes);
                operands[n] = self.tuple(&parts);
            } else {
                after.extend(sizes);
            }
        }
        operands.extend(after);
        let mut checked_condition = None;
        for (k, &computation) in callees.iter().enumerate() {
            let parameters = match (wrapped, is_loop) {
                (true, true) => vec![arguments[0].clone()],
                (true, false) => arguments.get(k).cloned().into_iter().collect(),
                (false, _) => arguments.clone(),
            };
            let is_condition = matches!(op, Op::While(w) if w.body != computation);
            let result = if is_condition { Flags::new() } else { result.clone() };
            let fails = is_condition && gives_check && self.may_fail(computation);
            if fails {
                checked_condition = Some(computation);
            }
            self.called.push(Interface {
                computation,
                parameters,
                wrapped,
                result,
                takes_check: is_loop && gives_check,
                gives_check: gives_check && (fails || !is_condition),
                kind: if is_condition && gives_check && !fails { Kind::Condition } else { Kind::Called },
            });
        }
        if let (Op::While(w), Some(condition)) = (op, checked_condition) {
            operands = vec![self.rotate_loop(operands[0], condition, w.body)?];
        }
        self.module.set_operands(id, operands);
        self.take_results(id, shape, &result, gives_check)
    }

    /// Checks whether a computation can find sizes that do not match. If the computation only extracts
    /// elements of tuples and computes with scalars, it cannot.
    fn may_fail(&self, computation: ComputationId) -> bool {
        let has_arrays = |id: InstrId| {
            let arrays = |o: &InstrId| !matches!(&self.module[*o].shape, Shape::Array(a) if a.rank() == 0);
            self.module[id].operands.iter().any(arrays)
        };
        self.module[computation].instructions().iter().any(|&id| match &self.module[id].op {
            Op::Parameter(_) | Op::Tuple | Op::GetTupleElement(_) | Op::GetDimensionSize(_) | Op::Copy => {
                false
            }
            op => has_arrays(id) || op.called_computations().iter().any(|c| self.checked.contains(c)),
        })
    }

    /// Rewrites the current loop so that the results of its condition become loop-carried values. The loop
    /// then evaluates the condition before the first iteration and at the end of each iteration. The program
    /// can therefore read the result of the condition's size checks after the loop. `init` is the initial
    /// value of the loop. Returns the new initial value.
    fn rotate_loop(
        &mut self,
        init: InstrId,
        condition: ComputationId,
        body: ComputationId,
    ) -> Result<InstrId> {
        let count = self.shape(init).as_tuple().map_or(0, <[Shape]>::len);
        let asked = |p: &mut Self, state: InstrId| -> Result<InstrId> {
            let pred = Shape::scalar(ElementType::Pred);
            let call = Op::call(condition);
            let answer = p.add(Shape::tuple(vec![pred.clone(), pred]), call, &[state]);
            let mut parts = (0..count - 1).map(|k| p.element(state, k)).collect::<Result<Vec<_>>>()?;
            parts.push(p.element(answer, 1)?);
            parts.push(p.element(answer, 0)?);
            Ok(p.tuple(&parts))
        };
        let start = asked(self, init)?;
        let (of_body, shape) = (self.shape(init), self.shape(start));
        let turn = self.function("turn", std::slice::from_ref(&shape), |p, state| {
            let &[state] = state else { return Err(p.unsupported_diag("lacks a state")) };
            let parts = (0..count).map(|k| p.element(state, k)).collect::<Result<Vec<_>>>()?;
            let before = p.tuple(&parts);
            let call = Op::call(body);
            let after = p.add(of_body, call, &[before]);
            asked(p, after)
        })?;
        let go_on = self.function("go_on", &[shape], |p, state| {
            let &[state] = state else { return Err(p.unsupported_diag("lacks a state")) };
            let (fits, more) = (p.element(state, count - 1)?, p.element(state, count)?);
            Ok(p.both(Op::And, fits, more))
        })?;
        let at = self.at;
        *self.module.op_mut(at) = Op::While(WhileAttrs { condition: go_on, body: turn });
        Ok(start)
    }

    /// Adds a computation with parameters of these shapes, on the execution thread of the current
    /// computation. `fill` adds the other instructions and returns the root.
    pub(super) fn function(
        &mut self,
        name: &str,
        parameters: &[Shape],
        fill: impl FnOnce(&mut Self, &[InstrId]) -> Result<InstrId>,
    ) -> Result<ComputationId> {
        let name = self.functions.namer.fresh(name);
        let c = self.module.add_computation(&name);
        self.module[c].execution_thread = self.module[self.computation].execution_thread.clone();
        let outer = std::mem::replace(&mut self.computation, c);
        let mut inputs = Vec::with_capacity(parameters.len());
        for (n, shape) in parameters.iter().enumerate() {
            inputs.push(self.add(shape.clone(), Op::parameter(n as i64), &[]));
        }
        let root = fill(self, &inputs)?;
        self.module.set_root(c, root);
        self.computation = outer;
        Ok(c)
    }

    /// Inlines a computation with the given arguments. Returns the result of the computation.
    pub(super) fn inlined(&mut self, of: ComputationId, arguments: &[InstrId]) -> Result<InstrId> {
        inline_computation(self.module, &mut self.functions.namer, of, self.computation, arguments)
            .ok_or_else(|| self.unsupported_diag("calls a function of other parameters"))
    }

    /// Extracts the value and the dynamic sizes from the result of the call `id`.
    fn take_results(&mut self, id: InstrId, shape: Shape, flags: &Flags, check: bool) -> Result<Padded> {
        let marked = marked(flags);
        if marked.is_empty() && !check {
            return Ok((id, Vec::new()));
        }
        self.wrap_shape(id, marked.len(), check);
        if let (Op::While(_), &[state]) = (&self.module[id].op, &*self.module[id].operands) {
            let state = self.shape(state);
            self.module.set_shape(id, state);
        }
        if check {
            let fits = self.element(id, marked.len() + 1)?;
            self.checks.push(fits);
        }
        self.declared.insert(id, shape);
        let value = self.element(id, 0)?;
        let mut leaves: Leaves = flags.iter().map(|dims| dims.iter().map(|_| None).collect()).collect();
        for (k, (leaf, d)) in marked.into_iter().enumerate() {
            leaves[leaf][d] = Some(self.element(id, k + 1)?);
        }
        Ok((value, leaves))
    }
}
