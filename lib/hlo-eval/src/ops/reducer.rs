//! Reducers: what `reduce` and `reduce-window` apply, and the types that they accumulate in.

use super::reduction::{arrays_and_scalars, collate, result_arrays};
use super::{Result, array, convert, float};
use crate::evaluator::Evaluator;
use crate::kernel::{computes_in_f32, elements, elements_mut, lane_type, with_integer};
use crate::program::Function;
use bytemuck::Pod;
use hlo_ir::{ArrayShape, ComputationId, ElementType, Literal, Module, Op, Shape};

/// A reduction's operands, and what combines them.
pub(super) struct Reduction<'m> {
    /// The arrays to reduce, in the types of the accumulators.
    pub(super) arrays: Vec<Literal>,
    /// The initial values, one for each array.
    pub(super) initial: Vec<Literal>,
    /// The types of the accumulators.
    pub(super) types: Vec<ElementType>,
    to_apply: ComputationId,
    /// The reducer, if it is one operation.
    operation: Option<&'m Op>,
}

impl<'m> Reduction<'m> {
    /// Reads N arrays and N initial values.
    ///
    /// A sum or product of narrow floats is accumulated in `f32` and rounded once, as compiled code does; the
    /// semantics leave the order open and with it the rounding. jaxlib comes to other last bits: it rounds after
    /// each step, but reduces long arrays in parts, and does not round in between where it folds constants of
    /// `f16`.
    pub(super) fn new(
        ev: &mut Evaluator<'m>,
        operands: Vec<Literal>,
        to_apply: ComputationId,
    ) -> Result<Self> {
        let (mut arrays, mut initial, mut types) = arrays_and_scalars(operands)?;
        let operation = match types[..] {
            [ty] => single_operation(ev.module, to_apply, ty),
            _ => None,
        };
        if matches!(operation, Some(Op::Add | Op::Multiply)) && computes_in_f32(types[0]) {
            types[0] = lane_type(types[0]);
            let mut widen = |values: Vec<Literal>| -> Result<Vec<Literal>> {
                values.into_iter().map(|v| convert::converted(ev, v, types[0])).collect()
            };
            (arrays, initial) = (widen(arrays)?, widen(initial)?);
        }
        Ok(Self { arrays, initial, types, to_apply, operation })
    }

    /// The reducer, for up to `capacity` lanes.
    pub(super) fn function(&self, ev: &mut Evaluator<'_>, capacity: usize) -> Result<Function> {
        if let (Some(op), &[ty]) = (self.operation, &self.types[..])
            && let Some(function) = Function::of_operation(op, ty, capacity)
        {
            return Ok(function);
        }
        let both: Vec<ElementType> = self.types.iter().chain(&self.types).copied().collect();
        Function::new(ev, self.to_apply, &both, &self.types, capacity)
    }

    /// The loop over neighbouring elements, if the reducer is one operation that has one.
    pub(super) fn fold(&self) -> Option<Fold> {
        match self.types[..] {
            [ty] => fold(self.operation?, ty),
            _ => None,
        }
    }

    /// Arrays for the accumulators: of the dimensions of the arrays in `shape`.
    pub(super) fn accumulators(&self, ev: &mut Evaluator<'_>, shape: &Shape) -> Result<Vec<Literal>> {
        let shapes = result_arrays(shape)?.into_iter().zip(&self.types);
        shapes
            .map(|(s, &ty)| match s.element_type == ty {
                true => ev.allocate(s),
                false => ev.allocate(&ArrayShape::new(ty, s.dims.iter().copied())),
            })
            .collect()
    }

    /// The result of the shape `shape` from the accumulators' last values.
    pub(super) fn finish(
        self,
        ev: &mut Evaluator<'_>,
        shape: &Shape,
        mut accumulators: Vec<Literal>,
    ) -> Result<Literal> {
        self.arrays.into_iter().for_each(|a| ev.release(a));
        for (value, s) in accumulators.iter_mut().zip(result_arrays(shape)?) {
            let ty = array(value)?.element_type;
            if ty != s.element_type {
                let mut rounded = ev.allocate(s)?;
                convert::kernel(ty, s.element_type)(&[value.bytes()], rounded.bytes_mut());
                ev.release(std::mem::replace(value, rounded));
            }
        }
        collate(shape, accumulators)
    }
}

/// The operation of a computation that applies one commutative operation to its two parameters, scalars of the
/// type `ty`.
fn single_operation(module: &Module, computation: ComputationId, ty: ElementType) -> Option<&Op> {
    if !module.has_root(computation) {
        return None;
    }
    let root = module[computation].root();
    let scalar = |s: &Shape| s.as_array().is_some_and(|a| a.rank() == 0 && a.element_type == ty);
    let &[a, b] = &module[root].operands[..] else { return None };
    let &[p, q] = &module.parameters(computation)[..] else { return None };
    let commutative = matches!(
        module[root].op,
        Op::Add | Op::Multiply | Op::Maximum | Op::Minimum | Op::And | Op::Or | Op::Xor
    );
    let of_parameters = [a, b] == [p, q] || [a, b] == [q, p];
    let of_type = [root, a, b].iter().all(|&i| scalar(&module[i].shape));
    (commutative && of_parameters && of_type).then_some(&module[root].op)
}

/// Combines neighbouring elements, in their order, with an accumulator of the same type.
pub(super) type Fold = Box<dyn Fn(&[u8], &mut [u8])>;

/// The fold of an operation: the same function of two elements as its kernel's. `None` where programs do.
fn fold(op: &Op, ty: ElementType) -> Option<Fold> {
    use ElementType as T;
    fn by<E: Pod>(f: impl Fn(E, E) -> E + 'static) -> Option<Fold> {
        Some(Box::new(move |from, accumulator| {
            if let Some(a) = elements_mut::<E>(accumulator).first_mut() {
                *a = elements::<E>(from).iter().fold(*a, |a, &x| f(a, x));
            }
        }))
    }
    if lane_type(ty) != ty {
        return None;
    }
    match (op, ty) {
        (Op::Add, T::F32) => by(|a: f32, b| a + b),
        (Op::Add, T::F64) => by(|a: f64, b| a + b),
        (Op::Add, _) => with_integer!(ty, I => by(I::wrapping_add)).flatten(),
        (Op::Multiply, T::F32) => by(|a: f32, b| a * b),
        (Op::Multiply, T::F64) => by(|a: f64, b| a * b),
        (Op::Multiply, _) => with_integer!(ty, I => by(I::wrapping_mul)).flatten(),
        (Op::Maximum, T::F32) => by(float::maximum_f32),
        (Op::Maximum, T::F64) => by(float::maximum_f64),
        (Op::Maximum, _) => with_integer!(ty, I => by(|a: I, b| a.max(b))).flatten(),
        (Op::Minimum, T::F32) => by(float::minimum_f32),
        (Op::Minimum, T::F64) => by(float::minimum_f64),
        (Op::Minimum, _) => with_integer!(ty, I => by(|a: I, b| a.min(b))).flatten(),
        (Op::And, T::Pred) => by(|a: u8, b| a & b),
        (Op::Or, T::Pred) => by(|a: u8, b| a | b),
        _ => None,
    }
}
