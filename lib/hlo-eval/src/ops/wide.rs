//! Sums and products that are accumulated in a wider type than that of their elements, and rounded once
//! (docs/numerics.md, "Sums").

use super::accumulate::in_range;
use super::convert;
use super::support::Result;
use crate::element::{Scalar, apply};
use crate::kernel::{Kernel, KernelError, binary, computes_in_f32, elements, elements_mut};
use bytemuck::Pod;
use hlo_ir::{ElementType, Op};

/// A function that combines contiguous elements (first argument), in order, with an accumulator (second
/// argument).
type Fold = Box<dyn Fn(&[u8], &mut [u8]) -> std::result::Result<(), KernelError>>;

/// The accumulation of sums or products of elements of one type.
pub(super) struct Wide {
    /// The type of the elements.
    pub(super) from: ElementType,
    /// The type of the accumulator.
    pub(super) to: ElementType,
    pub(super) widen: Kernel,
    pub(super) combine: Kernel,
    pub(super) narrow: Kernel,
    /// Applies `combine` to contiguous elements and an accumulator, in one loop.
    pub(super) fold: Fold,
    /// The neutral element.
    pub(super) neutral: Vec<u8>,
}

impl Wide {
    /// Returns the accumulation of a reduction, whose order is unspecified. Sums of types that fit `f32`
    /// accumulate in `f64`, which is more accurate than any order in `f32`. They are infinite where they
    /// exceed the range of `f32`, as in compiled code. Products of narrow floats accumulate in `f32`.
    pub(super) fn of_reduction(op: &Op, from: ElementType) -> Option<Self> {
        use ElementType as T;
        match op {
            Op::Add if from.is_float() && from != T::F64 => {
                Some(Self::new(from, T::F64, |a: f64, b| in_range(a + b), -0.0))
            }
            Op::Add if from == T::C64 => {
                let add = |a: [f64; 2], b: [f64; 2]| [in_range(a[0] + b[0]), in_range(a[1] + b[1])];
                Some(Self::new(from, T::C128, add, [-0.0; 2]))
            }
            Op::Multiply => Self::of_updates(op, from),
            _ => None,
        }
    }

    /// Returns the accumulation of updates, which are applied one after the other. Narrow floats accumulate
    /// in `f32`.
    pub(super) fn of_updates(op: &Op, from: ElementType) -> Option<Self> {
        let to = ElementType::F32;
        match op {
            _ if !computes_in_f32(from) => None,
            Op::Add => Some(Self::new(from, to, |a: f32, b| a + b, -0.0)),
            Op::Multiply => Some(Self::new(from, to, |a: f32, b| a * b, 1.0)),
            _ => None,
        }
    }

    fn new<E: Pod + Send + Sync>(
        from: ElementType,
        to: ElementType,
        f: impl Fn(E, E) -> E + Copy + Send + Sync + 'static,
        neutral: E,
    ) -> Self {
        let fold = move |line: &[u8], accumulator: &mut [u8]| {
            let [a] = elements_mut::<E>(accumulator)? else {
                return Err(KernelError::Bytes { size: size_of::<E>(), bytes: accumulator.len() });
            };
            *a = elements::<E>(line)?.iter().fold(*a, |a, &x| f(a, x));
            Ok(())
        };
        Self {
            from,
            to,
            widen: convert::kernel(from, to),
            combine: binary(f),
            narrow: convert::kernel(to, from),
            fold: Box::new(fold),
            neutral: bytemuck::bytes_of(&neutral).to_vec(),
        }
    }

    /// Converts an element to the wider type.
    pub(super) fn widened(&self, element: Scalar) -> Result<Scalar> {
        apply(&self.widen, &[(element, self.from.byte_size())], self.to.byte_size())
    }

    /// Returns the sum or product of two numbers of the wider type.
    pub(super) fn combined(&self, a: Scalar, b: Scalar) -> Result<Scalar> {
        let size = self.to.byte_size();
        apply(&self.combine, &[(a, size), (b, size)], size)
    }

    /// Rounds an accumulator to the type of the elements.
    pub(super) fn rounded(&self, sum: Scalar) -> Result<Scalar> {
        apply(&self.narrow, &[(sum, self.to.byte_size())], self.from.byte_size())
    }
}
