//! The run-time sizes of an operation's loops, derived from the elements that it reads.

use super::{Padder, Result, Sizes};
use hlo_ir::access::{Loop, loops};
use hlo_ir::attr::WindowDim;
use hlo_ir::{InstrId, Shape};

/// The sizes that are known only at run time.
pub(super) struct LoopSizes {
    /// The sizes of the result's dimensions.
    pub(super) result: Sizes,
    /// For each operand, the sizes of the dimensions whose elements are combined into one element of the
    /// result.
    pub(super) combined: Vec<Sizes>,
}

impl Padder<'_> {
    /// Returns the sizes of the instruction's loops. Dimensions that share a loop have the smallest of their
    /// sizes.
    pub(super) fn loops(&mut self) -> Result<LoopSizes> {
        // Use the declared shapes, because a padded value may be a tuple of the array and its sizes.
        let declared: Vec<Shape> =
            (0..self.operand_ids().len()).map(|n| self.operand_shape(n)).collect::<Result<_>>()?;
        let (op, shape) = (&self.module[self.at].op, &self.module[self.at].shape);
        let windows = op.window().to_vec();
        let walked = loops(op, &declared.iter().collect::<Vec<_>>(), shape);
        let rank = |shape: &Shape| shape.leaves().first().and_then(|s| s.as_array()).map_or(0, |a| a.rank());
        let none = |shape: &Shape| -> Sizes { smallvec::smallvec![None; rank(shape)] };
        let mut sizes = LoopSizes { result: none(shape), combined: declared.iter().map(none).collect() };
        for (runs, dims) in walked {
            let Some(size) = self.paired(dims.iter().copied())? else { continue };
            if let Loop::All(_) | Loop::Window { .. } = runs {
                for &(n, d) in &dims {
                    sizes.combined[n][d] = Some(size);
                }
            }
            let along = match (runs, dims.first()) {
                (Loop::Result(dim), _) => Some((dim, size)),
                (Loop::Window { dim, window }, Some(&(n, d))) => {
                    let window = windows.get(window).copied().unwrap_or_default();
                    Some((dim, self.window_places(size, self.bounds(n)?.dims[d], &window)?))
                }
                _ => None,
            };
            if let Some((dim, size)) = along
                && let Some(slot) = sizes.result.get_mut(dim)
            {
                *slot = Some(size);
            }
        }
        Ok(sizes)
    }

    /// Returns how many times a window fits into `size` elements.
    pub(super) fn window_places(&mut self, size: InstrId, bound: i64, w: &WindowDim) -> Result<InstrId> {
        // Fail if an intermediate value could exceed an `s32`.
        self.s32(
            bound.saturating_mul(w.lhs_dilate).saturating_add(w.stride).saturating_add(w.pad_low.max(0)),
        )?;
        let dilation = self.s32(w.lhs_dilate)?;
        let dilated = self.times(size, dilation)?;
        let dilated = self.offset(dilated, 1 - w.lhs_dilate)?;
        let dilated = if w.lhs_dilate == 1 { dilated } else { self.at_least(dilated, 0)? };
        let reach = if w.size == 0 { 0 } else { (w.size - 1).saturating_mul(w.rhs_dilate).saturating_add(1) };
        let constant = w.pad_low.saturating_add(w.pad_high).saturating_sub(reach).saturating_add(w.stride);
        let room = self.offset(dilated, constant)?;
        let room = self.at_least(room, 0)?;
        self.divide(room, w.stride)
    }
}
