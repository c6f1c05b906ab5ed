//! The copies of a block: packs the input, and writes sums in memory to the output.

use super::kernel::Tiles;
use super::plan::{Layout, MAX_AXES};
use super::{Block, Part};
use crate::conv::axis::next;
use crate::conv::lines::{Strided, pack, scatter};

impl<T: Tiles> Block<'_, T> {
    /// Packs the input of a part.
    ///
    /// # Safety
    /// `to` must have room for it and for one more vector.
    pub(super) unsafe fn pack_input(&self, layout: &Layout, part: &Part, to: *mut T) {
        let (g, plan) = (self.g, self.plan);
        let last = plan.rank - 1;
        let (line, reach) = (plan.axes[last].dim, layout.reach[last]);
        let features = part.features[1] - part.features[0];
        let start = part.features[0] as isize * g.lhs_feature_stride;
        let mut at = [0; MAX_AXES];
        loop {
            let (mut offset, mut line_to, mut inside) = (start, 0, true);
            for (d, &i) in at.iter().enumerate().take(last) {
                let position = layout.reach[d].low + i as i64;
                inside &= (0..plan.axes[d].dim.in_size).contains(&position);
                offset += position as isize * plan.axes[d].dim.lhs_stride;
                line_to += i * layout.stride[d];
            }
            for phase in 0..plan.phases {
                // Position `first + i * phases` is element `i` of the phase.
                let first = reach.low + phase as i64;
                let until = |position: i64| {
                    let n = (position - first).max(0) as u64;
                    n.div_ceil(plan.phases as u64).min(layout.phase as u64) as usize
                };
                let begin = until(0);
                let end = if inside { until(line.in_size).max(begin) } else { begin };
                let step = line.lhs_stride * plan.phases as isize;
                let from = offset + first as isize * line.lhs_stride + begin as isize * step;
                let from = self.input.wrapping_offset(from);
                let code = g.types[0];
                // SAFETY: the line is inside the buffer, and the elements read are inside the input.
                unsafe {
                    let to = to.add(line_to + phase * layout.phase * layout.stride[last]);
                    if plan.inner_features {
                        let s = Strided { code, step, group: g.lhs_feature_stride, groups: features };
                        zeros(to, begin * features);
                        zeros(to.add(end * features), (layout.phase - end) * features);
                        pack(s, from, end - begin, to.add(begin * features), features);
                    } else {
                        for z in 0..features {
                            let to = to.add(z * layout.feature);
                            zeros(to, begin);
                            zeros(to.add(end), layout.phase - end);
                        }
                        let s =
                            Strided { code, step: g.lhs_feature_stride, group: step, groups: end - begin };
                        pack(s, from, features, to.add(begin), layout.feature);
                    }
                }
            }
            if !next(&mut at[..last], |d| layout.reach[d].length) {
                break;
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { zeros(to.add(layout.volume), T::WIDTH) };
    }

    /// Writes the sums in memory to the output.
    ///
    /// # Safety
    /// All sums must be computed, and the output must be writable.
    pub(super) unsafe fn write(&self, layout: &Layout, mut sums: *const T) {
        let (g, plan) = (self.g, self.plan);
        let (code, last) = (g.types[2], plan.rank - 1);
        let [first, end] = self.features();
        let output = self.output.wrapping_offset(self.start() + first as isize * g.out_feature_stride);
        let line = plan.axes[last].dim.out_stride;
        if !plan.across {
            let size = |d: usize| self.ranges[d][1] - self.ranges[d][0];
            let s = Strided { code, step: line, group: g.out_feature_stride, groups: end - first };
            let mut at = [0; MAX_AXES];
            loop {
                let offset =
                    at.iter().zip(&plan.axes).map(|(&i, a)| i as isize * a.dim.out_stride).sum::<isize>();
                // SAFETY: guaranteed by the caller.
                unsafe {
                    scatter(s, sums, self.depth(), size(last), output.wrapping_offset(offset));
                    sums = sums.add(size(last) * self.depth());
                }
                if !next(&mut at[..last], size) {
                    return;
                }
            }
        }
        plan.for_each_class(&self.ranges, |class| {
            let counts = plan.counts(&self.ranges, class);
            let across = plan.across(layout, &counts, T::WIDTH);
            let group = line * plan.axes[last].period as isize;
            let s = Strided { code, step: g.out_feature_stride, group, groups: counts[last] };
            let mut at = [0; MAX_AXES];
            loop {
                let mut to = class[last] as isize * line;
                for (d, axis) in plan.axes.iter().enumerate().take(last) {
                    to += (class[d] + at[d] * axis.period) as isize * axis.dim.out_stride;
                }
                let from = at.iter().zip(across.stride).map(|(&i, stride)| i * stride).sum::<usize>();
                // SAFETY: guaranteed by the caller.
                unsafe { scatter(s, sums.add(from), across.pitch, end - first, output.wrapping_offset(to)) };
                if !next(&mut at[..last], |d| counts[d]) {
                    break;
                }
            }
            sums = sums.wrapping_add((end - first) * across.pitch);
        });
    }
}

/// # Safety
/// `to` must be writable for `n` elements.
unsafe fn zeros<T: Tiles>(to: *mut T, n: usize) {
    // SAFETY: guaranteed by the caller.
    (0..n).for_each(|i| unsafe { to.add(i).write(T::ZERO) });
}
