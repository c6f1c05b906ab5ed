//! Axes of an output: computes the input positions that a range of outputs reads.

use super::geometry::{Dim, greatest_common_divisor};

/// A spatial dimension.
#[derive(Clone, Copy, Default)]
pub(super) struct Axis {
    pub(super) dim: Dim,
    /// Output positions that are equal modulo `period` read the input at the same window positions. The
    /// period is 1 unless the input is dilated.
    pub(super) period: usize,
    /// The distance in input positions between an output position and the next one with the same remainder.
    pub(super) step: usize,
}

/// The input positions that a range of output positions reads: `length` positions starting at `low`. Some of
/// them may be padding.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) low: i64,
    pub(super) length: usize,
}

impl Axis {
    /// Creates an axis. Returns `None` if positions could overflow.
    pub(super) fn new(dim: Dim) -> Option<Axis> {
        let common = greatest_common_divisor(dim.stride, dim.lhs_dilation);
        let period = usize::try_from(dim.lhs_dilation / common).ok()?;
        let step = usize::try_from(dim.stride / common).ok()?;
        // Checks that all positions fit, so that later arithmetic on them cannot overflow.
        let span = |n: usize, by: i64| i64::try_from(n).ok()?.checked_mul(by);
        let reach = span(dim.out_size, dim.stride)?.checked_add(span(dim.window, dim.rhs_dilation)?)?;
        reach.checked_add(dim.pad_low.checked_abs()?)?.checked_add(dim.in_size)?;
        Some(Axis { dim, period, step })
    }

    /// Returns the dilated input position at window element `w` of output position `o`.
    pub(super) fn at(&self, o: usize, w: usize) -> i64 {
        self.dim.first(o) + w as i64 * self.dim.rhs_dilation
    }

    /// Returns the positions in `window` at which output `o` reads elements of the input or its padding, but not
    /// the gaps between elements. The result is the first position, the number of positions, and the distance
    /// between them.
    pub(super) fn on_elements(&self, o: usize, window: [usize; 2]) -> (usize, usize, usize) {
        let apart =
            self.dim.lhs_dilation / greatest_common_divisor(self.dim.rhs_dilation, self.dim.lhs_dilation);
        let [from, to] = window;
        let apart = usize::try_from(apart).unwrap_or(usize::MAX);
        let first = (from..to.min(from.saturating_add(apart)))
            .find(|&w| self.at(o, w).rem_euclid(self.dim.lhs_dilation) == 0);
        first.map_or((from, 0, apart), |first| (first, (to - first).div_ceil(apart), apart))
    }

    /// Returns the input positions that `outputs` reads at the window elements `window`. Neither range may be
    /// empty.
    pub(super) fn reach(&self, outputs: [usize; 2], window: [usize; 2]) -> Reach {
        let low = self.at(outputs[0], window[0]).div_euclid(self.dim.lhs_dilation);
        let high = self.at(outputs[1] - 1, window[1] - 1).div_euclid(self.dim.lhs_dilation);
        Reach { low, length: (high - low + 1) as usize }
    }
}

/// Advances `at` to the next index of a box. Returns false after the last index, with `at` reset to zeros.
pub(super) fn next(at: &mut [usize], size: impl Fn(usize) -> usize) -> bool {
    for d in (0..at.len()).rev() {
        at[d] += 1;
        if at[d] < size(d) {
            return true;
        }
        at[d] = 0;
    }
    false
}
