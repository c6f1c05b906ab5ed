//! The values of a contraction: combines the operands' elements, and aggregates the combined values.

use super::writer::Writer;
use crate::builder::{FastMath, IntPredicate, V};
use crate::elem::{self, Elem};
use crate::math::I;
use crate::ops::elementwise;
use crate::ops::reducer::emit_reducer_op;
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::contraction::{Aggregation, Combination};
use hlo_ir::{ElementType, ElementwiseOp as E};
use hlo_plan::Refusal;
use melior::ir::ValueLike;

const EQUAL: CompareAttrs =
    CompareAttrs { direction: ComparisonDirection::Eq, comparison_type: ComparisonType::Default };

impl<'c> Writer<'_, '_, 'c> {
    /// Emits the combination of one element of each operand.
    pub(super) fn combined(&self, elements: &[Elem<'c>]) -> Result<Elem<'c>, Refusal> {
        let b = self.b;
        let ty = self.plan.work_type();
        let equal = || {
            let operands: Vec<_> =
                elements.iter().copied().zip(self.plan.types.iter().copied()).take(2).collect();
            elementwise::emit(b, E::Compare(&EQUAL), ElementType::Pred, &operands)
        };
        Ok(match (self.plan.contraction.combination, elements) {
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

    /// Returns the neutral element of the aggregation. It may change the sign of a zero, because sums start
    /// from +0.
    pub(super) fn neutral(&self) -> Vec<Elem<'c>> {
        let b = self.b;
        let ty = self.plan.work_type();
        if self.plan.is_float_extremum() {
            let [signed, unsigned] = [self.plan.parts()[0], self.plan.parts()[1]];
            return vec![
                elem::constant(b, signed, &lowest_value(signed)),
                elem::constant(b, unsigned, &greatest(unsigned)),
                elem::constant(b, unsigned, &lowest_value(unsigned)),
            ];
        }
        let bytes = match self.plan.contraction.aggregation {
            Aggregation::Sum | Aggregation::Assign => Vec::new(),
            Aggregation::Product => one(ty.real_type()),
            Aggregation::Max => lowest_value(ty),
            Aggregation::Min => greatest(ty),
        };
        vec![elem::constant(b, ty, &bytes)]
    }

    /// Converts a value to the parts that are aggregated.
    pub(super) fn aggregated_parts(&self, value: Elem<'c>) -> Vec<Elem<'c>> {
        let b = self.b;
        match value {
            Elem::One(v) if self.plan.is_float_extremum() => {
                vec![Elem::One(elem::to_bits(b, self.plan.work_type(), v).v); 3]
            }
            value => vec![value],
        }
    }

    /// Aggregates two values. `fast` permits any order.
    pub(super) fn aggregated(
        &self,
        before: &[Elem<'c>],
        value: &[Elem<'c>],
        fast: FastMath,
    ) -> Result<Vec<Elem<'c>>, Refusal> {
        let b = self.b;
        let op = match self.plan.contraction.aggregation {
            Aggregation::Sum => E::Add,
            Aggregation::Product => E::Multiply,
            Aggregation::Max => E::Maximum,
            Aggregation::Min => E::Minimum,
            Aggregation::Assign => return Ok(value.to_vec()),
        };
        let ops = if self.plan.is_float_extremum() { [E::Maximum, E::Minimum, E::Maximum] } else { [op; 3] };
        let parts = self.plan.parts();
        let pairs = before.iter().zip(value).zip(parts.iter().zip(ops));
        pairs.map(|((&x, &y), (&ty, op))| Ok(emit_reducer_op(b, op, ty, x, y, fast)?)).collect()
    }

    /// Computes the aggregated value from its parts, in the type of the aggregation.
    ///
    /// For extrema of floats the parts are the maximum of their bits as signed integers, and the minimum and
    /// the maximum as unsigned integers. Numbers without a sign bit have the same order as their bits, and
    /// numbers with a sign bit the opposite order. NaNs are beyond the infinities.
    pub(super) fn finished(&self, parts: &[Elem<'c>]) -> Result<Elem<'c>, Refusal> {
        let b = self.b;
        let (true, &[Elem::One(signed), Elem::One(least), Elem::One(greatest)]) =
            (self.plan.is_float_extremum(), parts)
        else {
            return parts.first().copied().ok_or_else(|| "a contraction without a value".into());
        };
        let (ty, integer) = (self.plan.work_type(), signed.r#type());
        let (infinity, sign) = match ty {
            ElementType::F64 => (f64::INFINITY.to_bits() as i64, i64::MIN),
            _ => (i64::from(f32::INFINITY.to_bits()), 1 << 31),
        };
        let constant = |value: i64| b.const_int(integer, value);
        let (number, nan) = match self.plan.contraction.aggregation {
            // The maximum has no sign bit if any number has none. A NaN with a sign bit is never the maximum.
            Aggregation::Max => {
                let any = b.cmpi(IntPredicate::Sge, signed, constant(0));
                let beyond = b.cmpi(IntPredicate::Ugt, greatest, constant(infinity | sign));
                (b.select(any, signed, least), (beyond, greatest))
            }
            // The minimum has a sign bit if any number has one. A NaN without a sign bit is never the
            // minimum.
            _ => {
                let any = b.cmpi(IntPredicate::Slt, greatest, constant(0));
                let beyond = b.cmpi(IntPredicate::Sgt, signed, constant(infinity));
                (b.select(any, greatest, least), (beyond, signed))
            }
        };
        let bits = b.select(nan.0, nan.1, number);
        Ok(Elem::One(elem::from_bits(b, ty, I::new(b, bits))))
    }
}

fn one(ty: ElementType) -> Vec<u8> {
    match ty {
        ElementType::F32 => 1f32.to_le_bytes().to_vec(),
        ElementType::F64 => 1f64.to_le_bytes().to_vec(),
        _ => vec![1],
    }
}

fn lowest_value(ty: ElementType) -> Vec<u8> {
    if ty.is_signed_integer() { (1u64 << (ty.bit_width() - 1)).to_le_bytes().to_vec() } else { Vec::new() }
}

fn greatest(ty: ElementType) -> Vec<u8> {
    if ty.is_signed_integer() {
        ((1u64 << (ty.bit_width() - 1)) - 1).to_le_bytes().to_vec()
    } else {
        u64::MAX.to_le_bytes().to_vec()
    }
}
