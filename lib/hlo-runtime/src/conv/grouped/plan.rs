//! The plan of a convolution of small groups: selects the dimension that is split into blocks, and the size
//! of the blocks.

use super::super::axis::{Axis, Reach};
use super::super::geometry::{Dim, Geometry};
use hlo_runtime_core::MAX_SPATIAL;

/// The number of elements of a block of the packed input, and of a block of sums. With elements of four
/// bytes, both fit the second-level cache together with the packed filter.
const BLOCK_ELEMENTS: usize = 1 << 16;
/// The maximum number of terms (window positions times input features) that are summed before the sums are
/// written to memory.
const MAX_TAPS: usize = 1 << 11;
/// The maximum size of a packed block, in elements. Other algorithms compute sparser windows.
const MAX_BLOCK_ELEMENTS: usize = 1 << 24;

/// The axes, of which the first is split into blocks, and the sizes of the blocks.
pub(super) struct Plan {
    pub(super) axes: [Axis; MAX_SPATIAL],
    pub(super) rank: usize,
    /// The input positions that the whole of each other axis reads.
    pub(super) reach: [Reach; MAX_SPATIAL],
    /// The number of input positions of one line, which consists of all axes except the first.
    pub(super) line_in: usize,
    pub(super) line_out: usize,
    pub(super) line_window: usize,
    /// The number of output positions of the first axis in a block.
    pub(super) out_rows: usize,
    /// The number of window positions of the first axis in a block.
    pub(super) window_rows: usize,
    /// The number of input features of a group in a block.
    pub(super) features: usize,
    /// The maximum number of input positions of the first axis that a block reads.
    pub(super) in_rows: usize,
}

impl Plan {
    /// Returns the plan for vectors of `lanes` groups, or `None` if the window is so sparse that packing its
    /// span would be wasteful.
    pub(super) fn new(g: &Geometry, lanes: usize) -> Option<Plan> {
        let unit = Dim {
            in_size: 1,
            window: 1,
            out_size: 1,
            stride: 1,
            lhs_dilation: 1,
            rhs_dilation: 1,
            ..Dim::default()
        };
        let mut axes = [Axis { dim: unit, period: 1, step: 1 }; MAX_SPATIAL];
        for (axis, dim) in axes.iter_mut().zip(&g.dims) {
            *axis = Axis::new(*dim)?;
        }
        let rank = g.dims.len().max(1);
        // The longest axis is split into blocks; the others keep their order.
        let longest = (0..rank)
            .rev()
            .max_by_key(|&i| (axes[i].dim.out_size.max(axes[i].dim.window), std::cmp::Reverse(i)))
            .unwrap_or(0);
        axes[..=longest].rotate_right(1);
        let mut plan = Plan {
            axes,
            rank,
            reach: [Reach::default(); MAX_SPATIAL],
            line_in: 1,
            line_out: 1,
            line_window: 1,
            out_rows: 1,
            window_rows: 1,
            features: 1,
            in_rows: 1,
        };
        for (axis, reach) in axes[..rank].iter().zip(&mut plan.reach).skip(1) {
            let dim = axis.dim;
            *reach = axis.reach([0, dim.out_size], [0, dim.window]);
            plan.line_in = plan.line_in.checked_mul(reach.length)?;
            plan.line_out = plan.line_out.checked_mul(dim.out_size)?;
            plan.line_window = plan.line_window.checked_mul(dim.window)?;
        }
        plan.choose_blocks(g, lanes)?;
        let packed =
            plan.in_rows.checked_mul(plan.features)?.checked_mul(plan.line_in)?.checked_mul(lanes)?;
        let weights = plan.taps().checked_mul(g.group_out)?.checked_mul(lanes)?;
        let sums = plan.pixels().checked_mul(g.group_out)?.checked_mul(lanes)?;
        (packed.max(weights).max(sums) <= MAX_BLOCK_ELEMENTS).then_some(plan)
    }

    fn choose_blocks(&mut self, g: &Geometry, lanes: usize) -> Option<()> {
        let axis = self.axes[0];
        let line = self.line_in.checked_mul(lanes)?;
        let rows = (BLOCK_ELEMENTS / line).max(1);
        let window = axis.reach([0, 1], [0, axis.dim.window]).length;
        self.features = (rows / window).min(MAX_TAPS / g.positions.max(1)).clamp(1, g.group_in.max(1));
        let rows = (rows / self.features).max(1);
        let sums = self.line_out.checked_mul(g.group_out)?.checked_mul(lanes)?;
        // Blocks of whole periods have the same structure.
        let whole = |n: usize| n.next_multiple_of(axis.period).min(axis.dim.out_size);
        let most = (BLOCK_ELEMENTS / sums).clamp(1, axis.dim.out_size);
        if 2 * window <= rows + 1 || axis.period > 1 {
            self.window_rows = axis.dim.window;
            let more = rows.saturating_sub(window) / axis.step * axis.period;
            self.out_rows = whole((1 + more).min(most));
        } else {
            self.out_rows = whole(most.min(8));
            let taken = (self.out_rows - 1).saturating_mul(axis.step);
            let fit = rows.saturating_sub(taken) / usize::try_from(axis.dim.rhs_dilation).ok()?;
            let taps = MAX_TAPS / self.line_window.saturating_mul(self.features).max(1);
            self.window_rows = fit.min(taps).clamp(1, axis.dim.window);
        }
        // A block that starts at another remainder of the dilation may reach one position further.
        self.in_rows = axis.reach([0, self.out_rows], [0, self.window_rows]).length + 1;
        Some(())
    }

    /// Returns the maximum number of terms that a block sums for one output.
    pub(super) fn taps(&self) -> usize {
        self.window_rows.saturating_mul(self.line_window).saturating_mul(self.features)
    }

    /// Returns the maximum number of output pixels of a block.
    pub(super) fn pixels(&self) -> usize {
        self.out_rows.saturating_mul(self.line_out)
    }
}
