//! The packed filter: panels of output features. Each panel contains the terms in the order of the filter's
//! memory.

use super::kernel::Tiles;
use super::plan::{Index, MAX_AXES, Plan};
use crate::conv::axis::next;
use crate::conv::geometry::Geometry;
use crate::conv::lines::{Strided, pack};

/// A dimension of the terms in the filter's memory: the input features or a window dimension.
#[derive(Clone, Copy, Default)]
struct Run {
    /// Distance from one element to the next, in bytes.
    stride: isize,
    size: usize,
    /// The pixel axis of a window dimension; `None` for the features.
    axis: Option<usize>,
}

/// The order of the terms.
pub(super) struct Filter {
    /// The dimensions, the slowest varying first.
    runs: [Run; MAX_AXES + 1],
    rank: usize,
    /// Distance in terms between adjacent window positions of each axis; negative for a reversed window.
    pub(super) step: [isize; MAX_AXES],
    /// The term of the first window position and feature.
    pub(super) first: isize,
    /// Distance in terms between adjacent input features.
    pub(super) feature: usize,
    /// The number of terms.
    pub(super) terms: usize,
    /// The offset of the first element in memory from the start of the filter, in bytes.
    start: isize,
}

impl Filter {
    pub(super) fn new(g: &Geometry, plan: &Plan) -> Filter {
        let mut runs = [Run { stride: 0, size: 1, axis: None }; MAX_AXES + 1];
        runs[0] = Run { stride: g.rhs_in_stride, size: g.group_in, axis: None };
        let mut start = g.rhs_start;
        for (d, axis) in plan.axes.iter().enumerate().take(plan.rank) {
            let (stride, size) = (axis.dim.rhs_stride, axis.dim.window);
            runs[d + 1] = Run { stride: stride.wrapping_abs(), size, axis: Some(d) };
            if stride < 0 {
                start += stride * (size as isize - 1);
            }
        }
        let rank = plan.rank + 1;
        // Dimensions of a single element have no meaningful stride and come first.
        runs[..rank].sort_by_key(|run| (run.size != 1, std::cmp::Reverse(run.stride)));
        let mut filter = Filter { runs, rank, step: [0; MAX_AXES], first: 0, feature: 0, terms: 1, start };
        for run in runs[..rank].iter().rev() {
            match run.axis {
                Some(d) if plan.axes[d].dim.rhs_stride < 0 => {
                    filter.step[d] = -(filter.terms as isize);
                    filter.first += (filter.terms * (run.size - 1)) as isize;
                }
                Some(d) => filter.step[d] = filter.terms as isize,
                None => filter.feature = filter.terms,
            }
            filter.terms *= run.size;
        }
        // Dimensions that are contiguous in memory are packed as one run.
        while let [.., outer, inner] = filter.runs[..filter.rank] {
            if outer.size != 1 && outer.stride != inner.stride.wrapping_mul(inner.size as isize) {
                break;
            }
            filter.rank -= 1;
            filter.runs[filter.rank - 1] = Run { size: outer.size * inner.size, ..inner };
        }
        filter
    }

    /// Returns the term of a window position and the first feature.
    pub(super) fn term(&self, window: &Index) -> isize {
        self.first + self.step.iter().zip(window).map(|(s, &w)| s * w as isize).sum::<isize>()
    }

    /// Packs a panel as `[term][feature]`, with zeros for missing features.
    ///
    /// # Safety
    /// `filter` must be readable for the features in `features` and all terms, and `to` writable for all
    /// terms of a panel.
    pub(super) unsafe fn pack<T: Tiles>(
        &self,
        g: &Geometry,
        panel: usize,
        features: [usize; 2],
        filter: *const u8,
        mut to: *mut T,
    ) {
        let count = features[1] - features[0];
        let Some((run, outer)) = self.runs[..self.rank].split_last() else { return };
        let lines = Strided { code: g.types[1], step: run.stride, group: g.rhs_out_stride, groups: count };
        let filter = filter.wrapping_offset(self.start + features[0] as isize * g.rhs_out_stride);
        let mut at = [0; MAX_AXES + 1];
        loop {
            let from = outer.iter().zip(at).map(|(run, i)| run.stride * i as isize).sum::<isize>();
            // SAFETY: guaranteed by the caller.
            unsafe {
                pack(lines, filter.wrapping_offset(from), run.size, to, panel);
                for i in 0..if count < panel { run.size } else { 0 } {
                    (count..panel).for_each(|f| to.add(i * panel + f).write(T::ZERO));
                }
                to = to.add(run.size * panel);
            }
            if !next(&mut at[..outer.len()], |d| outer[d].size) {
                return;
            }
        }
    }
}
