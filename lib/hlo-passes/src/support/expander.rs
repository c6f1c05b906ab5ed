//! The framework for passes that expand one instruction into several.

use super::clone::clone_with_owned;
use super::combiner::Combiners;
use super::constants;
use super::places::Places;
use super::rewrite::same_layout;
use crate::pass::Pass;
use crate::rewrites::Rewrites;
use hlo_ir::attr::{DimensionAttrs, ReduceAttrs};
use hlo_ir::build::{Build, ComputationNamer};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Module, Op, Shape};
use std::collections::{HashMap, HashSet};

/// A function that emits the replacement of an instruction, or returns `None`.
pub type Expand = fn(&mut Emitter<'_>, InstrId) -> Option<InstrId>;

/// The computations that expansions add to a module.
pub struct Functions {
    /// Names the computations.
    pub namer: ComputationNamer,
    combiners: Combiners,
    /// All computations that were added, in order.
    made: Vec<ComputationId>,
}

impl Functions {
    /// Creates an empty list for a module.
    pub fn new(module: &Module) -> Self {
        Self { namer: ComputationNamer::new(module), combiners: Combiners::default(), made: Vec::new() }
    }
}

/// Emits the instructions that replace one instruction. The shapes record which dimensions are dynamic: an
/// emitted instruction is dynamic where its operands are.
pub struct Emitter<'m> {
    /// The module.
    pub module: &'m mut Module,
    functions: &'m mut Functions,
    /// The instruction to replace.
    at: InstrId,
    /// The computation to which instructions are added.
    to: ComputationId,
}

impl<'m> Emitter<'m> {
    /// Returns an emitter for the replacement of `at`.
    pub fn new(module: &'m mut Module, functions: &'m mut Functions, at: InstrId) -> Self {
        let to = module[at].parent;
        Self { module, functions, at, to }
    }

    /// Returns the shape of the instruction to replace.
    pub fn shape(&self) -> Shape {
        self.module[self.at].shape.clone()
    }

    /// Returns an operand of the instruction to replace.
    pub fn operand(&self, index: usize) -> Option<InstrId> {
        self.module[self.at].operands.get(index).copied()
    }

    /// Returns the shape of an array.
    pub fn array(&self, id: InstrId) -> Option<ArrayShape> {
        self.module[id].shape.as_array().cloned()
    }

    /// Adds an instruction with the given shape.
    pub fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        self.module.add_like_in(self.to, self.at, shape, op, operands.iter().copied())
    }

    /// Adds an instruction with the shape of its first operand. A dimension is dynamic if it is dynamic in
    /// any operand.
    pub fn same(&mut self, op: Op, operands: &[InstrId]) -> InstrId {
        let shape = operands.first().map_or(Shape::Token, |&o| self.module[o].shape.clone());
        match shape.as_array() {
            Some(a) => self.elementwise(a.element_type, op, operands),
            None => self.add(shape, op, operands),
        }
    }

    /// Adds an elementwise instruction with the dimensions of its non-scalar operands. A dimension is dynamic
    /// if it is dynamic in any of them.
    pub fn elementwise(&mut self, ty: ElementType, op: Op, operands: &[InstrId]) -> InstrId {
        let arrays: Vec<&ArrayShape> =
            operands.iter().filter_map(|&o| self.module[o].shape.as_array()).collect();
        let rank = arrays.iter().map(|a| a.rank()).max().unwrap_or(0);
        let mut whole = arrays.into_iter().filter(|a| a.rank() == rank);
        let first = whole.next().cloned().unwrap_or_else(|| ArrayShape::new(ty, []));
        let shape = whole.fold(first, |shape, a| {
            let dynamic = (0..rank).map(|d| shape.is_dynamic_dim(d) || a.is_dynamic_dim(d));
            shape.clone().with_dynamic(dynamic)
        });
        self.add(shape.with_element_type(ty), op, operands)
    }

    /// Emits the size of a dimension of an array.
    pub fn size(&mut self, value: InstrId, d: usize) -> InstrId {
        let attrs = DimensionAttrs { dimensions: [d as i64].into_iter().collect() };
        self.add(Shape::scalar(ElementType::S32), Op::GetDimensionSize(attrs), &[value])
    }

    /// Emits the array with another size in a dimension, up to its bound.
    pub fn set_size(&mut self, value: InstrId, d: usize, size: InstrId) -> Option<InstrId> {
        let shape = self.array(value)?;
        let dynamic: Vec<bool> = (0..shape.rank()).map(|k| k == d || shape.is_dynamic_dim(k)).collect();
        let attrs = DimensionAttrs { dimensions: [d as i64].into_iter().collect() };
        Some(self.add(shape.with_dynamic(dynamic), Op::SetDimensionSize(attrs), &[value, size]))
    }

    /// Emits the product of the sizes of some dimensions as a scalar of type `ty`.
    pub fn count(&mut self, value: InstrId, dimensions: &[i64], ty: ElementType) -> Option<InstrId> {
        let shape = self.array(value)?;
        let (mut known, mut sizes) = (1.0, Vec::new());
        for &d in dimensions {
            let size = usize::try_from(d).ok()?;
            if shape.is_dynamic_dim(size) {
                sizes.push(self.size(value, size));
            } else {
                known *= *shape.dims.get(size)? as f64;
            }
        }
        let wide = ElementType::F64;
        if sizes.is_empty() && ty != wide {
            return self.scalar(ty, &constants::float_bytes(ty, f64::from(known as f32))?);
        }
        let mut product = self.scalar(wide, &known.to_le_bytes())?;
        for size in sizes {
            let size = self.convert(size, wide)?;
            product = self.same(Op::Multiply, &[product, size]);
        }
        self.convert(product, ty)
    }

    /// Converts `value` to another element type. Returns it unchanged if it already has that type.
    pub fn convert(&mut self, value: InstrId, ty: ElementType) -> Option<InstrId> {
        let shape = self.array(value)?;
        if shape.element_type == ty {
            return Some(value);
        }
        Some(self.add(shape.with_element_type(ty), Op::Convert, &[value]))
    }

    /// Converts `value` to the element type and layout of a shape.
    pub fn finish(&mut self, value: InstrId, shape: &Shape) -> Option<InstrId> {
        let from = self.array(value)?.element_type;
        let to = shape.as_array()?.element_type;
        Some(if from != to {
            self.add(shape.clone(), Op::Convert, &[value])
        } else if !same_layout(&self.module[value].shape, shape) {
            self.add(shape.clone(), Op::Copy, &[value])
        } else {
            value
        })
    }

    /// Emits the sums of an array over some dimensions, or the disjunctions if the elements are predicates.
    pub fn sum(&mut self, value: InstrId, dimensions: &[i64]) -> Option<InstrId> {
        let shape = self.array(value)?;
        let ty = shape.element_type;
        let to_apply = self.combiner(&if ty.is_pred() { Op::Or } else { Op::Add }, ty);
        let zero = self.zero(ty)?;
        let kept: Vec<usize> = (0..shape.rank()).filter(|&d| !dimensions.contains(&(d as i64))).collect();
        let result = ArrayShape::new(ty, kept.iter().map(|&d| shape.dims[d]));
        let result = result.with_dynamic(kept.iter().map(|&d| shape.is_dynamic_dim(d)));
        let attrs = ReduceAttrs { dimensions: dimensions.iter().copied().collect(), to_apply };
        Some(self.add(result, Op::Reduce(attrs), &[value, zero]))
    }

    /// Returns a computation that applies a binary operation to two scalars.
    pub fn combiner(&mut self, op: &Op, ty: ElementType) -> ComputationId {
        let Functions { namer, combiners, made } = &mut *self.functions;
        let before = combiners.count();
        let combiner = combiners.get(self.module, namer, op, ty, self.to);
        if combiners.count() > before {
            made.push(combiner);
        }
        combiner
    }

    /// Adds a parameter to the computation that is being built.
    pub fn parameter(&mut self, number: usize, shape: Shape) -> InstrId {
        self.add(shape, Op::parameter(number as i64), &[])
    }

    /// Copies a computation, so that it can be modified.
    pub fn copy_of(&mut self, computation: ComputationId) -> ComputationId {
        let copies = clone_with_owned(self.module, &mut self.functions.namer, computation);
        self.functions.made.extend(copies.iter().rev());
        copies[0]
    }

    /// Adds a computation on the thread of its caller. `fill` emits its instructions and returns the root.
    pub fn computation(
        &mut self,
        base: &str,
        fill: impl FnOnce(&mut Self) -> Option<InstrId>,
    ) -> Option<ComputationId> {
        let name = self.functions.namer.fresh(base);
        let id = self.module.add_computation(&name);
        self.module[id].execution_thread = self.module[self.to].execution_thread.clone();
        let before = std::mem::replace(&mut self.to, id);
        let root = fill(self);
        self.to = before;
        match root {
            Some(root) => {
                self.module.set_root(id, root);
                self.functions.made.push(id);
            }
            None => self.module.remove_computation(id),
        }
        root.map(|_| id)
    }
}

impl Build for Emitter<'_> {
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        Emitter::add(self, shape, op, operands)
    }

    fn shape_of(&self, id: InstrId) -> Shape {
        self.module[id].shape.clone()
    }
}

/// Emits the replacement of `id`, which inherits the control predecessors of `id`. If `expand` returns
/// `None`, the module does not change.
pub(crate) fn expand_one(
    module: &mut Module,
    functions: &mut Functions,
    id: InstrId,
    expand: impl FnOnce(&mut Emitter<'_>, InstrId) -> Option<InstrId>,
) -> Option<InstrId> {
    let (first_new, first_function) = (module.instruction_capacity(), functions.made.len());
    let Some(value) = expand(&mut Emitter::new(module, functions, id), id) else {
        undo(module, functions, module[id].parent, first_new, first_function);
        return None;
    };
    let control = module[id].common.as_deref().map_or(Vec::new(), |c| c.control_predecessors.clone());
    if !control.is_empty() {
        for i in added_since(module, module[id].parent, first_new) {
            module.common_mut(i).control_predecessors = control.clone();
        }
    }
    Some(value)
}

/// Removes the instructions and computations, from these numbers on, that a failed expansion added.
fn undo(
    module: &mut Module,
    functions: &mut Functions,
    computation: ComputationId,
    first_new: usize,
    first_function: usize,
) {
    let added = added_since(module, computation, first_new);
    if !added.is_empty() {
        module.remove_all(&added);
    }
    // Callers were added after the computations that they call.
    for c in functions.made.split_off(first_function).into_iter().rev() {
        functions.combiners.forget(c);
        module.remove_computation(c);
    }
}

/// Returns the instructions of a computation with numbers from `first` on, in the order in which they were
/// added.
pub fn added_since(module: &Module, computation: ComputationId, first: usize) -> Vec<InstrId> {
    let all = module[computation].instructions();
    let count = all.iter().rev().take_while(|i| i.index() >= first).count();
    all[all.len() - count..].to_vec()
}

/// Returns a pass that replaces each instruction that `wanted` selects with the result of `expand`. `name` is
/// the name of its rewrites.
pub fn expansion_pass(name: &'static str, wanted: fn(&Op) -> bool, expand: Expand) -> Box<dyn Pass> {
    Box::new(move |module: &mut Module, rewrites: &mut Rewrites| -> Result<bool, Diag> {
        Ok(expand_all(module, name, wanted, expand, rewrites))
    })
}

/// Replaces each instruction that `wanted` selects with the result of `expand`, and moves its control
/// dependencies. An instruction for which `expand` returns `None` stays. Returns whether the module changed.
/// `name` is the name of the rewrites.
pub fn expand_all(
    module: &mut Module,
    name: &'static str,
    wanted: impl Fn(&Op) -> bool,
    mut expand: impl FnMut(&mut Emitter<'_>, InstrId) -> Option<InstrId>,
    rewrites: &mut Rewrites,
) -> bool {
    let found: Vec<InstrId> = module
        .computations_post_order()
        .into_iter()
        .flat_map(|c| module.post_order(c))
        .filter(|&i| wanted(&module[i].op))
        .collect();
    if found.is_empty() {
        return false;
    }
    let mut functions = Functions::new(module);
    let mut replaced: HashMap<InstrId, InstrId> = HashMap::new();
    let mut places = Places::default();
    for &id in &found {
        if !rewrites.allowed() {
            break;
        }
        let new = module.instruction_capacity();
        let Some(value) = expand_one(module, &mut functions, id, &mut expand) else { continue };
        rewrites.made(name, &module[id].name);
        places.note(module, new, id);
        // A value that existed before has annotations of its own.
        if value.index() >= new {
            module.copy_annotations(id, value);
        }
        module.replace_all_uses_with(id, value);
        replaced.insert(id, value);
    }
    rename_control_predecessors(module, &replaced);
    let gone: Vec<InstrId> = found.into_iter().filter(|i| replaced.contains_key(i)).collect();
    let mut computations: Vec<ComputationId> = gone.iter().map(|&i| module[i].parent).collect();
    computations.dedup();
    for c in computations {
        places.arrange(module, c);
    }
    module.remove_all(&gone);
    !gone.is_empty()
}

/// Replaces control predecessors according to `replaced`.
pub fn rename_control_predecessors(module: &mut Module, replaced: &HashMap<InstrId, InstrId>) {
    for c in module.computations().collect::<Vec<_>>() {
        for i in module[c].instructions().to_vec() {
            let waits = |p: &InstrId| replaced.contains_key(p);
            let named = module[i].common.as_deref().is_some_and(|c| c.control_predecessors.iter().any(waits));
            if named {
                let list = &mut module.common_mut(i).control_predecessors;
                let renamed =
                    std::mem::take(list).into_iter().map(|p| replaced.get(&p).copied().unwrap_or(p));
                let mut seen = HashSet::from([i]);
                list.extend(renamed.filter(|p| seen.insert(*p)));
            }
        }
    }
}
