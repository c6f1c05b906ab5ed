//! Matrices in the last two dimensions of arrays, for passes that express linear algebra by loops.

use super::expander::Emitter;
use super::loops::INDEX;
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// The type that linear algebra on a type is computed in.
pub(crate) fn computed_in(ty: ElementType) -> ElementType {
    match ty {
        ElementType::F64 | ElementType::C64 | ElementType::C128 => ty,
        _ => ElementType::F32,
    }
}

/// The number of matrices, of their rows and of their columns.
pub(crate) fn matrix_sizes(shape: &ArrayShape) -> Option<[i64; 3]> {
    let [batch @ .., rows, columns] = shape.dims.as_slice() else { return None };
    let count = batch.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    Some([count, *rows, *columns])
}

impl Emitter<'_> {
    /// The conjugates of complex numbers; real ones as they are.
    pub(crate) fn conjugate(&mut self, x: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        if !ty.is_complex() {
            return Some(x);
        }
        let [real, imag] = [Op::Real, Op::Imag].map(|op| self.elementwise(ty.real_type(), op, &[x]));
        let imag = self.same(Op::Negate, &[imag]);
        Some(self.elementwise(ty, Op::Complex, &[real, imag]))
    }

    /// The real parts; real numbers as they are.
    pub(crate) fn real_part(&mut self, x: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        Some(if ty.is_complex() { self.elementwise(ty.real_type(), Op::Real, &[x]) } else { x })
    }

    /// The magnitudes, which are real.
    pub(crate) fn magnitude(&mut self, x: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        Some(self.elementwise(ty.real_type(), Op::Abs, &[x]))
    }

    /// Numbers by real ones.
    pub(crate) fn over_real(&mut self, x: InstrId, by: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        if !ty.is_complex() {
            return Some(self.same(Op::Divide, &[x, by]));
        }
        let [real, imag] = [Op::Real, Op::Imag].map(|op| self.elementwise(ty.real_type(), op, &[x]));
        let parts = [self.same(Op::Divide, &[real, by]), self.same(Op::Divide, &[imag, by])];
        Some(self.elementwise(ty, Op::Complex, &parts))
    }

    /// Not a number, in each part.
    pub(crate) fn nan(&mut self, ty: ElementType) -> Option<InstrId> {
        let nan = self.number(ty.real_type(), f64::NAN)?;
        Some(if ty.is_complex() { self.elementwise(ty, Op::Complex, &[nan, nan]) } else { nan })
    }

    /// The matrices of an array in one batch.
    pub(crate) fn matrices(&mut self, x: InstrId) -> Option<InstrId> {
        let sizes = matrix_sizes(&self.array(x)?)?;
        self.reshaped(x, &sizes)
    }

    /// An array with sizes of 1 repeated to the given sizes.
    pub(crate) fn stretched(&mut self, x: InstrId, dims: &[i64]) -> Option<InstrId> {
        let shape = self.array(x)?;
        if shape.dims.as_slice() == dims {
            return Some(x);
        }
        let kept: Vec<usize> = (0..dims.len()).filter(|&d| shape.dims.get(d) == Some(&dims[d])).collect();
        let sizes: Vec<i64> = kept.iter().map(|&d| dims[d]).collect();
        let x = self.reshaped(x, &sizes)?;
        let to = ArrayShape::new(shape.element_type, dims.iter().copied());
        Some(self.broadcast(x, &to, &kept.iter().map(|&d| d as i64).collect::<Vec<_>>()))
    }

    /// The product of a column and a row of each of a batch of matrices.
    pub(crate) fn outer(&mut self, column: InstrId, row: InstrId, sizes: &[i64; 3]) -> Option<InstrId> {
        let (column, row) = (self.stretched(column, sizes)?, self.stretched(row, sizes)?);
        Some(self.same(Op::Multiply, &[column, row]))
    }

    /// How the numbers of rows (`along` 1) or columns (2) of matrices of the given sizes relate to an index.
    pub(crate) fn places(
        &mut self,
        sizes: &[i64; 3],
        along: usize,
        direction: ComparisonDirection,
        index: InstrId,
    ) -> Option<InstrId> {
        let numbers = self.iota(INDEX, sizes, along);
        let index = self.spread(numbers, index)?;
        Some(self.relation(numbers, direction, index))
    }
}
