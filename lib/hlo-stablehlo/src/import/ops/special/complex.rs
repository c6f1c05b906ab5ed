//! Functions of complex numbers, computed from their real and imaginary parts.

use super::Formula;
use crate::import::importer::Importer;
use hlo_ir::attr::ComparisonDirection as Is;
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op};

impl<'t> Importer<'t> {
    /// Applies a formula to the real and imaginary parts of complex numbers. Returns `None` for other types.
    fn of_parts(
        &mut self,
        z: InstrId,
        formula: impl FnOnce(&mut Formula<'_, 't>, InstrId, InstrId) -> (InstrId, InstrId),
    ) -> Option<InstrId> {
        let array = self.module[z].shape.as_array().filter(|a| a.element_type.is_complex())?.clone();
        let shape = array.with_element_type(array.element_type.real_type());
        let real = self.add(shape.clone(), Op::Real, &[z]);
        let imag = self.add(shape.clone(), Op::Imag, &[z]);
        let (real, imag) = formula(&mut Formula { importer: self, shape }, real, imag);
        Some(self.add(array, Op::Complex, &[real, imag]))
    }

    /// Computes the complex conjugate.
    pub(in crate::import::ops) fn complex_conjugate(&mut self, z: InstrId) -> Option<InstrId> {
        self.of_parts(z, |f, x, y| (x, f.neg(y)))
    }

    /// Computes the square as (x - y)(x + y) + 2xyi, which avoids cancellation. The real part is 0 if both
    /// parts have the same magnitude, even if their sum overflows.
    pub(in crate::import::ops) fn complex_square(&mut self, z: InstrId) -> Option<InstrId> {
        self.of_parts(z, |f, x, y| {
            let (minus, plus) = (f.sub(x, y), f.add(x, y));
            let real = f.mul(minus, plus);
            let (x_size, y_size) = (f.abs(x), f.abs(y));
            let (is_same, is_finite, zero) = (f.is(x_size, Is::Eq, y_size), f.is_finite(x), f.num(0.0));
            let vanishes = f.both(is_same, is_finite);
            let product = f.mul(x, y);
            (f.select(vanishes, zero, real), f.add(product, product))
        })
    }

    /// Computes atan(z) as atanh(iz) / i.
    pub(in crate::import::ops) fn complex_atan(&mut self, z: InstrId) -> Option<InstrId> {
        let turned = self.of_parts(z, |f, x, y| (f.neg(y), x))?;
        let shape = self.module[turned].shape.clone();
        let atanh = self.add(shape, Op::Atanh, &[turned]);
        self.of_parts(atanh, |f, x, y| (y, f.neg(x)))
    }
}
