//! Edits that several reductions use.

use hlo_ir::{ComputationId, InstrId, Literal, Module, Op, Shape};
use hlo_passes::{Observer, Pipeline};
use std::collections::{HashMap, HashSet};

/// Adds a value of zeros to a computation: a constant, broadcast unless it is a scalar. Returns `None` if the
/// shape has no such value.
pub fn zeros(module: &mut Module, computation: ComputationId, shape: &Shape) -> Option<InstrId> {
    match shape {
        Shape::Array(array) => {
            let scalar = Shape::scalar(array.element_type);
            let literal = Literal::try_zeros(&scalar)?;
            let op = Op::constant(literal);
            let zero = add(module, computation, "zero", scalar, op, []);
            if array.rank() == 0 {
                return Some(zero);
            }
            Some(add(module, computation, "zeros", shape.clone(), Op::broadcast([]), [zero]))
        }
        Shape::Tuple(parts) => {
            let parts: Option<Vec<InstrId>> =
                parts.iter().map(|part| zeros(module, computation, part)).collect();
            Some(add(module, computation, "tuple", shape.clone(), Op::Tuple, parts?))
        }
        Shape::Token => Some(add(module, computation, "token", Shape::Token, Op::AfterAll, [])),
        Shape::Opaque | Shape::Buffer(_) => None,
    }
}

/// Adds an instruction with a unique name.
pub fn add(
    module: &mut Module,
    computation: ComputationId,
    base: &str,
    shape: Shape,
    op: Op,
    operands: impl IntoIterator<Item = InstrId>,
) -> InstrId {
    let name = module.unique_name(base);
    module.add(computation, &name, shape, op, operands)
}

/// Adds a last parameter to a computation.
pub fn add_parameter(module: &mut Module, computation: ComputationId, shape: &Shape) -> InstrId {
    let number = module.parameters(computation).len() as i64;
    add(module, computation, "p", shape.clone(), Op::parameter(number), [])
}

/// Removes unused parameters from a computation and renumbers the others.
pub fn remove_parameters(module: &mut Module, computation: ComputationId, gone: &[InstrId]) {
    module.remove_all(gone);
    for (number, id) in module.parameters(computation).into_iter().enumerate() {
        module.set_op(id, Op::parameter(number as i64));
    }
}

/// Removes the instructions that are only used by each other. Roots and instructions with other uses stay.
pub fn remove_unused(module: &mut Module, ids: &[InstrId]) {
    let mut gone: HashSet<InstrId> = ids.iter().copied().filter(|&i| module.is_live(i)).collect();
    // A user that stays keeps its operands. In the end, all users of removed instructions are removed too.
    let mut kept: Vec<InstrId> = gone
        .iter()
        .copied()
        .filter(|&i| module.is_root(i) || module.users(i).iter().any(|u| !gone.contains(u)))
        .collect();
    while let Some(i) = kept.pop() {
        if gone.remove(&i) {
            kept.extend(module[i].operands.iter().copied().filter(|o| gone.contains(o)));
        }
    }
    let list: Vec<InstrId> = ids.iter().copied().filter(|i| gone.remove(i)).collect();
    module.remove_all(&list);
}

/// Returns element `index` of a tuple: the operand that it was created from, or a new `get-tuple-element`.
pub fn element(module: &mut Module, tuple: InstrId, index: usize) -> Option<InstrId> {
    if let Op::Tuple = module[tuple].op {
        return module[tuple].operands.get(index).copied();
    }
    let shape = module[tuple].shape.as_tuple()?.get(index)?.clone();
    let op = Op::get_tuple_element(index as i64);
    Some(add(module, module[tuple].parent, "element", shape, op, [tuple]))
}

/// Adds a tuple of some elements of another tuple to the same computation.
pub fn part_of(module: &mut Module, tuple: InstrId, kept: &[usize]) -> Option<InstrId> {
    let elements: Option<Vec<InstrId>> = kept.iter().map(|&n| element(module, tuple, n)).collect();
    let elements = elements?;
    let shape = Shape::Tuple(elements.iter().map(|&e| module[e].shape.clone()).collect());
    Some(add(module, module[tuple].parent, "tuple", shape, Op::Tuple, elements))
}

/// Whether each computation that an instruction calls has no other call.
pub fn owns_callees(module: &Module, callers: &HashMap<ComputationId, Vec<InstrId>>, id: InstrId) -> bool {
    let callees = module[id].op.called_computations();
    let distinct: HashSet<ComputationId> = callees.iter().copied().collect();
    let alone = |c: &ComputationId| callers.get(c).is_some_and(|users| users.as_slice() == [id]);
    !callees.is_empty() && distinct.len() == callees.len() && callees.iter().all(alone)
}

/// Runs passes without observing them. Ignores their errors.
pub fn run_passes(module: &mut Module, passes: &str) {
    struct Quiet;
    impl Observer for Quiet {
        fn verify_each(&self) -> bool {
            false
        }

        fn verify_first(&self) -> bool {
            false
        }
    }
    if let Ok(pipeline) = Pipeline::parse(passes) {
        let _ = pipeline.run(module, &mut Quiet);
    }
}

/// Removes unused instructions, and restores a valid schedule.
pub fn clean_up(module: &mut Module) {
    let scheduled = std::mem::take(&mut module.header.is_scheduled);
    run_passes(module, "dce");
    if scheduled {
        for c in module.computations().collect::<Vec<_>>() {
            let order = module.post_order(c);
            module.set_order(c, order);
        }
        module.header.is_scheduled = true;
    }
}
