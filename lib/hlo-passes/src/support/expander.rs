//! What passes share that put several instructions in place of one.

use super::clone::ComputationNamer;
use super::constants;
use super::rewrite::{broadcast_op, same_layout};
use hlo_ir::attr::{GetTupleElementAttrs, ParameterAttrs, ReduceAttrs};
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Literal, Module, Op, Shape};
use std::collections::HashMap;

/// Makes the instructions that stand in place of one.
pub(crate) struct Emitter<'m> {
    pub(crate) module: &'m mut Module,
    namer: ComputationNamer,
    /// The computations that add two scalars, by type.
    adders: HashMap<ElementType, ComputationId>,
    /// The instruction that is replaced.
    at: InstrId,
    /// Where instructions are added.
    to: ComputationId,
}

impl Emitter<'_> {
    /// The shape of the instruction that is replaced.
    pub(crate) fn shape(&self) -> Shape {
        self.module[self.at].shape.clone()
    }

    /// Its operand of that number.
    pub(crate) fn operand(&self, index: usize) -> Option<InstrId> {
        self.module[self.at].operands.get(index).copied()
    }

    /// The array shape of a static array.
    pub(crate) fn array(&self, id: InstrId) -> Option<ArrayShape> {
        self.module[id].shape.as_array().filter(|a| a.is_static()).cloned()
    }

    /// Adds an instruction.
    pub(crate) fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        let base = self.module[self.at].name.clone();
        let name = self.module.unique_name(&base);
        let id = self.module.add(self.to, &name, shape.into(), op, operands.iter().copied());
        self.module.copy_provenance(self.at, id);
        id
    }

    /// Adds an instruction of the shape of its first operand.
    pub(crate) fn same(&mut self, op: Op, operands: &[InstrId]) -> InstrId {
        let shape = operands.first().map_or(Shape::Token, |&o| self.module[o].shape.clone());
        self.add(shape, op, operands)
    }

    /// A scalar constant of the given bytes.
    pub(crate) fn scalar(&mut self, ty: ElementType, bytes: &[u8]) -> Option<InstrId> {
        let literal = constants::scalar_literal(ty, bytes)?;
        Some(self.add(Shape::scalar(ty), constants::constant_op(literal), &[]))
    }

    /// A scalar constant of all zero bits.
    pub(crate) fn zero(&mut self, ty: ElementType) -> Option<InstrId> {
        let literal = Literal::try_zeros(&Shape::scalar(ty))?;
        Some(self.add(Shape::scalar(ty), constants::constant_op(literal), &[]))
    }

    /// `value` in an array of the given shape, its dimensions along `dimensions`.
    pub(crate) fn broadcast(&mut self, value: InstrId, shape: &ArrayShape, dimensions: &[i64]) -> InstrId {
        self.add(shape.clone(), broadcast_op(dimensions.iter().copied()), &[value])
    }

    /// `value` with elements of another type; itself if it has them.
    pub(crate) fn convert(&mut self, value: InstrId, ty: ElementType) -> Option<InstrId> {
        let shape = self.array(value)?;
        if shape.element_type == ty {
            return Some(value);
        }
        Some(self.add(shape.with_element_type(ty), Op::Convert, &[value]))
    }

    /// `value` as a value of the given shape: of its element type and in its layout.
    pub(crate) fn finish(&mut self, value: InstrId, shape: &Shape) -> Option<InstrId> {
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

    /// An element of a tuple.
    pub(crate) fn element(&mut self, tuple: InstrId, index: usize) -> Option<InstrId> {
        let shape = self.module[tuple].shape.as_tuple()?.get(index)?.clone();
        let op = Op::GetTupleElement(GetTupleElementAttrs { index: index as i64 });
        Some(self.add(shape, op, &[tuple]))
    }

    /// The tuple of some values.
    pub(crate) fn tuple(&mut self, values: &[InstrId]) -> InstrId {
        let shape = Shape::Tuple(values.iter().map(|&v| self.module[v].shape.clone()).collect());
        self.add(shape, Op::Tuple, values)
    }

    /// The sums of an array over some dimensions.
    pub(crate) fn sum(&mut self, value: InstrId, dimensions: &[i64]) -> Option<InstrId> {
        let shape = self.array(value)?;
        let ty = shape.element_type;
        let to_apply = match self.adders.get(&ty) {
            Some(&known) => known,
            None => {
                let adder = self.computation("add", |e| {
                    let parameters = [0, 1].map(|n| e.parameter(n, Shape::scalar(ty)));
                    Some(e.same(Op::Add, &parameters))
                })?;
                self.adders.insert(ty, adder);
                adder
            }
        };
        let zero = self.zero(ty)?;
        let kept = (0..shape.rank()).filter(|&d| !dimensions.contains(&(d as i64))).map(|d| shape.dims[d]);
        let result = ArrayShape::new(ty, kept);
        let attrs = ReduceAttrs { dimensions: dimensions.iter().copied().collect(), to_apply };
        Some(self.add(result, Op::Reduce(attrs), &[value, zero]))
    }

    /// A parameter of the computation that is being made.
    pub(crate) fn parameter(&mut self, number: usize, shape: Shape) -> InstrId {
        self.add(shape, Op::Parameter(ParameterAttrs { number: number as i64 }), &[])
    }

    /// A new computation that `fill` makes; it returns the root.
    pub(crate) fn computation(
        &mut self,
        base: &str,
        fill: impl FnOnce(&mut Self) -> Option<InstrId>,
    ) -> Option<ComputationId> {
        let name = self.namer.fresh(base);
        let id = self.module.add_computation(&name);
        let before = std::mem::replace(&mut self.to, id);
        let root = fill(self);
        self.to = before;
        match root {
            Some(root) => self.module.set_root(id, root),
            None => self.module.remove_computation(id),
        }
        root.map(|_| id)
    }
}

/// Puts what `expand` makes in place of each instruction that `wanted` names, control dependencies included; where it
/// makes nothing the instruction stays. Returns whether anything changed.
pub(crate) fn expand_all(
    module: &mut Module,
    wanted: impl Fn(&Op) -> bool,
    mut expand: impl FnMut(&mut Emitter<'_>, InstrId) -> Option<InstrId>,
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
    let (at, to) = (found[0], module[found[0]].parent);
    let namer = ComputationNamer::new(module);
    let mut e = Emitter { module, namer, adders: HashMap::new(), at, to };
    let mut replaced: HashMap<InstrId, InstrId> = HashMap::new();
    for &id in &found {
        (e.at, e.to) = (id, e.module[id].parent);
        let first_new = e.module.instruction_capacity();
        let Some(value) = expand(&mut e, id) else { continue };
        let control = e.module[id].common.as_deref().map_or(Vec::new(), |c| c.control_predecessors.clone());
        if !control.is_empty() {
            let here = e.module[id].parent;
            let new: Vec<InstrId> = e.module[here].instructions().to_vec();
            for i in new.into_iter().filter(|i| i.index() >= first_new) {
                e.module.common_mut(i).control_predecessors = control.clone();
            }
        }
        e.module.replace_all_uses_with(id, value);
        replaced.insert(id, value);
    }
    rename_control_predecessors(module, &replaced);
    let gone: Vec<InstrId> = found.into_iter().filter(|i| replaced.contains_key(i)).collect();
    module.remove_all(&gone);
    !gone.is_empty()
}

/// Lets what waited for a replaced instruction wait for its replacement.
fn rename_control_predecessors(module: &mut Module, replaced: &HashMap<InstrId, InstrId>) {
    for c in module.computations().collect::<Vec<_>>() {
        for i in module[c].instructions().to_vec() {
            let waits = |p: &InstrId| replaced.contains_key(p);
            let named = module[i].common.as_deref().is_some_and(|c| c.control_predecessors.iter().any(waits));
            if named {
                for p in &mut module.common_mut(i).control_predecessors {
                    *p = replaced.get(p).copied().unwrap_or(*p);
                }
            }
        }
    }
}
