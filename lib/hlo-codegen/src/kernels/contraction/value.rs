//! The values of a contraction: what makes one of elements, and what becomes of several.

use super::Plan;
use crate::builder::{Builder, FastMath, V};
use crate::elem::{self, Elem};
use crate::kernels::scalar;
use crate::ops::elementwise;
use crate::ops::reducer::emit_reducer_op;
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::contraction::{Aggregation, Combination};
use hlo_ir::{ElementType, ElementwiseOp as E};
use hlo_plan::Refusal;

const EQUAL: CompareAttrs =
    CompareAttrs { direction: ComparisonDirection::Eq, comparison_type: ComparisonType::Default };

impl Plan<'_> {
    /// The type that values are combined and aggregated in: narrow floats in `f32`.
    pub fn work_type(&self) -> ElementType {
        scalar::accumulator_type(self.element_type)
    }

    /// True for sums of floating-point numbers, which are made in blocks where they are long.
    pub fn is_float_sum(&self) -> bool {
        let ty = self.work_type();
        self.contraction.aggregation == Aggregation::Sum && (ty.is_float() || ty.is_complex())
    }

    /// The combination of an element of each operand.
    pub fn combined<'c>(&self, b: &Builder<'c>, elements: &[Elem<'c>]) -> Result<Elem<'c>, Refusal> {
        let ty = self.work_type();
        let equal = || {
            let operands: Vec<_> = elements.iter().copied().zip(self.types.iter().copied()).take(2).collect();
            elementwise::emit(b, E::Compare(&EQUAL), ElementType::Pred, &operands)
        };
        Ok(match (self.contraction.combination, elements) {
            (Combination::Single, &[x]) => x,
            (Combination::Multiply, &[x, y]) => elementwise::emit(b, E::Multiply, ty, &[(x, ty), (y, ty)])?,
            (Combination::Add, &[x, y]) => elementwise::emit(b, E::Add, ty, &[(x, ty), (y, ty)])?,
            (Combination::Equal, _) => equal()?,
            (Combination::Select, &[_, _, z]) => {
                let (condition, zero) = (equal()?.first(), elem::constant(b, ty, &[]));
                let parts = z.flatten().into_iter().zip(zero.flatten());
                let chosen: Vec<V<'c>> = parts.map(|(z, zero)| b.select(condition, z, zero)).collect();
                Elem::from_values(ty, &chosen)
            }
            _ => return Err("a contraction of another number of operands".into()),
        })
    }

    /// What several values become, in any order if `fast` says so.
    pub fn aggregated<'c>(
        &self,
        b: &Builder<'c>,
        before: Elem<'c>,
        value: Elem<'c>,
        fast: FastMath,
    ) -> Result<Elem<'c>, Refusal> {
        let op = match self.contraction.aggregation {
            Aggregation::Sum => E::Add,
            Aggregation::Product => E::Multiply,
            Aggregation::Max => E::Maximum,
            Aggregation::Min => E::Minimum,
            Aggregation::Assign => return Ok(value),
        };
        Ok(emit_reducer_op(b, op, self.work_type(), before, value, fast)?)
    }

    /// What changes no value that it is aggregated with; but for the sign of 0, as sums start from +0.
    pub fn neutral<'c>(&self, b: &Builder<'c>) -> Elem<'c> {
        let ty = self.work_type();
        let part = ty.real_type();
        let bytes = match self.contraction.aggregation {
            Aggregation::Sum | Aggregation::Assign => Vec::new(),
            Aggregation::Product => one(part),
            Aggregation::Max => least(part),
            Aggregation::Min => greatest(part),
        };
        elem::constant(b, ty, &bytes)
    }
}

fn one(ty: ElementType) -> Vec<u8> {
    match ty {
        ElementType::F32 => 1f32.to_le_bytes().to_vec(),
        ElementType::F64 => 1f64.to_le_bytes().to_vec(),
        _ => vec![1],
    }
}

fn least(ty: ElementType) -> Vec<u8> {
    match ty {
        ElementType::F32 => f32::NEG_INFINITY.to_le_bytes().to_vec(),
        ElementType::F64 => f64::NEG_INFINITY.to_le_bytes().to_vec(),
        _ if ty.is_signed_integer() => (1u64 << (ty.bit_width() - 1)).to_le_bytes().to_vec(),
        _ => Vec::new(),
    }
}

fn greatest(ty: ElementType) -> Vec<u8> {
    match ty {
        ElementType::F32 => f32::INFINITY.to_le_bytes().to_vec(),
        ElementType::F64 => f64::INFINITY.to_le_bytes().to_vec(),
        _ if ty.is_signed_integer() => ((1u64 << (ty.bit_width() - 1)) - 1).to_le_bytes().to_vec(),
        _ => u64::MAX.to_le_bytes().to_vec(),
    }
}
