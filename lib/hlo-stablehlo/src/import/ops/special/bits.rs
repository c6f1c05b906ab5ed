//! Functions of the bits of numbers.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::Operation;
use hlo_ir::attr::ComparisonDirection as Is;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

impl Importer<'_> {
    /// Computes the next representable number after `x` in the direction of `y`.
    pub(super) fn next_after(&mut self, op: &Operation, x: InstrId, y: InstrId) -> Result<InstrId> {
        let array = self.array(op, x)?;
        let ty = array.element_type;
        let bits = match ty.bit_width() {
            8 => ElementType::S8,
            16 => ElementType::S16,
            32 => ElementType::S32,
            64 => ElementType::S64,
            _ => return op.fail(format!("it is not for elements of type {ty}")),
        };
        let whole = array.with_element_type(bits);
        let truth = array.with_element_type(ElementType::Pred);
        let sign_bit = i64::MIN >> (64 - ty.bit_width());
        let [zero, one, minus_one, sign, rest] =
            [0, 1, -1, sign_bit, !sign_bit].map(|n| self.whole_number(&whole, n));
        let is = |this: &mut Self, a, relation, b| this.add(truth.clone(), Op::compare(relation), &[a, b]);
        let apply = |this: &mut Self, op, operands: &[InstrId]| this.add(whole.clone(), op, operands);
        let [x_bits, y_bits] = [x, y].map(|v| apply(self, Op::BitcastConvert, &[v]));
        let [x_rest, y_rest] = [x_bits, y_bits].map(|v| apply(self, Op::And, &[v, rest]));
        let [x_sign, y_sign] = [x_bits, y_bits].map(|v| apply(self, Op::And, &[v, sign]));
        // The step is towards zero if `y` is in that direction, and away from zero otherwise.
        let is_larger = is(self, x_rest, Is::Gt, y_rest);
        let signs_differ = is(self, x_sign, Is::Ne, y_sign);
        let inwards = self.add(truth.clone(), Op::Or, &[is_larger, signs_differ]);
        let step = apply(self, Op::Select, &[inwards, minus_one, one]);
        let next = apply(self, Op::Add, &[x_bits, step]);
        // The number next to zero is the smallest one with the sign of `y`.
        let smallest = apply(self, Op::Or, &[y_sign, one]);
        let is_zero = is(self, x_rest, Is::Eq, zero);
        let next = apply(self, Op::Select, &[is_zero, smallest, next]);
        let is_equal = is(self, x, Is::Eq, y);
        let next = apply(self, Op::Select, &[is_equal, y_bits, next]);
        let next = self.add(array.clone(), Op::BitcastConvert, &[next]);
        let [x_is_nan, y_is_nan] = [x, y].map(|v| is(self, v, Is::Ne, v));
        let any_nan = self.add(truth, Op::Or, &[x_is_nan, y_is_nan]);
        let nan = self.number(op, x, f64::NAN)?;
        Ok(self.add(array, Op::Select, &[any_nan, nan, next]))
    }

    /// Returns an array of the given shape that is filled with an integer.
    fn whole_number(&mut self, shape: &ArrayShape, value: i64) -> InstrId {
        let ty = shape.element_type;
        let bytes = value.to_le_bytes();
        let scalar = bytes.get(..ty.byte_size()).and_then(|bytes| self.scalar(ty, bytes));
        match scalar {
            Some(scalar) if shape.rank() > 0 => self.broadcast(scalar, shape, &[]),
            Some(scalar) => scalar,
            None => unreachable!("{value} is a number of type {ty}"),
        }
    }
}
