//! Copies instructions and computations.

use super::layouts::relaid;
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

/// Appends a copy of an instruction, with new operands, to `to`. The copy has the same metadata and other
/// common attributes, but no control predecessors. Both instructions call the same computations.
pub fn clone_instruction(
    module: &mut Module,
    id: InstrId,
    to: ComputationId,
    name: &str,
    operands: impl IntoIterator<Item = InstrId>,
) -> InstrId {
    let (shape, op, common) = (module[id].shape.clone(), module[id].op.clone(), module[id].common.clone());
    let copy = module.add(to, name, shape, op, operands);
    if let Some(mut common) = common {
        common.control_predecessors.clear();
        *module.common_mut(copy) = *common;
    }
    module.set_span(copy, module.span(id));
    copy
}

/// Copies the instructions of `from` into `to` and returns the copy of the root. `arguments`, in the order of
/// parameter numbers, replace the parameters. Computations that may have only one caller, such as fused
/// computations, are copied too. If there are fewer arguments than parameters, returns `None` and copies
/// nothing.
pub(crate) fn inline_computation(
    module: &mut Module,
    namer: &mut ComputationNamer,
    from: ComputationId,
    to: ComputationId,
    arguments: &[InstrId],
) -> Option<InstrId> {
    let order = module.post_order(from);
    let mut given = Vec::with_capacity(arguments.len());
    for &i in &order {
        if let Op::Parameter(p) = &module[i].op {
            given.push((i, *usize::try_from(p.number).ok().and_then(|n| arguments.get(n))?));
        }
    }
    let mut copies: HashMap<InstrId, InstrId> = HashMap::with_capacity(order.len());
    for (parameter, argument) in given {
        // The body may depend on the layout, as a bitcast does.
        let shape = module[parameter].shape.clone();
        copies.insert(parameter, relaid(module, argument, &shape));
    }
    copy_all(module, &order, to, &mut copies);
    let owners =
        order.iter().filter_map(|i| copies.get(i)).copied().filter(|&i| owns(&module[i].op)).collect();
    clone_owned(module, namer, owners);
    copies.get(&module[from].root()).copied()
}

/// Calls `inline_computation` in the computation of `site`, and converts the result to the layouts of
/// `site`, so that it can replace `site`. Does not change `site`.
pub fn inline_at(
    module: &mut Module,
    namer: &mut ComputationNamer,
    site: InstrId,
    from: ComputationId,
    arguments: &[InstrId],
) -> Option<InstrId> {
    let (parent, shape) = (module[site].parent, module[site].shape.clone());
    let value = inline_computation(module, namer, from, parent, arguments)?;
    Some(relaid(module, value, &shape))
}

/// Copies the computations that `owners` call, so that each owner has its own. Every owner must own its
/// computations. Returns the copies.
fn clone_owned(
    module: &mut Module,
    namer: &mut ComputationNamer,
    mut owners: Vec<InstrId>,
) -> Vec<ComputationId> {
    let mut copies = Vec::new();
    while let Some(owner) = owners.pop() {
        for (n, callee) in module[owner].op.called_computations().into_iter().enumerate() {
            let name = namer.fresh(&format!("{}.clone", module[callee].name));
            let copy = clone_computation(module, callee, &name);
            set_callee(module.op_mut(owner), n, copy);
            owners.extend(module[copy].instructions().iter().copied().filter(|&i| owns(&module[i].op)));
            copies.push(copy);
        }
    }
    copies
}

/// Copies a whole computation and, inside it, the computations that may have only one caller. Returns the
/// copies, that of `from` first.
pub(crate) fn clone_with_owned(
    module: &mut Module,
    namer: &mut ComputationNamer,
    from: ComputationId,
) -> Vec<ComputationId> {
    let name = namer.fresh(&format!("{}.clone", module[from].name));
    let copy = clone_computation(module, from, &name);
    let owners = module[copy].instructions().iter().copied().filter(|&i| owns(&module[i].op)).collect();
    let mut copies = vec![copy];
    copies.extend(clone_owned(module, namer, owners));
    copies
}

/// Returns whether only this operation may call its computation.
fn owns(op: &Op) -> bool {
    matches!(op, Op::Fusion(_) | Op::AsyncStart(_))
}

/// Returns the number of instructions that [`inline_computation`] copies.
pub(crate) fn inlined_size(module: &Module, from: ComputationId) -> u64 {
    let (mut size, mut work) = (0u64, vec![from]);
    while let Some(c) = work.pop() {
        size = size.saturating_add(module[c].instructions().len() as u64);
        let owners = module[c].instructions().iter().filter(|&&i| owns(&module[i].op));
        work.extend(owners.flat_map(|&i| module[i].op.called_computations()));
    }
    size
}

/// Replaces the `n`-th computation that the operation calls.
pub fn set_callee(op: &mut Op, n: usize, with: ComputationId) {
    let mut at = 0;
    if let Some(attrs) = op.attrs_mut() {
        attrs.for_each_computation_mut(&mut |c| {
            if at == n {
                *c = with;
            }
            at += 1;
        });
    }
}

/// Copies a whole computation. The copy calls the same computations.
pub(crate) fn clone_computation(module: &mut Module, from: ComputationId, name: &str) -> ComputationId {
    let to = module.add_computation(name);
    module[to].execution_thread = module[from].execution_thread.clone();
    let order = module.post_order(from);
    let mut copies = HashMap::with_capacity(order.len());
    copy_all(module, &order, to, &mut copies);
    if let Some(&root) = copies.get(&module[from].root()) {
        module.set_root(to, root);
    }
    to
}

/// Copies the instructions of `order` that `copies` does not contain, and maps their operands and control
/// predecessors.
fn copy_all(
    module: &mut Module,
    order: &[InstrId],
    to: ComputationId,
    copies: &mut HashMap<InstrId, InstrId>,
) {
    let mut made = Vec::with_capacity(order.len());
    for &i in order {
        if copies.contains_key(&i) {
            continue;
        }
        let base = module[i].name.clone();
        let name = module.unique_name(&base);
        let operands: Vec<InstrId> =
            module[i].operands.iter().map(|o| copies.get(o).copied().unwrap_or(*o)).collect();
        let copy = clone_instruction(module, i, to, &name, operands);
        copies.insert(i, copy);
        made.push((i, copy));
    }
    for (i, copy) in made {
        let control = module[i].common.iter().flat_map(|c| &c.control_predecessors);
        let mapped: Vec<InstrId> = control.filter_map(|p| copies.get(p)).copied().collect();
        if !mapped.is_empty() {
            module.common_mut(copy).control_predecessors = mapped;
        }
    }
}
