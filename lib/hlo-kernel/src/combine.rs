//! The ways in which reductions combine values.

use hlo_ir::{ComputationId, ElementType, ElementwiseOp, InstrId, Module, Op};

/// The way in which a reduction combines an accumulated value with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The sum of floats or complex numbers, accumulated in this type. Long sums are computed in blocks.
    Sum(ElementType),
    /// The maximum or minimum of floats, accumulated as an integer.
    Extremum(Extremum),
    /// The computation of the reduction.
    Computation,
}

impl Combine {
    /// Returns the way in which a reduction of `operands` arrays with this computation combines values.
    pub(crate) fn of(module: &Module, computation: ComputationId, operands: usize) -> Self {
        if operands != 1 {
            return Combine::Computation;
        }
        let extremum = || Extremum::of(module, computation).map(Combine::Extremum);
        let sum = summed_type(module, computation).map(Combine::Sum);
        sum.or_else(extremum).unwrap_or(Combine::Computation)
    }
}

/// The maximum or minimum of floats, computed with integers in the same order.
///
/// The operation itself propagates NaN and orders -0 below +0. It takes six dependent instructions. Flipping
/// the bits below the sign of negative floats makes the order of their bits as integers equal to the order of
/// the floats. NaN is mapped to the last integer in the direction of the extremum. Each step of the reduction
/// then has only one dependent instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremum {
    /// Whether the reduction computes the maximum.
    pub greatest: bool,
    /// The type of the integers.
    pub integers: ElementType,
}

impl Extremum {
    /// Returns the extremum that a computation of two floats computes, or `None` for any other computation.
    fn of(module: &Module, computation: ComputationId) -> Option<Self> {
        let (op, ty) = single_binary_op(module, computation).filter(|(_, ty)| ty.is_float())?;
        let greatest = match op {
            ElementwiseOp::Maximum => true,
            ElementwiseOp::Minimum => false,
            _ => return None,
        };
        // Narrower types are represented in f32.
        let integers = if ty == ElementType::F64 { ElementType::S64 } else { ElementType::S32 };
        Some(Self { greatest, integers })
    }
}

/// Returns the operation of a computation that is one binary operation on its two parameters in order (or in
/// any order if it is commutative). Most reductions have this form.
pub fn single_binary_op(
    module: &Module,
    computation: ComputationId,
) -> Option<(ElementwiseOp<'_>, ElementType)> {
    let root = &module[module[computation].root()];
    let ty = root.shape.as_array()?.element_type;
    let number = |i: InstrId| match &module[i].op {
        Op::Parameter(p) => Some(p.number),
        _ => None,
    };
    let [a, b] = root.operands.as_slice() else { return None };
    let in_order = (number(*a), number(*b)) == (Some(0), Some(1));
    let swapped = (number(*a), number(*b)) == (Some(1), Some(0));
    let op = root.op.elementwise().filter(|op| op.opcode().is_associative())?;
    (in_order || swapped).then_some((op, ty))
}

/// Returns the type in which a reduction accumulates values of type `ty`: `f32` for narrow floats.
pub fn accumulator_type(ty: ElementType) -> ElementType {
    if ty.is_float() && ty.bit_width() < 32 { ElementType::F32 } else { ty }
}

/// Returns the type of the accumulator if the computation adds two floats or complex numbers.
pub fn summed_type(module: &Module, computation: ComputationId) -> Option<ElementType> {
    match single_binary_op(module, computation) {
        Some((ElementwiseOp::Add, ty)) if ty.is_float() || ty.is_complex() => Some(accumulator_type(ty)),
        _ => None,
    }
}
