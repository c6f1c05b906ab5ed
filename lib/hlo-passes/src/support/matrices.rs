//! Matrices in the last two dimensions of arrays, for passes that implement linear algebra with loops.

use super::expander::Emitter;
use super::loops::INDEX_TYPE;
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// Returns the type in which linear algebra on `ty` is computed.
pub fn computed_in(ty: ElementType) -> ElementType {
    match ty {
        ElementType::F64 | ElementType::C64 | ElementType::C128 => ty,
        _ => ElementType::F32,
    }
}

/// Returns the number of matrices, and the number of rows and columns of each.
pub fn matrix_sizes(shape: &ArrayShape) -> Option<[i64; 3]> {
    let [batch @ .., rows, columns] = shape.dims.as_slice() else { return None };
    let count = batch.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    Some([count, *rows, *columns])
}

impl Emitter<'_> {
    /// Emits complex conjugates. Returns real numbers unchanged.
    pub fn conjugate(&mut self, x: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        if !ty.is_complex() {
            return Some(x);
        }
        let [real, imag] = [Op::Real, Op::Imag].map(|op| self.elementwise(ty.real_type(), op, &[x]));
        let imag = self.same(Op::Negate, &[imag]);
        Some(self.elementwise(ty, Op::Complex, &[real, imag]))
    }

    /// Emits the real parts. Returns real numbers unchanged.
    pub fn real_part(&mut self, x: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        Some(if ty.is_complex() { self.elementwise(ty.real_type(), Op::Real, &[x]) } else { x })
    }

    /// Emits the magnitudes, which are real.
    pub fn magnitude(&mut self, x: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        Some(self.elementwise(ty.real_type(), Op::Abs, &[x]))
    }

    /// Divides numbers by real numbers.
    pub fn over_real(&mut self, x: InstrId, by: InstrId) -> Option<InstrId> {
        let ty = self.array(x)?.element_type;
        if !ty.is_complex() {
            return Some(self.same(Op::Divide, &[x, by]));
        }
        let [real, imag] = [Op::Real, Op::Imag].map(|op| self.elementwise(ty.real_type(), op, &[x]));
        let parts = [self.same(Op::Divide, &[real, by]), self.same(Op::Divide, &[imag, by])];
        Some(self.elementwise(ty, Op::Complex, &parts))
    }

    /// Emits a NaN. In a complex number, both parts are NaN.
    pub fn nan(&mut self, ty: ElementType) -> Option<InstrId> {
        let nan = self.number(ty.real_type(), f64::NAN)?;
        Some(if ty.is_complex() { self.elementwise(ty, Op::Complex, &[nan, nan]) } else { nan })
    }

    /// Reshapes an array of matrices to a single batch dimension.
    pub fn matrices(&mut self, x: InstrId) -> Option<InstrId> {
        let sizes = matrix_sizes(&self.array(x)?)?;
        self.reshaped(x, &sizes)
    }

    /// Broadcasts the dimensions of size 1 to the given sizes.
    pub fn broadcast_to_sizes(&mut self, x: InstrId, dims: &[i64]) -> Option<InstrId> {
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

    /// Emits the product of a column and a row for each matrix of a batch.
    pub fn outer(&mut self, column: InstrId, row: InstrId, sizes: &[i64; 3]) -> Option<InstrId> {
        let (column, row) = (self.broadcast_to_sizes(column, sizes)?, self.broadcast_to_sizes(row, sizes)?);
        Some(self.same(Op::Multiply, &[column, row]))
    }

    /// Compares the row numbers (`along` is 1) or column numbers (`along` is 2) of the elements of a batch of
    /// matrices with an index.
    pub fn places(
        &mut self,
        sizes: &[i64; 3],
        along: usize,
        direction: ComparisonDirection,
        index: InstrId,
    ) -> Option<InstrId> {
        let numbers = self.iota(INDEX_TYPE, sizes, along);
        let index = self.spread(numbers, index)?;
        Some(self.relation(numbers, direction, index))
    }
}
