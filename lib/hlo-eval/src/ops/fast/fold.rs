//! Reducers that are a single operation, applied to contiguous elements in one loop.

use super::wide_lanes;
use crate::error::EvalError;
use crate::kernel::{KernelError, elements, elements_mut, lane_type, with_integer};
use crate::ops::float;
use crate::ops::reducer::Reduction;
use bytemuck::Pod;
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, Module, Shape};

/// A function that combines contiguous elements, in order, with an initial value. Its arguments are the bytes
/// of `line`, of `initial` and of the result.
pub(super) type Fold = Box<dyn Fn(&[u8], &[u8], &mut [u8]) -> Result<(), EvalError>>;

/// Returns the loop over contiguous elements, if the reducer is a single operation with such a loop.
pub(super) fn of_reduction(module: &Module, reduction: &Reduction<'_>) -> Option<Fold> {
    let &[ty] = &reduction.types[..] else { return None };
    match reduction.wide(0) {
        Some(wide) => Some(Box::new(move |line, initial, out| {
            wide_lanes::fold(&wide, line, initial, out).map_err(EvalError::from)
        })),
        None => of_operation(single_operation(module, reduction.computation, ty)?, ty),
    }
}

/// Returns the operation of a computation that applies one commutative operation to its two parameters, which
/// are scalars of type `ty`.
fn single_operation(
    module: &Module,
    computation: ComputationId,
    ty: ElementType,
) -> Option<ElementwiseOp<'_>> {
    if !module.has_root(computation) {
        return None;
    }
    let root = module[computation].root();
    let scalar = |s: &Shape| s.as_array().is_some_and(|a| a.rank() == 0 && a.element_type == ty);
    let &[a, b] = &module[root].operands[..] else { return None };
    let &[p, q] = &module.parameters(computation)[..] else { return None };
    let op = module[root].op.elementwise().filter(|op| op.opcode().is_associative())?;
    let of_parameters = [a, b] == [p, q] || [a, b] == [q, p];
    let of_type = [root, a, b].iter().all(|&i| scalar(&module[i].shape));
    (of_parameters && of_type).then_some(op)
}

/// Returns the fold of an operation. It combines two elements in the same way as the operation's kernel.
/// Returns `None` if the operation has no fold; programs then compute it.
fn of_operation(op: ElementwiseOp<'_>, ty: ElementType) -> Option<Fold> {
    use ElementType as T;
    fn by<E: Pod>(f: impl Fn(E, E) -> E + 'static) -> Option<Fold> {
        Some(Box::new(move |line, initial, out| {
            let (&[initial], [out]) = (elements::<E>(initial)?, elements_mut::<E>(out)?) else {
                return Err(KernelError::Bytes { size: size_of::<E>(), bytes: initial.len() }.into());
            };
            *out = elements::<E>(line)?.iter().fold(initial, |a, &x| f(a, x));
            Ok(())
        }))
    }
    if lane_type(ty) != ty {
        return None;
    }
    match (op, ty) {
        (ElementwiseOp::Add, T::F32) => by(|a: f32, b| a + b),
        (ElementwiseOp::Add, T::F64) => by(|a: f64, b| a + b),
        (ElementwiseOp::Add, _) => with_integer!(ty, I => by(I::wrapping_add)).flatten(),
        (ElementwiseOp::Multiply, T::F32) => by(|a: f32, b| a * b),
        (ElementwiseOp::Multiply, T::F64) => by(|a: f64, b| a * b),
        (ElementwiseOp::Multiply, _) => with_integer!(ty, I => by(I::wrapping_mul)).flatten(),
        (ElementwiseOp::Maximum, T::F32) => by(float::maximum_f32),
        (ElementwiseOp::Maximum, T::F64) => by(float::maximum_f64),
        (ElementwiseOp::Maximum, _) => with_integer!(ty, I => by(|a: I, b| a.max(b))).flatten(),
        (ElementwiseOp::Minimum, T::F32) => by(float::minimum_f32),
        (ElementwiseOp::Minimum, T::F64) => by(float::minimum_f64),
        (ElementwiseOp::Minimum, _) => with_integer!(ty, I => by(|a: I, b| a.min(b))).flatten(),
        (ElementwiseOp::And, T::Pred) => by(|a: u8, b| a & b),
        (ElementwiseOp::Or, T::Pred) => by(|a: u8, b| a | b),
        _ => None,
    }
}
