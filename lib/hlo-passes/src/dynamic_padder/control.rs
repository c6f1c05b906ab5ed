//! Computations: what is handed over to them with sizes, and the entry's interface.

use super::{Flags, Leaves, Padded, Padder, Result, Size, Sizes, padded_shape};
use crate::support::clone::ComputationNamer;
use hlo_ir::attr::ParameterAttrs;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};

/// How a computation is called.
pub(super) struct Interface {
    computation: ComputationId,
    /// For each parameter, the dimensions whose sizes come with it.
    parameters: Vec<Flags>,
    /// True if the sizes of the one parameter come in a tuple with it; else they are parameters after the others.
    wrapped: bool,
    /// The dimensions of the result whose sizes go with it. They are the tuple (result, sizes…).
    result: Flags,
    /// True if whether all sizes fit so far comes after the sizes of the parameter.
    takes_check: bool,
    /// True if whether all sizes fit goes after the sizes of the result.
    gives_check: bool,
    /// True for the module's entry.
    is_entry: bool,
}

/// Marks the dimensions that a shape says are dynamic.
fn declared(shape: &Shape) -> Flags {
    let rank = |s: &&Shape| s.as_array().map_or(0, |a| a.rank());
    let mut flags: Flags = shape.leaves().iter().map(|s| smallvec::smallvec![false; rank(s)]).collect();
    for (leaf, d) in shape.dynamic_dimensions() {
        flags[leaf][d] = true;
    }
    flags
}

/// Marks what either marks.
fn union(mut a: Flags, b: &Flags) -> Flags {
    for (a, b) in a.iter_mut().zip(b) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
    }
    a
}

/// Marks the dimensions that have a size of their own.
fn sized(leaves: &Leaves) -> Flags {
    leaves.iter().map(|sizes| sizes.iter().map(Option::is_some).collect()).collect()
}

fn marked(flags: &Flags) -> Vec<(usize, usize)> {
    let all = flags.iter().enumerate();
    all.flat_map(|(leaf, dims)| (0..dims.len()).filter(|&d| dims[d]).map(move |d| (leaf, d))).collect()
}

/// Pads every computation that runs, callers before what they call.
pub(super) fn pad_module(module: &mut Module) -> Result<()> {
    let mut namer = ComputationNamer::new(module);
    let entry = module.entry();
    let parameters = module.parameters(entry).iter().map(|&p| declared(&module[p].shape)).collect();
    let result = declared(&module[module[entry].root()].shape);
    let checked = checked_computations(module);
    let first = Interface {
        computation: entry,
        parameters,
        wrapped: false,
        result,
        takes_check: false,
        gives_check: checked.contains(&entry),
        is_entry: true,
    };
    let mut queue = vec![first];
    let mut done = HashSet::new();
    while let Some(next) = queue.pop() {
        if !done.insert(next.computation) {
            continue;
        }
        let at = module[next.computation].root();
        let mut padder = Padder {
            computation: next.computation,
            at,
            module,
            namer: &mut namer,
            values: HashMap::new(),
            sizes: HashMap::new(),
            declared: HashMap::new(),
            constants: HashMap::new(),
            known: HashMap::new(),
            called: Vec::new(),
            checks: Vec::new(),
            checked: &checked,
        };
        padder.pad_computation(&next)?;
        queue.append(&mut padder.called);
    }
    Ok(())
}

/// The computations with arrays of dynamic sizes, and those that call them: whether sizes fit is known while they run.
fn checked_computations(module: &Module) -> HashSet<ComputationId> {
    let is_dynamic = |&c: &ComputationId| {
        module[c].instructions().iter().any(|&i| !module[i].shape.dynamic_dimensions().is_empty())
    };
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

impl Padder<'_> {
    fn pad_computation(&mut self, interface: &Interface) -> Result<()> {
        let order = self.module.post_order(self.computation);
        let root = self.module[self.computation].root();
        self.take_parameters(interface)?;
        let mut replaced = Vec::new();
        for &id in &order {
            if matches!(self.module[id].op, Op::Parameter(_)) {
                continue;
            }
            self.at = id;
            let (value, leaves) = self.pad_instruction()?;
            self.values.insert(id, value);
            if leaves.iter().any(Self::any) {
                self.sizes.insert(id, leaves);
            }
            if value != id && !self.declared.contains_key(&id) {
                replaced.push(id);
            }
        }
        self.at = root;
        self.give_result(root, interface)?;
        for id in order {
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

    /// Makes values of the parameters and their sizes.
    fn take_parameters(&mut self, interface: &Interface) -> Result<()> {
        let parameters = self.module.parameters(self.computation);
        let mut number = parameters.len() as i64;
        for (&id, flags) in parameters.iter().zip(&interface.parameters) {
            self.at = id;
            let marked = marked(flags);
            if marked.is_empty() && !interface.takes_check {
                continue;
            }
            let mut leaves: Leaves = flags.iter().map(|dims| dims.iter().map(|_| None).collect()).collect();
            let shape = self.module[id].shape.clone();
            if interface.wrapped {
                self.wrap_shape(id, marked.len(), interface.takes_check);
                if interface.takes_check {
                    let so_far = self.element(id, marked.len() + 1)?;
                    self.checks.push(so_far);
                }
                let value = self.element(id, 0)?;
                self.values.insert(id, value);
                self.declared.insert(id, shape);
            }
            for (k, (leaf, d)) in marked.into_iter().enumerate() {
                let size = if interface.wrapped {
                    self.element(id, k + 1)?
                } else {
                    let op = Op::Parameter(ParameterAttrs { number });
                    number += 1;
                    self.add(Shape::scalar(ElementType::S32), op, &[])
                };
                leaves[leaf][d] = Some(size);
            }
            if leaves.iter().any(Self::any) {
                self.sizes.insert(id, leaves);
            }
        }
        Ok(())
    }

    /// Changes an instruction's shape to the tuple of it, of sizes, and of whether they fit.
    fn wrap_shape(&mut self, id: InstrId, sizes: usize, check: bool) {
        let mut parts = vec![padded_shape(&self.module[id].shape)];
        parts.resize(sizes + 1, Shape::scalar(ElementType::S32));
        if check {
            parts.push(Shape::scalar(ElementType::Pred));
        }
        self.module.set_shape(id, Shape::Tuple(parts));
        if let Some(sharding) = self.module[id].common.as_ref().map(|c| c.sharding.is_some())
            && sharding
        {
            self.module.common_mut(id).sharding = None;
        }
    }

    /// The sizes that `flags` asks for.
    fn asked(&mut self, shape: &Shape, leaves: &Leaves, flags: &Flags) -> Result<Vec<InstrId>> {
        let arrays = shape.leaves();
        let mut out = Vec::new();
        for (leaf, d) in marked(flags) {
            let size: Size = leaves.get(leaf).and_then(|sizes| sizes.get(d)).copied().flatten();
            let bound = arrays.get(leaf).and_then(|s| s.as_array()).and_then(|a| a.dims.get(d)).copied();
            out.push(self.known_size(size, bound.unwrap_or(0))?);
        }
        Ok(out)
    }

    /// Makes the root what callers expect.
    fn give_result(&mut self, root: InstrId, interface: &Interface) -> Result<()> {
        let shape = self.declared(root);
        let leaves = self.sizes.get(&root).cloned().unwrap_or_default();
        let mut value = self.value(root);
        let untold = |leaf: usize, d: usize| {
            !interface.result.get(leaf).and_then(|dims| dims.get(d)).copied().unwrap_or(false)
        };
        let hidden: Leaves = leaves
            .iter()
            .enumerate()
            .map(|(leaf, sizes)| {
                sizes.iter().enumerate().map(|(d, s)| s.filter(|_| untold(leaf, d))).collect()
            })
            .collect();
        if hidden.iter().any(Self::any) {
            if !interface.is_entry {
                return Err(self.hidden_size(&shape));
            }
            value = self.zero_beyond(value, &mut hidden.into_iter())?;
        }
        let mut more = self.asked(&shape, &leaves, &interface.result)?;
        if interface.gives_check {
            more.push(self.all_fit());
        }
        if !more.is_empty() {
            let mut parts = vec![value];
            if interface.is_entry && shape.is_tuple() {
                let count = shape.as_tuple().map_or(0, <[Shape]>::len);
                parts = (0..count).map(|k| self.element(value, k)).collect::<Result<_>>()?;
            }
            parts.extend(more);
            value = self.tuple(&parts);
        }
        if value != root {
            self.module.set_root(self.computation, value);
        }
        if interface.is_entry {
            self.update_header(&shape);
        }
        Ok(())
    }

    fn hidden_size(&self, shape: &Shape) -> Diag {
        let name = &self.module[self.computation].name;
        let message = format!(
            "`{name}` gives {shape}, of which a dimension that is declared static has a size known at run time only"
        );
        Diag::error(message)
            .at(self.module.span(self.at), "this is the result")
            .note("declare the dimension dynamic, such as `f32[<=4]`")
    }

    /// The value with zeros beyond the sizes: a result that is declared static is as large as it is declared.
    fn zero_beyond(&mut self, value: InstrId, leaves: &mut impl Iterator<Item = Sizes>) -> Result<InstrId> {
        match self.shape(value) {
            Shape::Tuple(parts) => {
                let mut elements = Vec::with_capacity(parts.len());
                for k in 0..parts.len() {
                    let element = self.element(value, k)?;
                    elements.push(self.zero_beyond(element, leaves)?);
                }
                Ok(self.tuple(&elements))
            }
            Shape::Array(a) => {
                let sizes = leaves.next().unwrap_or_default();
                if !Self::any(&sizes) {
                    return Ok(value);
                }
                let zero = self.zero(a.element_type)?;
                Ok(self.mask(value, &sizes, zero))
            }
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                leaves.next();
                Ok(value)
            }
        }
    }

    /// Brings the header in line with the entry's new parameters and result.
    fn update_header(&mut self, result: &Shape) {
        let root = self.shape(self.module[self.computation].root());
        let more = self.module.parameters(self.computation).len();
        let header = &mut self.module.header;
        if let Some(layout) = &mut header.entry_computation_layout {
            layout.parameters.iter_mut().for_each(|p| *p = padded_shape(p));
            layout.parameters.resize(more, Shape::scalar(ElementType::S32));
            let written = padded_shape(&layout.result);
            layout.result = match (&root, written) {
                (Shape::Tuple(parts), Shape::Tuple(mut of)) => {
                    of.extend(parts.iter().skip(of.len()).cloned());
                    Shape::Tuple(of)
                }
                (Shape::Tuple(parts), one) => {
                    Shape::Tuple(std::iter::once(one).chain(parts.iter().skip(1).cloned()).collect())
                }
                (_, written) => written,
            };
        }
        if !result.is_tuple() && root.is_tuple() {
            header.input_output_alias.iter_mut().for_each(|a| a.output.insert(0, 0));
        }
    }

    /// `call`, `fusion`, `while` and `conditional`: sizes go along.
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
        // What comes with each argument: what the argument has and what any callee declares.
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
        let gives_check = callees.iter().any(|c| self.checked.contains(c));
        let mut after = Vec::new();
        for (k, flags) in arguments.iter().enumerate() {
            let n = first + k;
            let (of, leaves) = (self.operand_shape(n)?, self.leaves(n));
            let mut sizes = self.asked(&of, &leaves, flags)?;
            if is_loop && gives_check {
                sizes.push(self.yes());
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
        for (k, &computation) in callees.iter().enumerate() {
            let parameters = match (wrapped, is_loop) {
                (true, true) => vec![arguments[0].clone()],
                (true, false) => arguments.get(k).cloned().into_iter().collect(),
                (false, _) => arguments.clone(),
            };
            let gives_state = !is_loop || matches!(op, Op::While(w) if w.body == computation);
            let result = if gives_state { result.clone() } else { Flags::new() };
            self.called.push(Interface {
                computation,
                parameters,
                wrapped,
                result,
                takes_check: is_loop && gives_check,
                gives_check: gives_state && gives_check,
                is_entry: false,
            });
        }
        self.module.set_operands(id, operands);
        self.take_results(id, shape, &result, gives_check)
    }

    /// The value and the sizes in what a call gives.
    fn take_results(&mut self, id: InstrId, shape: Shape, flags: &Flags, check: bool) -> Result<Padded> {
        let marked = marked(flags);
        if marked.is_empty() && !check {
            return Ok((id, Vec::new()));
        }
        self.wrap_shape(id, marked.len(), check);
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
