//! The operand access of products: `dot`, `ragged-dot` and `scaled-dot`.

use super::operands::{Call, same};
use super::{Access, Axis};
use crate::ArrayShape;
use crate::attr::{DotAttrs, ProductNumbers, RaggedDotAttrs};

impl Call<'_> {
    pub(super) fn dot(&self, a: &DotAttrs) -> Access {
        self.factor(usize::from(self.operand > 0), a.numbers(), 0, &[])
    }

    /// The groups are dimensions of the right operand, whose index is known only at run time. If the sum is
    /// over a part of the ragged dimension, they are dimensions of the result instead.
    pub(super) fn ragged_dot(&self, a: &RaggedDotAttrs) -> Access {
        if self.operand == 2 {
            return Access::Any;
        }
        let ragged = a.lhs_ragged_dims.first();
        let groups = usize::from(ragged.is_some_and(|d| a.lhs_contracting_dims.contains(d)));
        self.factor(self.operand, a.numbers(), groups, &a.rhs_group_dims)
    }

    /// A scale has one element for each block of its operand's elements, or one for all elements.
    pub(super) fn scaled_dot(&self, a: &DotAttrs) -> Access {
        let (numbers, factor) = (a.numbers(), self.operand % 2);
        if self.operand < 2 {
            return self.factor(factor, numbers, 0, &[]);
        }
        let Some(scaled) = (self.array)(factor).filter(|scaled| scaled.rank() == self.from.rank()) else {
            return self.scalar_or_any();
        };
        let Access::Axes(mut axes) = self.factor(factor, numbers, 0, &[]) else { return Access::Any };
        for (d, axis) in axes.iter_mut().enumerate() {
            let (elements, blocks) = (scaled.dims[d], self.from.dims[d]);
            let of = elements.checked_div(blocks).unwrap_or(1).max(1);
            *axis = match *axis {
                _ if elements == blocks => continue,
                // Blocks of a contracting dimension: no other operand has the same number.
                Axis::All(k) => Axis::All((factor + 1) * a.lhs_contracting_dims.len() + k),
                Axis::Along(along) => Axis::Group { dim: along.dim, of, size: 1 },
                _ => Axis::Any,
            };
        }
        Access::Axes(axes)
    }

    /// A factor of a product. The result has `first` other dimensions, then the batch dimensions, then the
    /// remaining dimensions of each operand, without the right operand's `groups`.
    fn factor(&self, factor: usize, numbers: ProductNumbers<'_>, first: usize, groups: &[i64]) -> Access {
        let (batch, contracting) = (numbers.batch[factor], numbers.contracting[factor]);
        let groups = if factor == 0 { &[] } else { groups };
        let before = match factor {
            0 => batch.len(),
            _ => (self.array)(0).map_or(0, ArrayShape::rank).saturating_sub(numbers.contracting[0].len()),
        };
        let mut free = first + before..;
        let axes = (0..self.from.rank() as i64).map(|d| {
            let place = |list: &[i64]| list.iter().position(|&e| e == d);
            match (place(batch), place(contracting)) {
                (Some(k), _) => same(first + k),
                (None, Some(k)) => Axis::All(k),
                (None, None) if groups.contains(&d) => Axis::Any,
                (None, None) => free.next().map_or(Axis::Any, same),
            }
        });
        Access::Axes(axes.collect())
    }
}
