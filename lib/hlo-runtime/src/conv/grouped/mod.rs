//! Convolutions of many small groups, such as depthwise convolutions and the gradients of their filters. The
//! lanes of vectors are groups.
//!
//! A task computes a block of output positions for `L` groups. It packs the input that the block reads, with
//! zeros for the padding, and the filter. In both, the groups are adjacent. The task computes sums in
//! registers and writes them in the layout of the output. So one algorithm handles all layouts, and
//! transpositions stay in the cache.

mod kernel;
mod plan;

use super::Buffers;
use super::axis::{Reach, next};
use super::geometry::Geometry;
use super::lines::{Strided, gather, scatter};
use hlo_runtime_core::{Context, Error, MAX_SPATIAL, Scratch};
pub(super) use kernel::Lanes;
use kernel::{Pixel, Tap, Tile};
use plan::Plan;

/// The minimum number of multiply-adds of a task.
const MIN_TASK_MULTIPLY_ADDS: usize = 1 << 18;
/// The minimum number of groups. With fewer groups, too many lanes are empty.
const MIN_GROUPS: usize = 6;
/// The number of output features of a group that fill vectors without this algorithm.
const LARGE_GROUP_FEATURES: usize = 16;

/// Computes the convolution if it has many small groups. Otherwise returns `None`.
///
/// # Safety
/// As for [`super::hlo_rt_conv`]; `T` must be the accumulator of the geometry's types.
pub(super) unsafe fn conv<T: Lanes>(
    ctx: &Context,
    g: &Geometry,
    buffers: Buffers,
) -> Option<Result<(), Error>> {
    if g.groups < MIN_GROUPS || g.group_out >= LARGE_GROUP_FEATURES || g.positions == 0 || g.group_in == 0 {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        if g.groups <= 16 || size_of::<T>() > 4 {
            Some(Blocks::<T, 16>::new(g, buffers)?.run(ctx))
        } else {
            Some(Blocks::<T, 32>::new(g, buffers)?.run(ctx))
        }
    }
}

/// A convolution split into blocks of `L` groups, batch entries, and rows of output positions.
struct Blocks<'a, T, const L: usize> {
    g: &'a Geometry,
    plan: Plan,
    buffers: Buffers,
    element: std::marker::PhantomData<T>,
}

// SAFETY: tasks write disjoint parts of the output.
unsafe impl<T, const L: usize> Sync for Blocks<'_, T, L> {}

/// The part of the window and of a group's input features that a block sums, as ranges.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    rows: [usize; 2],
    features: [usize; 2],
}

/// The working memory of a thread, and its contents.
struct Work<T> {
    input: *mut T,
    filter: *mut T,
    sums: *mut T,
    taps: *mut Tap,
    pixels: *mut Pixel,
    /// The block of groups and the part of the window whose weights are packed.
    packed: Option<(usize, Part)>,
    /// Whether all packed weights are finite.
    finite: bool,
    _memory: [Scratch; 5],
}

impl<T: Lanes, const L: usize> Blocks<'_, T, L> {
    fn new(g: &Geometry, buffers: Buffers) -> Option<Blocks<'_, T, L>> {
        Some(Blocks { g, plan: Plan::new(g, L)?, buffers, element: std::marker::PhantomData })
    }

    /// # Safety
    /// As for [`conv`].
    unsafe fn run(&self, ctx: &Context) -> Result<(), Error> {
        let (g, plan) = (self.g, &self.plan);
        let row_blocks = plan.axes[0].dim.out_size.div_ceil(plan.out_rows);
        let groups = g.groups.div_ceil(L);
        let too_many = || Error("the convolution has too many blocks".into());
        let tasks =
            row_blocks.checked_mul(g.batch).and_then(|n| n.checked_mul(groups)).ok_or_else(too_many)?;
        let terms = g.positions.saturating_mul(g.group_in).saturating_mul(g.group_out * L);
        let grain = (MIN_TASK_MULTIPLY_ADDS / plan.pixels().saturating_mul(terms).max(1)).clamp(1, tasks);
        ctx.try_for_each(tasks.div_ceil(grain), |chunk| {
            let mut work = self.work()?;
            for task in chunk * grain..tasks.min((chunk + 1) * grain) {
                let (block, rest) = (task / (row_blocks * g.batch), task % (row_blocks * g.batch));
                let first = rest % row_blocks * plan.out_rows;
                let rows = [first, (first + plan.out_rows).min(plan.axes[0].dim.out_size)];
                // SAFETY: the block is inside the output, which the caller guarantees to be valid.
                unsafe { self.block(&mut work, block, rest / row_blocks, rows) };
            }
            Ok(())
        })
    }

    fn work(&self) -> Result<Work<T>, Error> {
        let (g, plan) = (self.g, &self.plan);
        let memory = [
            Scratch::new::<T>(plan.in_rows * plan.line_in * plan.features * L)?,
            Scratch::new::<T>(plan.taps() * g.group_out * L)?,
            Scratch::new::<T>(plan.pixels() * g.group_out * L)?,
            Scratch::new::<Tap>(plan.taps())?,
            Scratch::new::<Pixel>(plan.pixels())?,
        ];
        Ok(Work {
            input: memory[0].pointer(),
            filter: memory[1].pointer(),
            sums: memory[2].pointer(),
            taps: memory[3].pointer(),
            pixels: memory[4].pointer(),
            packed: None,
            finite: true,
            _memory: memory,
        })
    }

    /// Computes output positions `rows` of the first axis for block `block` of the groups and batch entry
    /// `b`.
    ///
    /// # Safety
    /// As for [`conv`]; the block must be inside the output.
    unsafe fn block(&self, work: &mut Work<T>, block: usize, b: usize, rows: [usize; 2]) {
        let (g, plan) = (self.g, &self.plan);
        let axis = &plan.axes[0];
        let sums = (rows[1] - rows[0]) * plan.line_out * g.group_out * L;
        // SAFETY: the working memory has room for whole blocks; the caller guarantees the rest.
        unsafe {
            (0..sums).for_each(|i| work.sums.add(i).write(T::ZERO));
            for z in (0..g.group_in).step_by(plan.features) {
                for w in (0..axis.dim.window).step_by(plan.window_rows) {
                    let part = Part {
                        rows: [w, (w + plan.window_rows).min(axis.dim.window)],
                        features: [z, (z + plan.features).min(g.group_in)],
                    };
                    let reach = axis.reach(rows, part.rows);
                    self.pack_input(work, block, b, reach, part.features);
                    if work.packed != Some((block, part)) {
                        self.pack_filter(work, block, part);
                        work.packed = Some((block, part));
                    }
                    let mut class = [0; MAX_SPATIAL];
                    loop {
                        self.sum_class(work, &class, rows, part, reach);
                        if !next(&mut class[..plan.rank], |d| plan.axes[d].period) {
                            break;
                        }
                    }
                }
            }
            self.write(work, block, b, rows);
        }
    }

    /// Returns the lines of a block of groups in an array with stride `group` between groups and `step` along
    /// the last axis.
    fn lines(&self, operand: usize, block: usize, group: isize, step: isize) -> Strided {
        let groups = (self.g.groups - block * L).min(L);
        Strided { code: self.g.types[operand], step, group, groups }
    }

    /// Packs input positions `reach` of the first axis as `[row][other axes][feature][group]`.
    ///
    /// # Safety
    /// As for [`Self::block`].
    unsafe fn pack_input(
        &self,
        work: &mut Work<T>,
        block: usize,
        b: usize,
        reach: Reach,
        features: [usize; 2],
    ) {
        let (g, plan) = (self.g, &self.plan);
        let depth = (features[1] - features[0]) * L;
        let last = plan.rank - 1;
        let mut reaches = plan.reach;
        reaches[0] = reach;
        let inner = plan.axes[last].dim;
        // The part of a line along the last axis that is inside the input.
        let Reach { low, length } = reaches[last];
        let begin = (-low).clamp(0, length as i64) as usize;
        let end = (inner.in_size - low).clamp(begin as i64, length as i64) as usize;
        let lines = self.lines(0, block, g.lhs_group_stride, inner.lhs_stride);
        let start = (block * L) as isize * g.lhs_group_stride + b as isize * g.lhs_batch_stride;
        let mut at = [0; MAX_SPATIAL];
        let mut to = work.input;
        loop {
            let mut offset = start;
            let mut inside = begin < end;
            for (d, &at) in at.iter().enumerate().take(last) {
                let position = reaches[d].low + at as i64;
                inside &= (0..plan.axes[d].dim.in_size).contains(&position);
                offset += position as isize * plan.axes[d].dim.lhs_stride;
            }
            let (from, until) = if inside { (begin, end) } else { (length, length) };
            // SAFETY: the working memory has room for the lines; those inside the input are readable.
            unsafe {
                (0..from * depth).for_each(|i| to.add(i).write(T::ZERO));
                (until * depth..length * depth).for_each(|i| to.add(i).write(T::ZERO));
                if from < until {
                    let line = offset + (low + from as i64) as isize * inner.lhs_stride;
                    for (i, z) in (features[0]..features[1]).enumerate() {
                        let pointer =
                            self.buffers.lhs.wrapping_offset(line + z as isize * g.lhs_feature_stride);
                        gather::<T, L>(lines, pointer, until - from, to.add(from * depth + i * L), depth);
                    }
                }
                to = to.add(length * depth);
            }
            if !next(&mut at[..last], |d| reaches[d].length) {
                break;
            }
        }
    }

    /// Packs a part of the filter as `[window][feature][output feature][group]`.
    ///
    /// # Safety
    /// As for [`Self::block`].
    unsafe fn pack_filter(&self, work: &mut Work<T>, block: usize, part: Part) {
        let (g, plan) = (self.g, &self.plan);
        let last = plan.rank - 1;
        let depth = (part.features[1] - part.features[0]) * g.group_out * L;
        let dim = plan.axes[last].dim;
        let (from, until) = if last == 0 { (part.rows[0], part.rows[1]) } else { (0, dim.window) };
        let group = g.rhs_out_stride * g.group_out as isize;
        let lines = self.lines(1, block, group, dim.rhs_stride);
        let mut at = [0; MAX_SPATIAL];
        if last > 0 {
            at[0] = part.rows[0];
        }
        let mut to = work.filter;
        loop {
            let offsets = plan.axes[..last].iter().zip(at).map(|(a, w)| w as isize * a.dim.rhs_stride);
            let line = g.rhs_start
                + (block * L) as isize * group
                + offsets.sum::<isize>()
                + from as isize * dim.rhs_stride;
            for (i, z) in (part.features[0]..part.features[1]).enumerate() {
                for f in 0..g.group_out {
                    let offset = line + z as isize * g.rhs_in_stride + f as isize * g.rhs_out_stride;
                    // SAFETY: the working memory has room for the part, which is inside the filter.
                    unsafe {
                        let to = to.add((i * g.group_out + f) * L);
                        gather::<T, L>(
                            lines,
                            self.buffers.rhs.wrapping_offset(offset),
                            until - from,
                            to,
                            depth,
                        );
                    }
                }
            }
            // SAFETY: as above.
            to = unsafe { to.add((until - from) * depth) };
            let more = next(&mut at[..last], |d| plan.axes[d].dim.window);
            if !more || (last > 0 && at[0] >= part.rows[1]) {
                break;
            }
        }
        // Sums omit only the gaps between elements, so only then does it matter whether weights are finite.
        work.finite = plan.axes.iter().all(|a| a.dim.lhs_dilation == 1) || {
            let taps = (part.rows[1] - part.rows[0]) * plan.line_window;
            // SAFETY: packed above.
            (0..taps * depth).all(|i| unsafe { work.filter.add(i).read() }.is_finite())
        };
    }

    /// Sums a part for the output pixels whose positions have the remainders `class`.
    ///
    /// # Safety
    /// The part must be packed.
    unsafe fn sum_class(
        &self,
        work: &Work<T>,
        class: &[usize; MAX_SPATIAL],
        rows: [usize; 2],
        part: Part,
        reach: Reach,
    ) {
        let g = self.g;
        let features = part.features[1] - part.features[0];
        // SAFETY: the lists have room for the block's terms and pixels, which are inside the packed operands.
        unsafe {
            let pixels = self.pixels(work.pixels, class, rows, features);
            let (taps, gaps) = self.taps(work.taps, class, rows[0], part, reach);
            T::tile::<L>(
                &Tile { pixels, taps, input: work.input, filter: work.filter, sums: work.sums },
                g.group_out,
            );
            if !work.finite {
                for pixel in pixels {
                    for &Tap { filter, .. } in gaps {
                        for i in 0..g.group_out * L {
                            let sum = &mut *work.sums.add(pixel.sums as usize + i);
                            *sum = sum.mul_add(T::ZERO, work.filter.add(filter as usize + i).read());
                        }
                    }
                }
            }
        }
    }

    /// Writes the output pixels of a class in `rows` to `list`.
    ///
    /// # Safety
    /// `list` must have room for the pixels.
    unsafe fn pixels<'w>(
        &self,
        list: *mut Pixel,
        class: &[usize; MAX_SPATIAL],
        rows: [usize; 2],
        features: usize,
    ) -> &'w [Pixel] {
        let plan = &self.plan;
        let (depth_in, depth_out) = (features * L, self.g.group_out * L);
        // The number of pixels of each axis, and the distances between them in the packed input and in the
        // sums, in elements.
        let mut counts = [0; MAX_SPATIAL];
        let (mut inputs, mut sums) = ([0; MAX_SPATIAL], [0; MAX_SPATIAL]);
        let (mut start, mut line_in, mut line_out) = (0, depth_in, depth_out);
        for d in (0..plan.rank).rev() {
            let axis = &plan.axes[d];
            let outputs = if d == 0 { rows[1] - rows[0] } else { axis.dim.out_size };
            counts[d] = outputs.saturating_sub(class[d]).div_ceil(axis.period);
            inputs[d] = axis.step * line_in;
            sums[d] = axis.period * line_out;
            start += class[d] * line_out;
            line_in *= plan.reach[d].length;
            line_out *= outputs;
        }
        let mut used = 0;
        if counts[..plan.rank].contains(&0) {
            return &[];
        }
        let last = plan.rank - 1;
        let mut at = [0; MAX_SPATIAL];
        loop {
            let of = |steps: &[usize; MAX_SPATIAL]| steps.iter().zip(at).map(|(s, i)| s * i).sum::<usize>();
            let (mut input, mut sum) = (of(&inputs), start + of(&sums));
            for _ in 0..counts[last] {
                // SAFETY: guaranteed by the caller.
                unsafe { list.add(used).write(Pixel { input: input as u32, sums: sum as u32 }) };
                used += 1;
                input += inputs[last];
                sum += sums[last];
            }
            if !next(&mut at[..last], |d| counts[d]) {
                break;
            }
        }
        // SAFETY: written above.
        unsafe { std::slice::from_raw_parts(list, used) }
    }

    /// Writes the terms of a class of pixels to `list`. Returns the terms on input positions, and the terms
    /// in gaps between elements.
    ///
    /// # Safety
    /// `list` must have room for the terms of the part.
    unsafe fn taps<'w>(
        &self,
        list: *mut Tap,
        class: &[usize; MAX_SPATIAL],
        first_row: usize,
        part: Part,
        reach: Reach,
    ) -> (&'w [Tap], &'w [Tap]) {
        let (g, plan) = (self.g, &self.plan);
        let features = part.features[1] - part.features[0];
        let total = (part.rows[1] - part.rows[0]) * plan.line_window * features;
        let (mut used, mut gaps, mut filter) = (0, 0, 0);
        let mut at = [0; MAX_SPATIAL];
        loop {
            let (mut input, mut inside) = (0, true);
            for (d, axis) in plan.axes.iter().enumerate().take(plan.rank) {
                let (output, window, low, length) = match d {
                    0 => (first_row + class[0], part.rows[0] + at[0], reach.low, reach.length),
                    _ => (class[d], at[d], plan.reach[d].low, plan.reach[d].length),
                };
                let position = axis.at(output, window);
                inside &= position.rem_euclid(axis.dim.lhs_dilation) == 0;
                let stored = position.div_euclid(axis.dim.lhs_dilation) - low;
                input = input * length + stored.max(0) as usize;
            }
            for z in 0..features {
                let tap = Tap { input: ((input * features + z) * L) as u32, filter: filter as u32 };
                filter += g.group_out * L;
                // SAFETY: `used + gaps < total`.
                unsafe {
                    if inside {
                        list.add(used).write(tap);
                        used += 1;
                    } else {
                        gaps += 1;
                        list.add(total - gaps).write(tap);
                    }
                }
            }
            let of = |d: usize| if d == 0 { part.rows[1] - part.rows[0] } else { plan.axes[d].dim.window };
            if !next(&mut at[..plan.rank], of) {
                break;
            }
        }
        // SAFETY: written above.
        unsafe {
            (std::slice::from_raw_parts(list, used), std::slice::from_raw_parts(list.add(total - gaps), gaps))
        }
    }

    /// Writes a block's sums to the output.
    ///
    /// # Safety
    /// As for [`Self::block`].
    unsafe fn write(&self, work: &Work<T>, block: usize, b: usize, rows: [usize; 2]) {
        let (g, plan) = (self.g, &self.plan);
        let last = plan.rank - 1;
        let size = |d: usize| if d == 0 { rows[1] - rows[0] } else { plan.axes[d].dim.out_size };
        let depth = g.group_out * L;
        let group = g.out_feature_stride * g.group_out as isize;
        let lines = self.lines(2, block, group, plan.axes[last].dim.out_stride);
        let start = b as isize * g.out_batch_stride
            + (block * L) as isize * group
            + rows[0] as isize * plan.axes[0].dim.out_stride;
        let mut from = work.sums.cast_const();
        let mut at = [0; MAX_SPATIAL];
        loop {
            let offsets = plan.axes[..last].iter().zip(at).map(|(a, o)| o as isize * a.dim.out_stride);
            let line = start + offsets.sum::<isize>();
            for f in 0..g.group_out {
                let offset = line + f as isize * g.out_feature_stride;
                // SAFETY: the block is inside the output.
                unsafe {
                    let to = self.buffers.out.wrapping_offset(offset);
                    scatter(lines, from.add(f * L), depth, size(last), to);
                }
            }
            // SAFETY: the sums of the block are contiguous.
            from = unsafe { from.add(size(last) * depth) };
            if !next(&mut at[..last], size) {
                break;
            }
        }
    }
}
