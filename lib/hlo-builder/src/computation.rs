//! Computations that instructions call, and copying them into the module of the caller.

use crate::{Builder, Value};
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::verify::verify;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::sync::Arc;

/// A finished computation that instructions of other computations can call: the entry of a module. Cloning is
/// cheap.
///
/// If the computation could not be built, it contains its errors, and the builder of the caller reports them.
///
/// # Example
/// ```
/// use hlo_builder::{Builder, Computation};
/// use hlo_ir::{ElementType, Shape};
///
/// let scalar = Shape::scalar(ElementType::F32);
/// let larger = Computation::of("larger", &[scalar.clone(), scalar], |_, p| p[0].max(p[1]));
///
/// let b = Builder::new("largest_of_rows");
/// let x = b.parameter(0, Shape::array(ElementType::F32, [2, 3]), "x");
/// let largest = x.reduce(f32::NEG_INFINITY, &larger, &[1]);
/// assert_eq!(largest.shape()?, Shape::array(ElementType::F32, [2]));
/// let module = b.build()?;
/// # Ok::<(), hlo_builder::BuildErrors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Computation(pub(crate) Result<Arc<Module>, Vec<Diag>>);

impl Computation {
    /// Builds a computation called `name` with parameters of the given shapes. `fill` receives the parameters
    /// and returns the result.
    #[track_caller]
    pub fn of(
        name: &str,
        parameters: &[Shape],
        fill: impl for<'b> FnOnce(&'b Builder, &[Value<'b>]) -> Value<'b>,
    ) -> Self {
        let at = Location::caller();
        let builder = Builder::new(name);
        let values: Vec<Value<'_>> = parameters
            .iter()
            .enumerate()
            .map(|(n, shape)| builder.parameter_at(n as i64, shape.clone(), &format!("p{n}"), at))
            .collect();
        let result = fill(&builder, &values);
        builder.set_return_value(result);
        builder.computation()
    }

    /// Builds a computation that applies a binary elementwise operation to two scalars of a type.
    #[track_caller]
    pub fn scalar(op: Op, element_type: ElementType) -> Self {
        let builder = Builder::new(op.opcode().name());
        let first = builder.parameter(0, Shape::scalar(element_type), "p0");
        let second = builder.parameter(1, Shape::scalar(element_type), "p1");
        // Not in a closure: instructions added in a closure record a line of this file.
        let result = first.binary(op, second);
        builder.set_return_value(result);
        builder.computation()
    }
}

impl Computation {
    /// Returns a computation of a module, including the computations that it calls.
    pub fn part_of(module: &Module, computation: ComputationId) -> Self {
        let errors = verify(module);
        if !errors.is_empty() {
            return Self(Err(errors));
        }
        let mut part = Module::new(&module.name);
        let mut namer = ComputationNamer::new(&part);
        let entry = import(&mut part, &mut namer, module, computation);
        part.set_entry(entry);
        Self(Ok(Arc::new(part)))
    }
}

impl From<Module> for Computation {
    /// Returns the entry of a module.
    fn from(module: Module) -> Self {
        let errors = verify(&module);
        Self(if errors.is_empty() { Ok(Arc::new(module)) } else { Err(errors) })
    }
}

/// Copies a computation of a module, and the computations that it calls, into another module. Renames them
/// where a name is already in use.
pub(crate) fn import(
    into: &mut Module,
    namer: &mut ComputationNamer,
    from: &Module,
    computation: ComputationId,
) -> ComputationId {
    let copies = import_all(into, namer, from, vec![computation]);
    copies[&computation]
}

/// Copies several computations of a module, and the computations that they call, into another module. Returns
/// the copy of each.
fn import_all(
    into: &mut Module,
    namer: &mut ComputationNamer,
    from: &Module,
    mut work: Vec<ComputationId>,
) -> HashMap<ComputationId, ComputationId> {
    let mut needed: HashSet<ComputationId> = work.iter().copied().collect();
    while let Some(c) = work.pop() {
        let callees = from[c].instructions().iter().flat_map(|&i| from[i].op.called_computations());
        work.extend(callees.filter(|&callee| needed.insert(callee)));
    }
    let mut copies = HashMap::new();
    for c in from.computations_post_order().into_iter().filter(|c| needed.contains(c)) {
        let copy = copied(into, namer, from, (c, &from.post_order(c), from[c].root()), &copies);
        copies.insert(c, copy);
    }
    copies
}

/// Returns a module whose entry computes the value of one instruction. It contains only the instructions that
/// the value depends on, so it has no parameters if the value depends on none.
pub(crate) fn extract_value(from: &Module, id: InstrId) -> Module {
    let (mut needed, mut work) = (HashSet::from([id]), vec![id]);
    while let Some(at) = work.pop() {
        work.extend(from[at].operands.iter().copied().filter(|&o| needed.insert(o)));
    }
    let mut module = Module::new(&from.name);
    let mut namer = ComputationNamer::new(&module);
    let called = needed.iter().flat_map(|&i| from[i].op.called_computations()).collect();
    let copies = import_all(&mut module, &mut namer, from, called);
    let c = from[id].parent;
    // Instructions are in the order in which they were added, so operands come before users.
    let order: Vec<InstrId> = from[c].instructions().iter().copied().filter(|i| needed.contains(i)).collect();
    let entry = copied(&mut module, &mut namer, from, (c, &order, id), &copies);
    module.set_entry(entry);
    module
}

/// Copies the instructions in `order`, operands first, into a new computation. `root` is one of them.
fn copied(
    into: &mut Module,
    namer: &mut ComputationNamer,
    from: &Module,
    (c, order, root): (ComputationId, &[InstrId], InstrId),
    computations: &HashMap<ComputationId, ComputationId>,
) -> ComputationId {
    let to = into.add_computation(&namer.fresh(&from[c].name));
    into[to].execution_thread = from[c].execution_thread.clone();
    let mut copies: HashMap<InstrId, InstrId> = HashMap::new();
    for &i in order {
        let instruction = &from[i];
        let mut op = instruction.op.clone();
        if let Some(attrs) = op.attrs_mut() {
            attrs.for_each_computation_mut(&mut |callee| *callee = computations[callee]);
        }
        let name = into.unique_name(&instruction.name);
        let operands: Vec<InstrId> = instruction.operands.iter().map(|o| copies[o]).collect();
        let copy = into.add(to, &name, instruction.shape.clone(), op, operands);
        if let Some(common) = &instruction.common {
            let mut common = (**common).clone();
            // Keep only the control predecessors that are copied.
            common.control_predecessors =
                common.control_predecessors.iter().filter_map(|p| copies.get(p).copied()).collect();
            // A stack frame id refers to the other module's table.
            common.metadata.stack_frame_id = 0;
            *into.common_mut(copy) = common;
        }
        copies.insert(i, copy);
    }
    into.set_root(to, copies[&root]);
    to
}
