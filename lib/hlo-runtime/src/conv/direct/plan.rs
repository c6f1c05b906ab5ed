//! The plan of a direct convolution: whether vectors contain features or pixels, and the size of the blocks.

use super::kernel::{FEATURES, Place, Tiles, VECTORS};
use crate::conv::axis::{Axis, Reach, next};
use crate::conv::geometry::{Dim, Geometry};
use crate::conv::lines::is_same;
use hlo_runtime_core::MAX_SPATIAL;

/// The maximum number of pixel axes: the batch and the spatial dimensions.
pub(super) const MAX_AXES: usize = MAX_SPATIAL + 1;
/// One number for each axis.
pub(super) type Index = [usize; MAX_AXES];

/// The size in bytes of a block of the packed input, and of a block of sums. Both fit the second-level cache
/// together with a part of the filter.
const BLOCK_BYTES: usize = 1 << 19;
/// The maximum size of a block, in elements. Other algorithms compute sparser windows.
const MAX_BLOCK_ELEMENTS: usize = 1 << 24;
/// The maximum number of terms that are summed before the sums are written to memory.
const MAX_TAPS: usize = 1 << 12;
/// A line with fewer positions is short.
const SHORT_LINE_POSITIONS: usize = 16;
/// The maximum ratio of the elements that all blocks read to the elements of the input.
const MAX_READ_RATIO: usize = 4;
/// The number of multiply-adds of a task.
const TASK_MULTIPLY_ADDS: usize = 1 << 22;
/// The maximum number of packed filter elements that are kept at a time.
pub(super) const MAX_PACKED_ELEMENTS: usize = 16 << 20;
/// The desired number of tasks.
const TARGET_TASKS: usize = 16;

pub(super) struct Plan {
    /// The pixel axes, the slowest varying in the input first.
    pub(super) axes: [Axis; MAX_AXES],
    pub(super) rank: usize,
    /// Whether vectors contain pixels; otherwise they contain features.
    pub(super) across: bool,
    /// Whether the features of one position are adjacent in the packed input.
    pub(super) inner_features: bool,
    /// Positions of the last axis that are equal modulo this number are adjacent in the packed input.
    pub(super) phases: usize,
    /// The axis that is cut into ranges. A block has one output of each earlier axis, a range of outputs of
    /// this axis, and all outputs of the later axes.
    pub(super) cut: usize,
    /// The number of outputs of the range.
    pub(super) rows: usize,
    /// The axis whose window is split into parts, and the number of window positions of a part.
    pub(super) window_axis: usize,
    pub(super) window_rows: usize,
    /// The number of input features of a part.
    pub(super) features: usize,
    /// The number of output features of a panel.
    pub(super) panel: usize,
    /// The number of panels of a group.
    pub(super) panels: usize,
    /// The number of panels of a task.
    pub(super) panels_a_task: usize,
    /// Whether tiles store their sums directly in the output.
    pub(super) stored: bool,
    /// Whether the input is dilated.
    pub(super) dilated: bool,
}

/// The range of outputs of each axis.
pub(super) type Ranges = [[usize; 2]; MAX_AXES];

/// The layout of the packed input of a block, for a part of the window and of the features.
pub(super) struct Layout {
    pub(super) reach: [Reach; MAX_AXES],
    /// Distance from one position to the next, in elements; for the last axis, within a phase.
    pub(super) stride: Index,
    /// Distance from one feature to the next, in elements.
    pub(super) feature: usize,
    /// The number of positions of a phase of the last axis.
    pub(super) phase: usize,
    /// The total number of elements.
    pub(super) volume: usize,
}

impl Plan {
    /// Returns the cheaper of the two plans. Returns `None` if packing the span of the window would be
    /// wasteful, or if a pixel takes more than `most` cycles.
    pub(super) fn new<T: Tiles>(g: &Geometry, most: f64) -> Option<Plan> {
        let ways = [false, true].map(|across| Plan::of::<T>(g, across));
        let best = ways.into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1));
        best.filter(|(_, cost)| *cost <= most).map(|(plan, _)| plan)
    }

    /// Returns the plan for vectors of features or of pixels, and its estimated cost per pixel in cycles.
    fn of<T: Tiles>(g: &Geometry, across: bool) -> Option<(Plan, f64)> {
        let (axes, rank) = axes(g)?;
        let last = axes[rank - 1];
        let panel = if across {
            g.group_out.div_ceil(g.group_out.div_ceil(FEATURES))
        } else {
            let vectors = g.group_out.div_ceil(T::WIDTH);
            vectors.div_ceil(vectors.div_ceil(VECTORS)) * T::WIDTH
        };
        let panels = g.group_out.div_ceil(panel);
        let window_axis = (0..rank).max_by_key(|&d| axes[d].dim.window)?;
        let features_first = g.lhs_feature_stride.unsigned_abs() <= last.dim.lhs_stride.unsigned_abs();
        let mut plan = Plan {
            axes,
            rank,
            across,
            inner_features: !across && features_first,
            phases: if across { last.step } else { 1 },
            cut: 0,
            rows: 1,
            window_axis,
            window_rows: axes[window_axis].dim.window,
            features: g.group_in,
            panel,
            panels,
            panels_a_task: panels,
            stored: false,
            dilated: axes.iter().any(|a| a.dim.lhs_dilation != 1),
        };
        // Blocks must be large enough that together they do not read much more than the input.
        for times in [1, 4, 16] {
            plan.choose_blocks(g, T::WIDTH, times * BLOCK_BYTES / size_of::<T>())?;
            let all = plan.volume(0, axes[0].dim.out_size)?;
            if plan.volume(plan.cut, plan.rows)?.saturating_mul(plan.blocks()?)
                <= all.saturating_mul(MAX_READ_RATIO)
            {
                break;
            }
        }
        let size = g.types[2].byte_size() as isize;
        let features_dense = g.out_feature_stride == size;
        plan.stored = !across
            && plan.parts(g) == 1
            && features_dense
            && is_same::<T>(g.types[2])
            && g.group_out.is_multiple_of(T::WIDTH);
        let terms = plan.taps_of_all(g)?.checked_mul(panel)?;
        u32::try_from(terms).ok()?;
        let cost = plan.cost(g, T::WIDTH, features_first, features_dense);
        Some((plan, cost))
    }

    fn choose_blocks(&mut self, g: &Geometry, width: usize, block: usize) -> Option<()> {
        let others = g.positions / self.axes[self.window_axis].dim.window;
        self.features = (MAX_TAPS / g.positions).clamp(1, g.group_in);
        self.window_rows = (MAX_TAPS / others).clamp(1, self.axes[self.window_axis].dim.window);
        // The first axis for which one output of it, with all later axes, fits.
        let fits = |plan: &Plan| (0..plan.rank).find(|&cut| plan.volume(cut, 1).is_some_and(|v| v <= block));
        let mut cut = fits(self);
        while cut.is_none() && self.features > 1 {
            self.features = self.features.div_ceil(2);
            cut = fits(self);
        }
        self.cut = cut.unwrap_or(self.rank - 1);
        let outputs = self.axes[self.cut].dim.out_size;
        let behind = self.axes[self.cut + 1..self.rank].iter().map(|a| a.dim.out_size).product::<usize>();
        // The sums of a row may be in memory, each with up to one more vector.
        let depth = self.panels * self.panel;
        let sums = behind.max(width).checked_mul(depth)?;
        let work = behind.saturating_mul(depth).saturating_mul(g.positions).saturating_mul(g.group_in);
        let most = (block / sums.max(1)).min(TASK_MULTIPLY_ADDS.div_ceil(work.max(1))).clamp(1, outputs);
        let fits = |rows: usize| self.volume(self.cut, rows).is_some_and(|v| v <= block);
        // Bisection works because more rows read more elements.
        let (mut rows, mut above) = (1, most + 1);
        while above - rows > 1 {
            let middle = rows.midpoint(above);
            if fits(middle) { rows = middle } else { above = middle }
        }
        let blocks = outputs.div_ceil(rows.next_multiple_of(self.axes[self.cut].period));
        self.rows = outputs.div_ceil(blocks);
        self.volume(self.cut, self.rows).filter(|&v| v <= MAX_BLOCK_ELEMENTS)?;
        let tasks = self.blocks()?.checked_mul(g.groups)?;
        let terms = self.taps_of_all(g)?;
        let useful = g.pixels.saturating_mul(depth).saturating_mul(terms) / TASK_MULTIPLY_ADDS;
        let chunks = TARGET_TASKS.min(useful).div_ceil(tasks.max(1)).clamp(1, self.panels);
        let fit = (MAX_PACKED_ELEMENTS / self.panel.checked_mul(terms)?).max(1);
        self.panels_a_task = self.panels.div_ceil(chunks).min(fit);
        Some(())
    }

    /// Returns the maximum number of elements of a part of the packed input, for blocks of `rows` outputs of
    /// axis `cut`.
    fn volume(&self, cut: usize, rows: usize) -> Option<usize> {
        let mut volume = self.features;
        for (d, axis) in self.axes.iter().enumerate().take(self.rank) {
            let outputs = match d.cmp(&cut) {
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Equal => rows,
                std::cmp::Ordering::Greater => axis.dim.out_size,
            };
            let window = if d == self.window_axis { self.window_rows } else { axis.dim.window };
            // A block that starts at another remainder of the dilation may reach one position further.
            let length =
                axis.reach([0, outputs], [0, window]).length + usize::from(axis.dim.lhs_dilation > 1);
            let phases = if d == self.rank - 1 { self.phases } else { 1 };
            volume = volume.checked_mul(length.checked_next_multiple_of(phases)?)?;
        }
        Some(volume)
    }

    /// Returns the maximum number of elements of the packed input, including one vector that is read after
    /// its end.
    pub(super) fn largest(&self, width: usize) -> usize {
        self.volume(self.cut, self.rows).unwrap_or(0) + width
    }

    /// Returns the number of blocks of one group.
    pub(super) fn blocks(&self) -> Option<usize> {
        let before = self.axes[..self.cut].iter().try_fold(1usize, |n, a| n.checked_mul(a.dim.out_size))?;
        before.checked_mul(self.axes[self.cut].dim.out_size.div_ceil(self.rows))
    }

    /// Returns the outputs of block `n`.
    pub(super) fn ranges(&self, n: usize) -> Ranges {
        let mut ranges = self.axes.map(|a| [0, a.dim.out_size]);
        let in_cut = self.axes[self.cut].dim.out_size;
        let cuts = in_cut.div_ceil(self.rows);
        let (mut n, first) = (n / cuts, n % cuts * self.rows);
        ranges[self.cut] = [first, (first + self.rows).min(in_cut)];
        for d in (0..self.cut).rev() {
            let size = self.axes[d].dim.out_size;
            ranges[d] = [n % size, n % size + 1];
            n /= size;
        }
        ranges
    }

    /// Returns the number of parts of a sum's terms.
    fn parts(&self, g: &Geometry) -> usize {
        let rows = self.axes[self.window_axis].dim.window.div_ceil(self.window_rows);
        rows * g.group_in.div_ceil(self.features)
    }

    /// Returns the number of terms of a sum.
    pub(super) fn taps_of_all(&self, g: &Geometry) -> Option<usize> {
        g.positions.checked_mul(g.group_in)
    }

    /// Returns the maximum number of places of a class of `pixels` pixels.
    pub(super) fn places(&self, pixels: usize, width: usize) -> usize {
        if self.across { pixels.max(self.largest(width).div_ceil(width)) } else { pixels }
    }

    /// Returns the maximum number of terms of a part.
    pub(super) fn taps(&self, g: &Geometry) -> usize {
        g.positions / self.axes[self.window_axis].dim.window * self.window_rows * self.features
    }

    /// Returns the layout of the packed input of a block for a part.
    pub(super) fn layout(&self, ranges: &Ranges, window: [usize; 2], features: usize) -> Layout {
        let mut layout = Layout {
            reach: [Reach::default(); MAX_AXES],
            stride: [0; MAX_AXES],
            feature: 1,
            phase: 1,
            volume: if self.inner_features { features } else { 1 },
        };
        for d in (0..self.rank).rev() {
            let axis = &self.axes[d];
            let window = if d == self.window_axis { window } else { [0, axis.dim.window] };
            let reach = axis.reach(ranges[d], window);
            layout.reach[d] = reach;
            layout.stride[d] = layout.volume;
            layout.volume *= reach.length;
            if d == self.rank - 1 {
                layout.phase = reach.length.div_ceil(self.phases);
                layout.volume = layout.stride[d] * layout.phase * self.phases;
            }
        }
        if !self.inner_features {
            layout.feature = layout.volume;
            layout.volume *= features;
        }
        layout
    }

    /// Returns the distance in the packed input, in elements, between adjacent pixels of a class along an
    /// axis.
    pub(super) fn pixel_step(&self, layout: &Layout, d: usize) -> usize {
        let step = self.axes[d].step;
        layout.stride[d] * if d == self.rank - 1 { step / self.phases } else { step }
    }

    /// Returns the number of pixels of a class along each axis.
    pub(super) fn counts(&self, ranges: &Ranges, class: &Index) -> Index {
        std::array::from_fn(|d| {
            let [from, to] = ranges[d];
            (to - from).saturating_sub(class[d]).div_ceil(self.axes[d].period)
        })
    }

    /// Calls `f` for each class of pixels that read the input at the same window positions.
    pub(super) fn for_each_class(&self, ranges: &Ranges, mut f: impl FnMut(&Index)) {
        let size = |d: usize| self.axes[d].period.min(ranges[d][1] - ranges[d][0]);
        let mut class = [0; MAX_AXES];
        loop {
            f(&class);
            if !next(&mut class[..self.rank], size) {
                return;
            }
        }
    }

    /// Returns the vectors of the pixels of a class.
    pub(super) fn across(&self, layout: &Layout, counts: &Index, width: usize) -> PixelVectorPlan {
        let last = self.rank - 1;
        let lines = counts[..last].iter().product::<usize>();
        let by_line = counts[last].div_ceil(width);
        let mut vectors = Places { counts: *counts, input: [0; MAX_AXES], sums: [0; MAX_AXES], start: 0 };
        for d in 0..self.rank {
            vectors.input[d] = self.pixel_step(layout, d);
        }
        let mut stride = vectors.input;
        let span = counts.iter().zip(stride).map(|(n, stride)| (n - 1) * stride).sum::<usize>() + 1;
        // Sums must have the same places for all parts.
        let whole = self.window_rows == self.axes[self.window_axis].dim.window;
        if whole && span.div_ceil(width) < lines * by_line {
            vectors.counts = [1; MAX_AXES];
            vectors.counts[last] = span.div_ceil(width);
        } else {
            let mut size = by_line * width;
            for d in (0..last).rev() {
                stride[d] = size;
                size *= counts[d];
            }
            vectors.counts[last] = by_line;
            vectors.sums = stride.map(|stride| stride as isize);
        }
        vectors.input[last] = width;
        vectors.sums[last] = width as isize;
        PixelVectorPlan { stride, pitch: vectors.len() * width, vectors }
    }

    /// Estimates the number of cycles per pixel.
    fn cost(&self, g: &Geometry, width: usize, features_first: bool, features_dense: bool) -> f64 {
        let ranges = self.ranges(0);
        let window = [0, self.window_rows];
        let layout = self.layout(&ranges, window, self.features);
        let pixels = ranges[..self.rank].iter().map(|[from, to]| to - from).product::<usize>() as f64;
        let (mut classes, mut vectors) = (0u32, 0);
        self.for_each_class(&ranges, |class| {
            let counts = self.counts(&ranges, class);
            classes += 1;
            vectors += self.across(&layout, &counts, width).vectors.len();
        });
        let taps = g.positions as f64 * g.group_in as f64 / f64::from(classes);
        let features = g.group_out as f64;
        let packed = layout.volume as f64 * g.group_in as f64 / self.features as f64;
        let chunks = self.panels.div_ceil(self.panels_a_task) as f64;
        let lists = 4.0 * taps * f64::from(classes) * chunks;
        // Cycles of multiply-adds, cycles per element that is reordered in the output, and whether the input
        // is reordered.
        let (sums, moved, turned) = if self.across {
            let each = [0.5, 1.0, 0.6][if g.group_out > 2 { 0 } else { g.group_out }];
            (vectors as f64 * features * each, if features_dense { 0.5 } else { 0.15 }, features_first)
        } else {
            let each = if self.panel == width { 0.57 } else { 0.5 };
            let vectors = g.group_out.div_ceil(width) as f64;
            let moved = if self.stored {
                0.0
            } else if features_dense {
                0.15
            } else {
                0.4
            };
            (pixels * vectors * each, moved, false)
        };
        let pack = if self.phases > 1 {
            1.0
        } else if turned {
            0.4
        } else {
            0.1
        };
        (sums * taps + pixels * features * moved + packed * chunks * pack + lists) / pixels
    }
}

/// The vectors of pixels, and the layout of their sums.
pub(super) struct PixelVectorPlan {
    /// The vectors. Either each line has its own vectors, or the vectors continue from one line to the next,
    /// across the elements between them in the packed input.
    pub(super) vectors: Places,
    /// Distance between the sums of adjacent pixels along each axis.
    pub(super) stride: Index,
    /// The number of sums of a feature.
    pub(super) pitch: usize,
}

/// A box of pixels or of vectors of pixels.
pub(super) struct Places {
    pub(super) counts: Index,
    /// Distance between adjacent places in the packed input along each axis, in elements.
    pub(super) input: Index,
    /// The same distance in the sums.
    pub(super) sums: [isize; MAX_AXES],
    /// The offset of the first place in the sums.
    pub(super) start: isize,
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// Writes the places to `list` in order.
    ///
    /// # Safety
    /// `list` must have room for all places.
    pub(super) unsafe fn list<'a>(&self, list: *mut Place) -> &'a [Place] {
        let inner = self.counts.iter().rposition(|&n| n != 1).unwrap_or(0);
        let (mut used, mut at) = (0, [0; MAX_AXES]);
        loop {
            let mut input = self.input.iter().zip(at).map(|(step, i)| step * i).sum::<usize>();
            let mut sums = self.start + self.sums.iter().zip(at).map(|(s, i)| s * i as isize).sum::<isize>();
            for _ in 0..self.counts[inner] {
                // SAFETY: guaranteed by the caller.
                unsafe { list.add(used).write(Place { input: input as u32, sums }) };
                used += 1;
                input += self.input[inner];
                sums = sums.wrapping_add(self.sums[inner]);
            }
            if !next(&mut at[..inner], |d| self.counts[d]) {
                break;
            }
        }
        // SAFETY: written above.
        unsafe { std::slice::from_raw_parts(list, used) }
    }
}

/// Returns the pixel axes, at least one, and their number, or `None` if positions could overflow.
fn axes(g: &Geometry) -> Option<([Axis; MAX_AXES], usize)> {
    let one = Dim {
        in_size: 1,
        window: 1,
        out_size: 1,
        stride: 1,
        lhs_dilation: 1,
        rhs_dilation: 1,
        ..Dim::default()
    };
    let (mut axes, mut rank) = ([Axis::new(one)?; MAX_AXES], 0);
    let batch = Dim {
        in_size: i64::try_from(g.batch).ok()?,
        out_size: g.batch,
        lhs_stride: g.lhs_batch_stride,
        out_stride: g.out_batch_stride,
        ..one
    };
    for dim in std::iter::once(&batch).chain(&g.dims) {
        let single = dim.in_size == 1 && dim.window == 1 && dim.out_size == 1 && dim.pad_low == 0;
        if !single {
            axes[rank] = Axis::new(*dim)?;
            rank += 1;
        }
    }
    // Short lines without a window are not efficient as the last axis.
    let short = |dim: &Dim| dim.window == 1 && dim.out_size < SHORT_LINE_POSITIONS;
    let strides = |dim: &Dim| (dim.lhs_stride.unsigned_abs(), dim.out_stride.unsigned_abs());
    axes[..rank].sort_by_key(|a| std::cmp::Reverse((short(&a.dim), strides(&a.dim))));
    Some((axes, rank.max(1)))
}
