//! Convolutions of any element types without a matrix of patches. The kernel reads the input of each pixel
//! directly.
//!
//! A task computes a block of output pixels for some output features. It packs the input that the block reads
//! once, with zeros for the padding. The input of each term of a sum then has the same offset from every
//! pixel. There are two kinds of vectors. A vector of features multiplies one input number by the weights of
//! several features. A vector of pixels multiplies one weight by the inputs of neighboring pixels. The plan
//! selects the cheaper kind, so that vectors are full for few input features, for few output features, and
//! for either order of dimensions in memory. In a dilated input, pixels that are a dilation apart form a
//! class. All pixels of a class read elements at the same window positions, and only these positions are
//! terms.

mod copies;
mod filter;
mod kernel;
mod lists;
mod plan;

use hlo_runtime_core::{Context, Error, Scratch, Shared};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Buffers;
use super::geometry::Geometry;
use filter::Filter;
pub(super) use kernel::Tiles;
use kernel::{PIXEL_VECTORS, PIXELS, Place, Tap, Tile};
use plan::{Layout, MAX_PACKED_ELEMENTS, Plan, Ranges};

/// The number of bytes that stay in the first-level cache while they are reused.
const MAX_L1_BYTES: usize = 1 << 15;

/// Computes a convolution. Returns false, without a result, if another algorithm must be used, for example
/// because this one takes more than `most` cycles per pixel.
///
/// # Safety
/// As for [`super::hlo_rt_conv`]; `T` must be the accumulator of the geometry's types.
pub(super) unsafe fn conv<T: Tiles>(
    ctx: &Context,
    g: &Geometry,
    buffers: Buffers,
    most: f64,
) -> Result<bool, Error> {
    if g.positions == 0 || g.group_in == 0 {
        return Ok(false);
    }
    let Some(plan) = Plan::new::<T>(g, most) else { return Ok(false) };
    let filter = Filter::new(g, &plan);
    let Some(blocks) = plan.blocks() else { return Ok(false) };
    let chunks = plan.panels.div_ceil(plan.panels_a_task);
    let panel = filter.terms * plan.panel;
    // The number of chunks of output features whose packed filter fits the buffer.
    let all = g.groups * chunks;
    let most = (MAX_PACKED_ELEMENTS / (panel * plan.panels_a_task)).clamp(1, all);
    let packed = Scratch::new::<T>(most * plan.panels_a_task * panel)?;
    // SAFETY: each task packs its own panels, and writes its own pixels and features.
    let (packed, buffers, _memory) =
        unsafe { (Shared::new(packed.pointer::<T>()), Shared::new(buffers), packed) };
    for first in (0..all).step_by(most) {
        let count = most.min(all - first);
        let finite = AtomicBool::new(true);
        ctx.for_each(count * plan.panels_a_task, |n| {
            let (chunk, inner) = (first + n / plan.panels_a_task, n % plan.panels_a_task);
            let (group, number) = (chunk / chunks, chunk % chunks * plan.panels_a_task + inner);
            if number >= plan.panels {
                return;
            }
            let features = [number * plan.panel, g.group_out.min((number + 1) * plan.panel)];
            let from = (group * g.group_out) as isize * g.rhs_out_stride;
            let to = packed.get().wrapping_add(n * panel);
            // SAFETY: the panel is inside the buffer, and the features inside the filter.
            unsafe {
                filter.pack(g, plan.panel, features, buffers.get().rhs.wrapping_offset(from), to);
                if plan.dilated && !all_finite(std::slice::from_raw_parts(to, panel)) {
                    finite.store(false, Ordering::Relaxed);
                }
            }
        });
        // The zeros between the input's elements would have to be multiplied by the weights.
        if !finite.into_inner() {
            return Ok(false);
        }
        ctx.try_for_each(count * blocks, |task| {
            let chunk = first + task / blocks;
            let (group, panels) = (chunk / chunks, chunk % chunks * plan.panels_a_task);
            let block = Block {
                g,
                plan: &plan,
                filter: &filter,
                packed: packed.get().wrapping_add((chunk - first) * plan.panels_a_task * panel),
                panels: [panels, plan.panels.min(panels + plan.panels_a_task)],
                ranges: plan.ranges(task % blocks),
                input: buffers.get().lhs.wrapping_offset(group as isize * g.lhs_group_stride),
                output: buffers
                    .get()
                    .out
                    .wrapping_offset((group * g.group_out) as isize * g.out_feature_stride),
            };
            // SAFETY: the filter is packed, and the block belongs to this task only.
            unsafe { block.run() }
        })?;
    }
    Ok(true)
}

/// Returns whether no element is infinite or NaN.
fn all_finite<T: Tiles>(elements: &[T]) -> bool {
    elements.iter().fold(true, |all, x| all & x.is_finite())
}

/// The outputs that one task computes.
struct Block<'a, T> {
    g: &'a Geometry,
    plan: &'a Plan,
    filter: &'a Filter,
    /// The packed panels of the filter for this block.
    packed: *const T,
    panels: [usize; 2],
    ranges: Ranges,
    /// The input of the group, and the output for its features.
    input: *const u8,
    output: *mut u8,
}

/// The part of a sum's terms that is added at once, as ranges of the window axis and of the features.
struct Part {
    window: [usize; 2],
    features: [usize; 2],
    /// Whether to add to the sums of earlier parts; false for the first part.
    add: bool,
}

impl<T: Tiles> Block<'_, T> {
    /// Returns the range of output features of the block within its group.
    fn features(&self) -> [usize; 2] {
        self.panels.map(|panel| (panel * self.plan.panel).min(self.g.group_out))
    }

    /// Returns the number of sums per pixel if vectors contain features.
    fn depth(&self) -> usize {
        (self.panels[1] - self.panels[0]) * self.plan.panel
    }

    /// Returns the number of sums in memory.
    fn sums(&self, layout: &Layout) -> usize {
        let plan = self.plan;
        if plan.stored {
            return 0;
        }
        if !plan.across {
            return self.pixels() * self.depth();
        }
        let [first, end] = self.features();
        let mut sums = 0;
        plan.for_each_class(&self.ranges, |class| {
            let counts = plan.counts(&self.ranges, class);
            sums += (end - first) * plan.across(layout, &counts, T::WIDTH).pitch;
        });
        sums
    }

    /// Returns the number of output pixels of the block.
    fn pixels(&self) -> usize {
        self.ranges[..self.plan.rank].iter().map(|[from, to]| to - from).product()
    }

    /// # Safety
    /// The operands must be readable, the filter packed, and the output writable.
    unsafe fn run(&self) -> Result<(), Error> {
        let (g, plan) = (self.g, self.plan);
        let rows = plan.axes[plan.window_axis].dim.window;
        let layout = plan.layout(&self.ranges, [0, plan.window_rows], plan.features);
        let work = Work {
            input: Scratch::new::<T>(plan.largest(T::WIDTH))?,
            sums: Scratch::new::<T>(self.sums(&layout))?,
            taps: Scratch::new::<Tap>(plan.taps(g))?,
            places: Scratch::new::<Place>(plan.places(self.pixels(), T::WIDTH))?,
        };
        let mut add = false;
        for z in (0..g.group_in).step_by(plan.features) {
            for w in (0..rows).step_by(plan.window_rows) {
                let part = Part {
                    window: [w, rows.min(w + plan.window_rows)],
                    features: [z, g.group_in.min(z + plan.features)],
                    add,
                };
                let layout = plan.layout(&self.ranges, part.window, part.features[1] - z);
                // SAFETY: the buffers have room for the largest part.
                unsafe {
                    self.pack_input(&layout, &part, work.input.pointer());
                    self.add_part(&layout, &part, &work);
                }
                add = true;
            }
        }
        if !plan.stored {
            // SAFETY: all sums are computed; the caller guarantees that the output is writable.
            unsafe { self.write(&layout, work.sums.pointer()) };
        }
        Ok(())
    }

    /// Adds one part of the terms to all sums.
    ///
    /// # Safety
    /// The part must be packed, and the lists must have room.
    unsafe fn add_part(&self, layout: &Layout, part: &Part, work: &Work) {
        let plan = self.plan;
        let mut sums = if plan.stored {
            self.output.wrapping_offset(self.start()).cast::<T>()
        } else {
            work.sums.pointer()
        };
        plan.for_each_class(&self.ranges, |class| {
            let counts = plan.counts(&self.ranges, class);
            // SAFETY: the lists have room for the terms and the places of a class, which are inside the
            // packed operands and the sums.
            unsafe {
                let taps = self.taps(layout, part, class, work.taps.pointer());
                let tile = Tile {
                    places: &[],
                    taps,
                    input: work.input.pointer::<T>(),
                    filter: self.packed,
                    sums,
                    pitch: 0,
                    add: part.add,
                };
                if plan.across {
                    let across = plan.across(layout, &counts, T::WIDTH);
                    let places = across.vectors.list(work.places.pointer());
                    let [first, end] = self.features();
                    self.tiles_across(&Tile { places, pitch: across.pitch, ..tile });
                    sums = sums.wrapping_add((end - first) * across.pitch);
                } else {
                    let places = self.single_pixels(layout, class, &counts).list(work.places.pointer());
                    self.tiles_of_pixels(&Tile { places, ..tile });
                }
            }
        });
    }

    /// Returns the part of a tile for panel `panel`, and its number of features.
    fn of_panel<'w>(&self, tile: &Tile<'w, T>, panel: usize) -> (Tile<'w, T>, usize) {
        let plan = self.plan;
        let n = panel - self.panels[0];
        let sums = if plan.across {
            n * plan.panel * tile.pitch
        } else {
            (if plan.stored { panel } else { n }) * plan.panel
        };
        let filter = tile.filter.wrapping_add(n * plan.panel * self.filter.terms);
        let features = plan.panel.min(self.g.group_out - panel * plan.panel);
        (Tile { filter, sums: tile.sums.wrapping_add(sums), ..*tile }, features)
    }

    /// # Safety
    /// The places and terms must be valid.
    unsafe fn tiles_of_pixels(&self, tile: &Tile<'_, T>) {
        let tiles = tile.places.len().div_ceil(PIXELS).max(1);
        let each = tile.places.len().div_ceil(tiles).max(1);
        let bytes = |terms: usize, features: usize| terms * features * size_of::<T>();
        let one = |places, panel, (taps, more)| {
            let (part, features) = self.of_panel(tile, panel);
            // SAFETY: guaranteed by the caller.
            unsafe {
                let tile = Tile { places, taps, add: part.add || more, ..part };
                T::pixels(&tile, features.div_ceil(T::WIDTH));
            }
        };
        // All panels, or a piece of one, stay in the first-level cache.
        if bytes(tile.taps.len(), self.depth()) <= MAX_L1_BYTES {
            for places in tile.places.chunks(each) {
                (self.panels[0]..self.panels[1]).for_each(|panel| one(places, panel, (tile.taps, false)));
            }
            return;
        }
        for panel in self.panels[0]..self.panels[1] {
            for piece in pieces(tile.taps, MAX_L1_BYTES / bytes(1, self.plan.panel)) {
                tile.places.chunks(each).for_each(|places| one(places, panel, piece));
            }
        }
    }

    /// # Safety
    /// The places and terms must be valid.
    unsafe fn tiles_across(&self, tile: &Tile<'_, T>) {
        let count = PIXEL_VECTORS[self.plan.panel];
        // The vectors of a piece stay in the first-level cache for all panels.
        let terms = match self.panels[1] - self.panels[0] {
            1 => usize::MAX,
            _ => MAX_L1_BYTES / (64 * count),
        };
        for places in tile.places.chunks(count) {
            for (taps, more) in pieces(tile.taps, terms) {
                for panel in self.panels[0]..self.panels[1] {
                    let (part, features) = self.of_panel(tile, panel);
                    // SAFETY: guaranteed by the caller.
                    unsafe { T::across(&Tile { places, taps, add: part.add || more, ..part }, features) };
                }
            }
        }
    }

    /// Returns the offset of the block's first pixel from the start of the group's output, in bytes.
    fn start(&self) -> isize {
        self.ranges.iter().zip(&self.plan.axes).map(|(r, axis)| r[0] as isize * axis.dim.out_stride).sum()
    }
}

/// Splits taps into pieces of about equal size, of at most `most` taps, and returns with each piece whether
/// it is not the first. There is at least one piece.
fn pieces(taps: &[Tap], most: usize) -> impl Iterator<Item = (&[Tap], bool)> {
    let count = taps.len().div_ceil(most.max(1)).max(1);
    let each = taps.len().div_ceil(count);
    (0..count).map(move |n| (&taps[(n * each).min(taps.len())..((n + 1) * each).min(taps.len())], n > 0))
}

/// The working memory of a block.
struct Work {
    input: Scratch,
    sums: Scratch,
    taps: Scratch,
    places: Scratch,
}
