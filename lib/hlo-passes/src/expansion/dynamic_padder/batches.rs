//! Padding of operations that work on the last dimensions and are repeated for all others, which may have any
//! size. The decomposition of a smaller matrix equals that of a larger one extended by the identity.

use super::{Leaves, Padded, Padder, Result, Size, Sizes, of_array};
use crate::support::combiner::identity;
use crate::support::constants::ElementBytes;
use hlo_ir::attr::{ComparisonDirection, FftAttrs, TopkAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, FloatFormat, InstrId, Literal, Op, Opcode, Shape};

impl Padder<'_> {
    /// Returns operand `n` with the identity beyond `size`, the size of both of its last two dimensions.
    fn with_identity(&mut self, n: usize, size: Size) -> Result<InstrId> {
        let value = self.operands()[n];
        let bounds = self.bounds(n)?;
        let Some(size) = size else { return Ok(value) };
        let (rank, dims) = (bounds.rank(), bounds.dims);
        let mut only: Sizes = smallvec::smallvec![None; rank];
        only[rank - 2] = Some(size);
        only[rank - 1] = Some(size);
        let (row, column) =
            (self.iota(ElementType::S32, &dims, rank - 2), self.iota(ElementType::S32, &dims, rank - 1));
        let diagonal = self.compare(ComparisonDirection::Eq, row, column);
        let shape = ArrayShape::new(bounds.element_type, dims.iter().copied());
        let identity = self.add(shape, Op::Convert, &[diagonal]);
        match self.inside(&dims, &only) {
            Some(inside) => Ok(self.select(inside, value, identity)),
            None => Ok(value),
        }
    }

    /// Returns the rank of operand `n`, which must contain matrices.
    fn matrices(&self, n: usize) -> Result<usize> {
        let rank = self.bounds(n)?.rank();
        if rank < 2 { Err(self.unsupported_diag("needs matrices")) } else { Ok(rank) }
    }

    /// Pads a `cholesky`.
    pub(super) fn cholesky(&mut self) -> Result<Padded> {
        let rank = self.matrices(0)?;
        let size = self.paired([(0, rank - 2), (0, rank - 1)])?;
        let value = self.with_identity(0, size)?;
        let mut sizes = self.sizes(0)?;
        sizes[rank - 2] = size;
        sizes[rank - 1] = size;
        Ok(self.keep_with_operands(&[value], of_array(sizes)))
    }

    /// Pads a `triangular-solve`. The other dimension of the right side counts independent equations.
    pub(super) fn triangular_solve(&mut self, left_side: bool) -> Result<Padded> {
        let rank = self.matrices(0)?.min(self.matrices(1)?);
        // The dimension of `b` that contains the unknowns of an equation.
        let unknowns = if left_side { rank - 2 } else { rank - 1 };
        let size = self.paired([(0, rank - 2), (0, rank - 1), (1, unknowns)])?;
        let a = self.with_identity(0, size)?;
        let mut b = self.operands()[1];
        let mut sizes = self.sizes(1)?;
        if size.is_some() {
            let mut only: Sizes = smallvec::smallvec![None; rank];
            only[unknowns] = size;
            let zero = self.zero(self.bounds(1)?.element_type)?;
            b = self.mask(b, &only, zero);
            sizes[unknowns] = size;
        }
        for (d, size) in sizes.iter_mut().enumerate().take(rank - 2) {
            *size = self.paired([(0, d), (1, d)])?;
        }
        Ok(self.keep_with_operands(&[a, b], of_array(sizes)))
    }

    /// Pads an `fft`. `fft_length` fixes the sizes of the last dimensions.
    pub(super) fn fft(&mut self, attrs: &FftAttrs) -> Result<Padded> {
        let (mut sizes, bounds) = (self.sizes(0)?, self.bounds(0)?);
        let batch = bounds.rank().saturating_sub(attrs.fft_length.len());
        for d in batch..bounds.rank() {
            self.check_full_size(sizes[d].take(), bounds.dims[d])?;
        }
        Ok(self.keep(of_array(sizes)))
    }

    /// Adds a check that a size equals its bound.
    pub(super) fn check_full_size(&mut self, size: Size, bound: i64) -> Result<()> {
        if let Some(size) = size {
            let bound = self.s32(bound)?;
            self.check_equal(size, bound);
        }
        Ok(())
    }

    /// Pads a `topk`. Elements beyond the size come last in the order, after elements of equal value.
    pub(super) fn topk(&mut self, attrs: &TopkAttrs) -> Result<Padded> {
        let bounds = self.bounds(0)?;
        let sizes = self.sizes(0)?;
        let Some(last) = bounds.rank().checked_sub(1) else {
            return Err(self.unsupported_diag("needs a dimension"));
        };
        let mut value = self.operands()[0];
        if let Some(size) = sizes[last] {
            let enough = self.at_least(size, attrs.k)?;
            self.check_equal(size, enough);
            let ty = bounds.element_type;
            // NaN counts as larger than any number.
            let nan = FloatFormat::of(ty).map(|f| f.encode(f64::NAN).to_le_bytes());
            let bytes = match (attrs.largest.0, nan) {
                (true, _) => identity(Opcode::Maximum, ty),
                (false, Some(nan)) => nan.get(..ty.byte_size()).map(ElementBytes::from_slice),
                (false, None) => identity(Opcode::Minimum, ty),
            };
            let fill = bytes.and_then(|bytes| Literal::scalar_from_bytes(ty, &bytes));
            let fill = fill
                .ok_or_else(|| self.unsupported_diag("needs a type with a largest and a smallest element"))?;
            let fill = self.add(Shape::scalar(ty), Op::constant(fill), &[]);
            let mut only: Sizes = smallvec::smallvec![None; bounds.rank()];
            only[last] = Some(size);
            value = self.mask(value, &only, fill);
        }
        let mut kept = sizes;
        kept[last] = None;
        let leaves: Leaves = if Self::any(&kept) { vec![kept; 2] } else { Vec::new() };
        Ok(self.keep_with_operands(&[value], leaves))
    }
}
