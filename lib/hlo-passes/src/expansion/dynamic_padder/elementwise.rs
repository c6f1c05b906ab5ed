//! Padding of operations that keep the positions of elements, and of those that work on sizes.

use super::{Padded, Padder, Result, Sizes, of_array};
use crate::support::constants::scalar_integer;
use hlo_ir::attr::GetTupleElementAttrs;
use hlo_ir::{Op, Shape};

impl Padder<'_> {
    /// Pads an operation that computes each element from one element of each operand, dimension by dimension,
    /// or that moves whole dimensions. Elements beyond the sizes stay beyond them.
    pub(super) fn followed(&mut self) -> Result<Padded> {
        if !matches!(self.module[self.at].shape, Shape::Array(_)) {
            return Err(self.unsupported_diag("chooses between tuples: use conditional"));
        }
        let sizes = self.loops()?;
        Ok(self.keep(of_array(sizes.result)))
    }

    /// Pads a `bitcast-convert`, which may add or remove a last dimension.
    pub(super) fn bitcast_convert(&mut self) -> Result<Padded> {
        let mut sizes = self.sizes(0)?;
        let rank = self.result_bounds()?.rank();
        if sizes.get(rank..).is_some_and(|gone| gone.iter().any(Option::is_some)) {
            return Err(self.unsupported_diag("drops a dimension that must be whole"));
        }
        sizes.resize(rank, None);
        Ok(self.keep(of_array(sizes)))
    }

    /// Pads a `tuple` or `get-tuple-element`. The sizes follow the leaves.
    pub(super) fn tuples(&mut self, op: &Op) -> Result<Padded> {
        if !self.has_sizes() {
            return Ok(self.keep(Vec::new()));
        }
        if let Op::GetTupleElement(GetTupleElementAttrs { index }) = op {
            let tuple = self.operand_shape(0)?;
            let index = usize::try_from(*index).unwrap_or(usize::MAX);
            let elements = tuple.as_tuple().unwrap_or_default();
            let before: usize = elements.iter().take(index).map(Shape::leaf_count).sum();
            let count = elements.get(index).map_or(0, Shape::leaf_count);
            let leaves: Vec<Sizes> = self.leaves(0).into_iter().skip(before).take(count).collect();
            let any = leaves.iter().any(Self::any);
            return Ok(self.keep(if any { leaves } else { Vec::new() }));
        }
        let mut leaves = Vec::new();
        for n in 0..self.operand_ids().len() {
            let count = self.operand_shape(n)?.leaf_count();
            let mut of_operand = self.leaves(n);
            of_operand.resize(count, Sizes::new());
            leaves.extend(of_operand);
        }
        Ok(self.keep(leaves))
    }

    /// Pads a `set-dimension-size`: returns the operand and records the size. If the array is extended beyond
    /// its old size, the new elements are zero.
    pub(super) fn set_dimension_size(&mut self, dimension: i64) -> Result<Padded> {
        let bounds = self.bounds(0)?;
        let d = usize::try_from(dimension).ok().filter(|&d| d < bounds.rank());
        let d = d.ok_or_else(|| self.unsupported_diag("names a dimension that is not there"))?;
        let [array, size] = self.operands()[..] else {
            return Err(self.unsupported_diag("takes an array and a size"));
        };
        let mut sizes = self.sizes(0)?;
        let mut value = array;
        if let Some(old) = sizes[d] {
            let mut only: Sizes = smallvec::smallvec![None; bounds.rank()];
            only[d] = Some(old);
            let zero = self.zero(bounds.element_type)?;
            value = self.mask(value, &only, zero);
        }
        let given = self.operand_ids().get(1).and_then(|&n| scalar_integer(self.module, n));
        sizes[d] = if given == Some(i128::from(bounds.dims[d])) {
            None
        } else {
            Some(self.clamp_checked(size, bounds.dims[d])?)
        };
        Ok((value, of_array(sizes)))
    }

    /// Replaces a `get-dimension-size` by the recorded size. A dimension that is declared static has its
    /// declared size.
    pub(super) fn get_dimension_size(&mut self, dimension: i64) -> Result<Padded> {
        let shape = self.operand_shape(0)?;
        let bounds = self.bounds(0)?;
        let d = usize::try_from(dimension).ok().filter(|&d| d < bounds.rank());
        let d = d.ok_or_else(|| self.unsupported_diag("names a dimension that is not there"))?;
        let dynamic = shape.as_array().is_some_and(|a| a.is_dynamic_dim(d));
        let size = self.sizes(0)?[d].filter(|_| dynamic);
        Ok((self.known_size(size, bounds.dims[d])?, Vec::new()))
    }
}
