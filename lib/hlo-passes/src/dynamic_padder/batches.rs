//! Operations that work on the last dimensions and repeat that for all others: only those may be dynamic. Collectives
//! of one device, which give what they are given.

use super::{Leaves, Padded, Padder, Result, Sizes, of_array, reduction};
use crate::support::constants::{ElementBytes, constant_op, scalar_literal};
use hlo_ir::attr::TopkAttrs;
use hlo_ir::{FloatFormat, Op, Opcode, Shape};

impl Padder<'_> {
    /// The sizes of operand `n`, whose last `whole` dimensions must have their bounds.
    fn batch_sizes(&self, n: usize, whole: usize) -> Result<Sizes> {
        let sizes = self.sizes(n)?;
        let batch = sizes.len().saturating_sub(whole);
        if sizes.iter().skip(batch).any(Option::is_some) {
            return Err(
                self.refuse(&format!("needs its last {whole} dimensions whole: interpret the module"))
            );
        }
        Ok(sizes)
    }

    /// An operation on the last `whole` dimensions of its one operand.
    pub(super) fn on_last(&mut self, whole: usize) -> Result<Padded> {
        let sizes = self.batch_sizes(0, whole)?;
        Ok(self.keep(of_array(sizes)))
    }

    /// `triangular-solve`: the columns of the right side are as many equations, the rest is whole.
    pub(super) fn triangular_solve(&mut self, left_side: bool) -> Result<Padded> {
        let rank = self.batch_sizes(0, 2)?.len();
        let right = self.sizes(1)?;
        // The dimension of `b` that holds an equation's unknowns.
        let unknowns = rank.saturating_sub(if left_side { 2 } else { 1 });
        if right.get(unknowns).copied().flatten().is_some() {
            return Err(self.refuse("needs all unknowns of an equation: interpret the module"));
        }
        let mut sizes = right.clone();
        for (d, size) in sizes.iter_mut().enumerate().take(rank.saturating_sub(2)) {
            *size = self.paired([(0, d), (1, d)])?;
        }
        Ok(self.keep(of_array(sizes)))
    }

    /// `topk`: what is beyond the size is last in the order, and later than what is as large.
    pub(super) fn topk(&mut self, attrs: &TopkAttrs) -> Result<Padded> {
        let bounds = self.bounds(0)?;
        let sizes = self.sizes(0)?;
        let Some(last) = bounds.rank().checked_sub(1) else { return Err(self.refuse("needs a dimension")) };
        let mut value = self.operands()[0];
        if let Some(size) = sizes[last] {
            let enough = self.at_least(size, attrs.k)?;
            self.must_equal(size, enough);
            let ty = bounds.element_type;
            // NaN counts as larger than any number.
            let nan = FloatFormat::of(ty).map(|f| f.encode(f64::NAN).to_le_bytes());
            let bytes = match (attrs.largest.0, nan) {
                (true, _) => reduction::identity(Opcode::Maximum, ty),
                (false, Some(nan)) => nan.get(..ty.byte_size()).map(ElementBytes::from_slice),
                (false, None) => reduction::identity(Opcode::Minimum, ty),
            };
            let fill = bytes.and_then(|bytes| scalar_literal(ty, &bytes));
            let fill =
                fill.ok_or_else(|| self.refuse("needs a type with a largest and a smallest element"))?;
            let fill = self.add(Shape::scalar(ty), constant_op(fill), &[]);
            let mut only: Sizes = smallvec::smallvec![None; bounds.rank()];
            only[last] = Some(size);
            value = self.mask(value, &only, fill);
        }
        let mut kept = sizes;
        kept[last] = None;
        let leaves: Leaves = if Self::any(&kept) { vec![kept; 2] } else { Vec::new() };
        Ok(self.keep_on(&[value], leaves))
    }

    /// A collective of one device that gives its operands: one as it is, several as a tuple.
    pub(super) fn exchanged(&mut self, op: &Op) -> Result<Padded> {
        let mut leaves = Leaves::new();
        for n in 0..self.operand_ids().len() {
            leaves.push(self.sizes(n)?);
        }
        let results = self.module[self.at].shape.leaf_count();
        if leaves.len() != results {
            return Err(self.refuse(&format!("splits or joins arrays: `{}` is not compiled", op.name())));
        }
        let any = leaves.iter().any(Self::any);
        Ok(self.keep(if any { leaves } else { Vec::new() }))
    }
}
