//! `bitcast-convert` inside of kernels: elements from the bits of others.

use super::element::ElementCx;
use super::index::Idx;
use crate::builder::{Binary, Cast, IntPredicate, V};
use crate::elem::{self, Elem};
use crate::math::I;
use crate::ops::convert;
use hlo_ir::{ElementType, InstrId};
use hlo_plan::Refusal;

impl<'c> ElementCx<'_, 'c> {
    /// Emits an element of a `bitcast-convert` (operation semantics, "BitcastConvertType"): between types of
    /// the same width, or between one wide element and several narrow elements in a last dimension.
    pub(super) fn bitcast_convert(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
        let operand = self.operand(id, 0);
        let (to, from) = (self.shape(id)?, self.shape(operand)?);
        let (wide, narrow) = (from.element_type, to.element_type);
        let b = self.b;
        let cast = |e: Elem<'c>, from: ElementType, to: ElementType| {
            convert::bitcast_convert(b, to, e, from).map_err(Refusal::from)
        };
        let bits = |e: Elem<'c>, ty: ElementType| -> Result<V<'c>, Refusal> {
            match e {
                Elem::One(v) => Ok(elem::to_bits(b, ty, v).v),
                Elem::Complex(..) => Err("a complex number has no bits of its own".into()),
            }
        };
        let value = |bits: V<'c>| Elem::One(elem::from_bits(b, narrow, I::new(b, bits)));
        if from.rank() == to.rank() {
            return cast(self.value(operand, index)?, wide, narrow);
        }
        if wide.is_complex() {
            return self.complex_bits(operand, index, from.rank() < to.rank());
        }
        if from.rank() + 1 == to.rank() {
            let (last, outer) = index.split_last().ok_or("a bitcast to a scalar")?;
            let w = bits(self.value(operand, outer)?, wide)?;
            let shift = last.times(b, i64::from(narrow.bit_width())).emit(b);
            let shift = match wide.bit_width() {
                64 => shift,
                n => b.cast(Cast::Trunci, shift, b.int(n)),
            };
            let shifted = b.binary(Binary::Shrui, w, shift);
            return Ok(value(b.cast(Cast::Trunci, shifted, b.int(narrow.bit_width()))));
        }
        let count = from.dims[from.rank() - 1];
        let ty = b.int(narrow.bit_width());
        let mut out = b.const_int(ty, 0);
        for k in 0..count {
            let mut inner = index.to_vec();
            inner.push(Idx::constant(k));
            let part = b.cast(Cast::Extui, bits(self.value(operand, &inner)?, wide)?, ty);
            let shift = b.const_int(ty, k * i64::from(wide.bit_width()));
            let part = b.binary(Binary::Shli, part, shift);
            out = b.binary(Binary::Ori, out, part);
        }
        Ok(value(out))
    }

    /// Emits an element of a `bitcast-convert` from `c128` to two `c64`, one for each part, or in the other
    /// direction. The low half of a part becomes the real part.
    fn complex_bits(
        &self,
        operand: InstrId,
        index: &[Idx<'c>],
        to_narrow: bool,
    ) -> Result<Elem<'c>, Refusal> {
        let b = self.b;
        let (c64, part) = (ElementType::C64, ElementType::F64);
        let cast = |e: Elem<'c>, from: ElementType, to: ElementType| {
            convert::bitcast_convert(b, to, e, from).map_err(Refusal::from)
        };
        if to_narrow {
            let (last, outer) = index.split_last().ok_or("a bitcast to a scalar")?;
            let Elem::Complex(re, im) = self.value(operand, outer)? else {
                return Err("no complex number".into());
            };
            let zero = b.index(0);
            let first = b.cmpi(IntPredicate::Eq, last.emit(b), zero);
            return cast(Elem::One(b.select(first, re, im)), part, c64);
        }
        let half = |k: i64| {
            let mut inner = index.to_vec();
            inner.push(Idx::constant(k));
            cast(self.value(operand, &inner)?, c64, part)
        };
        Ok(Elem::Complex(half(0)?.first(), half(1)?.first()))
    }
}
