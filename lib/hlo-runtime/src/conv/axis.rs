//! Axes of an output: which input positions a range of outputs reads.

use super::geometry::{Dim, greatest_common_divisor};

/// One spatial dimension.
#[derive(Clone, Copy, Default)]
pub(super) struct Axis {
    pub(super) dim: Dim,
    /// Output positions that are equal modulo this read the input under the same window positions. It is 1 unless
    /// the input is dilated.
    pub(super) period: usize,
    /// Input positions from one output position to the next with the same remainder.
    pub(super) step: usize,
}

/// The input positions that a range of output positions reads: `length` from `low` on, some of them in the padding.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) low: i64,
    pub(super) length: usize,
}

impl Axis {
    /// `None` if positions could overflow.
    pub(super) fn new(dim: Dim) -> Option<Axis> {
        let common = greatest_common_divisor(dim.stride, dim.lhs_dilation);
        let period = usize::try_from(dim.lhs_dilation / common).ok()?;
        let step = usize::try_from(dim.stride / common).ok()?;
        // All positions fit, so that later arithmetic on them can't overflow.
        let span = |n: usize, by: i64| i64::try_from(n).ok()?.checked_mul(by);
        let reach = span(dim.out_size, dim.stride)?.checked_add(span(dim.window, dim.rhs_dilation)?)?;
        reach.checked_add(dim.pad_low.checked_abs()?)?.checked_add(dim.in_size)?;
        Some(Axis { dim, period, step })
    }

    /// The dilated input position under window element `w` of output position `o`.
    pub(super) fn at(&self, o: usize, w: usize) -> i64 {
        self.dim.first(o) + w as i64 * self.dim.rhs_dilation
    }

    /// The window positions of a range under which output `o` meets elements of the input, or its padding, and not what
    /// is between elements: the first one, how many, and from one to the next.
    pub(super) fn on_elements(&self, o: usize, window: [usize; 2]) -> (usize, usize, usize) {
        let apart =
            self.dim.lhs_dilation / greatest_common_divisor(self.dim.rhs_dilation, self.dim.lhs_dilation);
        let [from, to] = window;
        let apart = usize::try_from(apart).unwrap_or(usize::MAX);
        let first = (from..to.min(from.saturating_add(apart)))
            .find(|&w| self.at(o, w).rem_euclid(self.dim.lhs_dilation) == 0);
        first.map_or((from, 0, apart), |first| (first, (to - first).div_ceil(apart), apart))
    }

    /// What `outputs` (not none) read under window elements `window` (not none).
    pub(super) fn reach(&self, outputs: [usize; 2], window: [usize; 2]) -> Reach {
        let low = self.at(outputs[0], window[0]).div_euclid(self.dim.lhs_dilation);
        let high = self.at(outputs[1] - 1, window[1] - 1).div_euclid(self.dim.lhs_dilation);
        Reach { low, length: (high - low + 1) as usize }
    }
}

/// Steps `at` to the next index of a box; false after the last, with `at` all zeros again.
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
