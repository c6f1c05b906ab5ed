//! The lists of a block: the terms of a class of pixels, and the pixels.

use super::kernel::{Tap, Tiles};
use super::plan::{Index, Layout, MAX_AXES, Places};
use super::{Block, Part};
use crate::conv::axis::next;

impl<T: Tiles> Block<'_, T> {
    /// Writes the terms of a class of pixels, in the order of the filter, to `list`.
    ///
    /// # Safety
    /// `list` must have room for the terms of the part.
    pub(super) unsafe fn taps<'w>(
        &self,
        layout: &Layout,
        part: &Part,
        class: &Index,
        list: *mut Tap,
    ) -> &'w [Tap] {
        let (plan, filter) = (self.plan, self.filter);
        let last = plan.rank - 1;
        // The window positions on input elements: the first one, their number, and the distance between them.
        let mut windows = [(0, 1, 1); MAX_AXES];
        for (d, window) in windows.iter_mut().enumerate().take(plan.rank) {
            let axis = &plan.axes[d];
            let [from, to] = if d == plan.window_axis { part.window } else { [0, axis.dim.window] };
            *window = axis.on_elements(self.ranges[d][0] + class[d], [from, to]);
        }
        let [first, end] = part.features;
        let (features, mut used) = (end - first, 0);
        if windows.iter().any(|&(_, count, _)| count == 0) {
            return &[];
        }
        // First the terms of the first feature.
        let mut at = [0; MAX_AXES];
        loop {
            let (mut input, mut window) = (0, [0; MAX_AXES]);
            for (d, axis) in plan.axes.iter().enumerate().take(plan.rank) {
                window[d] = windows[d].0 + at[d] * windows[d].2;
                let position = axis.at(self.ranges[d][0] + class[d], window[d]);
                let i = (position.div_euclid(axis.dim.lhs_dilation) - layout.reach[d].low).max(0) as usize;
                let i = if d == last { i % plan.phases * layout.phase + i / plan.phases } else { i };
                input += i * layout.stride[d];
            }
            let term = filter.term(&window) as usize + first * filter.feature;
            let tap = Tap { input: input as u32, filter: (term * plan.panel) as u32 };
            // SAFETY: guaranteed by the caller.
            unsafe { list.add(used).write(tap) };
            used += 1;
            if !next(&mut at[..plan.rank], |d| windows[d].1) {
                break;
            }
        }
        // Then the other features, starting with the last, so that each position is read before it is
        // overwritten.
        let feature = (layout.feature as u32, (filter.feature * plan.panel) as u32);
        for n in (0..used * features).rev() {
            let (at, z) =
                if filter.feature == 1 { (n / features, n % features) } else { (n % used, n / used) };
            // SAFETY: guaranteed by the caller; `at` is not after `n`.
            unsafe {
                let Tap { input, filter } = list.add(at).read();
                let z = z as u32;
                list.add(n).write(Tap { input: input + z * feature.0, filter: filter + z * feature.1 });
            }
        }
        // SAFETY: written above.
        unsafe { std::slice::from_raw_parts(list, used * features) }
    }

    /// Returns the pixels of a class one by one. Their sums are in the output, or contiguous in memory.
    pub(super) fn single_pixels(&self, layout: &Layout, class: &Index, counts: &Index) -> Places {
        let plan = self.plan;
        let mut places = Places { counts: *counts, input: [0; MAX_AXES], sums: [0; MAX_AXES], start: 0 };
        let mut dense = self.depth() as isize;
        for (d, axis) in plan.axes.iter().enumerate().take(plan.rank).rev() {
            let stride = if plan.stored { axis.dim.out_stride / size_of::<T>() as isize } else { dense };
            dense *= (self.ranges[d][1] - self.ranges[d][0]) as isize;
            places.input[d] = plan.pixel_step(layout, d);
            places.sums[d] = stride * axis.period as isize;
            places.start += stride * class[d] as isize;
        }
        places
    }
}
