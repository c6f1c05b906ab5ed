//! Convolutions as implicit matrix products: the rows are output pixels, the columns are output features, and
//! the sums are over window positions and input features. Patches of the input are packed panel by panel as
//! the product needs them. The whole matrix of patches is never stored.
//!
//! Pixels and the terms of their sums are numbered in the order of the input's memory. The batch is one of
//! the dimensions of pixels, and the features are one of the dimensions of terms. So adjacent elements in
//! memory are read together in any layout: the features of one pixel, neighboring pixels, or, for the
//! gradient of a filter, the channels that are its pixels.

use super::Buffers;
use super::geometry::Geometry;
use super::order::{Order, index, inside, step};
use super::panel::Panel;
use crate::gemm::{self, Format, LANES, Panels, Sink};
use hlo_runtime_core::{Accumulator, Context, ElementCode, Error, MAX_SPATIAL};

/// Estimates the number of cycles per pixel. If a window has more positions than there are outputs, as for
/// the gradient of a filter, the estimate is 0 or infinite. It is 0 if the panels of a product suit the long
/// sums: the features fill the panels, and the patches consist of long lines of the input.
pub(super) fn cost(g: &Geometry) -> f64 {
    let outputs = g.pixels / g.batch;
    if g.positions > outputs {
        let size = g.types[0].byte_size();
        let has_lines = g.dims.iter().any(|d| d.lhs_stride.unsigned_abs() == size && d.window >= 2 * LANES);
        let suits = outputs == 1 || (g.group_out >= LANES && has_lines);
        return if suits { 0.0 } else { f64::INFINITY };
    }
    let taps = g.positions as f64 * g.group_in as f64;
    let features = g.group_out as f64;
    // An element that needs conversion is converted once for each patch that contains it.
    let (each, store) = match g.types[0].byte_size() {
        4 if g.out_feature_stride == 4 => (0.35, 0.0),
        4 => (0.35, 0.3),
        _ => (1.0, 0.5),
    };
    taps * (each + (features / 32.0).max(0.1)) + features * store
}

/// Computes a convolution whose input is not dilated.
///
/// # Safety
/// As for [`super::hlo_rt_conv`].
pub(super) unsafe fn conv(
    ctx: &Context,
    g: &Geometry,
    accumulator: Accumulator,
    buffers: Buffers,
) -> Result<(), Error> {
    let [l, r, _] = g.types;
    let float = accumulator == Accumulator::F32;
    let [lhs, rhs] = [l, r].map(|t| if float { Format::f32(t) } else { Format::i32(t) });
    let (Some(lhs), Some(rhs)) = (lhs, rhs) else {
        return Err(Error(format!("no product of {l:?} and {r:?}")));
    };
    let k = g.positions.checked_mul(g.group_in).ok_or_else(|| Error("the window is too large".into()))?;
    let order = Order::new(g);
    // Vectors contain features if these are adjacent in the output, and pixels otherwise.
    let size = g.types[2].byte_size() as isize;
    let across = g.group_out < LANES && g.pixels >= 2 * LANES
        || order.pixels.last().is_some_and(|p| p.other == size) && g.out_feature_stride != size;
    for group in 0..g.groups as isize {
        let features = group * g.group_out as isize;
        let patches = Patches {
            g,
            order: &order,
            pointer: buffers.lhs.wrapping_offset(group * g.lhs_group_stride),
            format: lhs,
        };
        let filter = Filter {
            g,
            order: &order,
            pointer: buffers.rhs.wrapping_offset(features * g.rhs_out_stride + g.rhs_start),
            format: rhs,
        };
        let pointer = buffers.out.wrapping_offset(features * g.out_feature_stride);
        let out = Pixels { g, order: &order, pointer, across };
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (float, across) {
                (true, false) => {
                    gemm::product(ctx, gemm::F32, [g.pixels, g.group_out, k], &patches, &filter, &out, false)?
                }
                (true, true) => {
                    gemm::product(ctx, gemm::F32, [g.group_out, g.pixels, k], &filter, &patches, &out, false)?
                }
                (false, false) => {
                    gemm::product(ctx, gemm::I32, [g.pixels, g.group_out, k], &patches, &filter, &out, false)?
                }
                (false, true) => {
                    gemm::product(ctx, gemm::I32, [g.group_out, g.pixels, k], &filter, &patches, &out, false)?
                }
            }
        }
    }
    Ok(())
}

/// The input of one group. A row is the patch of an output pixel.
struct Patches<'a> {
    g: &'a Geometry,
    order: &'a Order,
    pointer: *const u8,
    format: Format,
}

// SAFETY: the input is only read.
unsafe impl Sync for Patches<'_> {}

/// The number of window positions of a dimension for which a mask of the pixels inside the input is
/// precomputed.
const MAX_MASKED_POSITIONS: usize = 8;

/// The window positions of the pixels of a panel that are inside the input.
struct InputMasks<const P: usize> {
    /// The range of window positions inside the input, for each spatial dimension and pixel.
    each: [[[usize; 2]; P]; MAX_SPATIAL],
    /// The range that is inside the input for all pixels, for each spatial dimension.
    common: [[usize; 2]; MAX_SPATIAL],
    /// A mask of the pixels inside the input, for each spatial dimension and its first window positions.
    known: [[u64; MAX_MASKED_POSITIONS]; MAX_SPATIAL],
    count: usize,
}

impl<const P: usize> InputMasks<P> {
    /// Returns a mask of the rows that are inside the input at position `w` of dimension `d`.
    fn rows(&self, d: usize, w: usize) -> u64 {
        let [from, to] = self.common[d];
        if from <= w && w < to {
            return u64::MAX;
        }
        match self.known[d].get(w) {
            Some(&rows) => rows,
            None => self.find_rows(d, w),
        }
    }

    fn find_rows(&self, d: usize, w: usize) -> u64 {
        let meets = |(r, &[from, to]): (usize, &[usize; 2])| u64::from(from <= w && w < to) << r;
        self.each[d][..self.count].iter().enumerate().map(meets).fold(0, |all, row| all | row)
    }

    /// Returns the same mask, and the position up to which it is valid.
    fn rows_from(&self, d: usize, w: usize) -> (u64, usize) {
        let [from, to] = self.common[d];
        (self.rows(d, w), if from <= w && w < to { to } else { w + 1 })
    }
}

impl Panels for Patches<'_> {
    unsafe fn pack<const P: usize>(&self, first: usize, word: usize, words: usize, to: *mut u32) {
        if words == 0 {
            return;
        }
        let (inside, panel) = self.panel::<P>(first);
        let (run, merged) = (self.order.run(), self.order.merged);
        let outer = &self.order.terms[..self.order.terms.len().saturating_sub(1)];
        let mut at = index(outer, word / run.size);
        let (mut start, mut done) = (word % run.size, 0);
        while done < words {
            let n = (run.size - start).min(words - done);
            let offset = outer.iter().zip(at).map(|(a, i)| i as isize * a.input).sum::<isize>();
            let line = outer.iter().zip(at).filter_map(|(a, i)| Some(inside.rows(a.dim?, i)));
            let line = line.fold(panel.all(), |all, rows| all & rows);
            let mut i = start;
            while i < start + n {
                // As many terms as have the same mask.
                let (rows, end) = match run.dim {
                    Some(d) => {
                        let (rows, until) = inside.rows_from(d, i / merged);
                        (line & rows, until.saturating_mul(merged))
                    }
                    None => (line, usize::MAX),
                };
                let count = (start + n).min(end) - i;
                let offset = offset + i as isize * run.input;
                // SAFETY: `to` has room for `words` words of P rows, and the terms are inside the input.
                unsafe {
                    panel.pack(&self.format, rows, [offset, run.input], count, to.add((done + i - start) * P))
                };
                i += count;
            }
            (start, done) = (0, done + n);
            step(outer, &mut at);
        }
    }
}

impl Patches<'_> {
    fn panel<const P: usize>(&self, first: usize) -> (InputMasks<P>, Panel<P>) {
        let (g, axes) = (self.g, &self.order.pixels);
        let count = g.pixels.saturating_sub(first).min(P);
        let mut all = InputMasks {
            each: [[[0; 2]; P]; MAX_SPATIAL],
            common: [[0, usize::MAX]; MAX_SPATIAL],
            known: [[0; MAX_MASKED_POSITIONS]; MAX_SPATIAL],
            count,
        };
        let mut at = index(axes, first);
        let panel = Panel::new(count, |r| {
            let mut offset = 0;
            // The axes do not include dimensions with a single output position.
            let mut outputs = [0; MAX_SPATIAL];
            for (axis, i) in axes.iter().zip(at) {
                match axis.dim {
                    Some(d) => outputs[d] = i,
                    None => offset += i as isize * axis.input,
                }
            }
            for (d, dim) in g.dims.iter().enumerate() {
                offset += (dim.first(outputs[d]) as isize).wrapping_mul(dim.lhs_stride);
                let [from, to] = inside(dim, outputs[d]);
                all.each[d][r] = [from, to];
                let common = &mut all.common[d];
                *common = [common[0].max(from), common[1].min(to)];
            }
            step(axes, &mut at);
            self.pointer.wrapping_offset(offset)
        });
        for (d, dim) in g.dims.iter().enumerate() {
            for w in 0..dim.window.min(MAX_MASKED_POSITIONS) {
                all.known[d][w] = all.find_rows(d, w);
            }
        }
        (all, panel)
    }
}

/// The filter of one group. A row is an output feature.
struct Filter<'a> {
    g: &'a Geometry,
    order: &'a Order,
    /// The address of the first window position.
    pointer: *const u8,
    format: Format,
}

// SAFETY: the filter is only read.
unsafe impl Sync for Filter<'_> {}

impl Panels for Filter<'_> {
    unsafe fn pack<const P: usize>(&self, first: usize, word: usize, words: usize, to: *mut u32) {
        if words == 0 {
            return;
        }
        let count = self.g.group_out.saturating_sub(first).min(P);
        let row = |r: usize| self.pointer.wrapping_offset((first + r) as isize * self.g.rhs_out_stride);
        let panel = Panel::<P>::new(count, row);
        let run = self.order.run();
        let outer = &self.order.terms[..self.order.terms.len().saturating_sub(1)];
        let mut at = index(outer, word / run.size);
        let (mut start, mut done) = (word % run.size, 0);
        while done < words {
            let n = (run.size - start).min(words - done);
            let offset = outer.iter().zip(at).map(|(a, i)| i as isize * a.other).sum::<isize>();
            let offset = offset + start as isize * run.other;
            // SAFETY: the terms and the columns are inside the filter.
            unsafe { panel.pack(&self.format, panel.all(), [offset, run.other], n, to.add(done * P)) };
            (start, done) = (0, done + n);
            step(outer, &mut at);
        }
    }
}

/// The output of one group. A row is a pixel and a column a feature; with `across`, a row is a feature and a
/// column a pixel.
struct Pixels<'a> {
    g: &'a Geometry,
    order: &'a Order,
    pointer: *mut u8,
    across: bool,
}

// SAFETY: tasks write disjoint elements.
unsafe impl Sync for Pixels<'_> {}

impl Pixels<'_> {
    /// Returns the offset of a pixel from the start of the output, in bytes.
    fn offset(&self, pixel: usize) -> isize {
        let at = index(&self.order.pixels, pixel);
        self.order.pixels.iter().zip(at).map(|(a, i)| i as isize * a.other).sum()
    }

    /// Returns the distance between these pixels in elements, if it is the same for all.
    fn pixel_stride(&self, first: usize, n: usize) -> Option<isize> {
        let dense = self.order.dense;
        let same = first / dense == (first + n.max(1) - 1) / dense;
        same.then(|| self.order.pixels.last().map_or(1, |a| a.other / self.size()))
    }

    fn size(&self) -> isize {
        self.g.types[2].byte_size() as isize
    }
}

impl Sink for Pixels<'_> {
    fn code(&self) -> ElementCode {
        self.g.types[2]
    }
    fn column_stride(&self, j: usize, n: usize) -> Option<isize> {
        if self.across { self.pixel_stride(j, n) } else { Some(self.g.out_feature_stride / self.size()) }
    }
    fn row_stride(&self) -> Option<isize> {
        if self.across {
            Some(self.g.out_feature_stride / self.size())
        } else {
            self.pixel_stride(0, self.g.pixels)
        }
    }
    fn row(&self, i: usize) -> *mut u8 {
        let offset = if self.across { i as isize * self.g.out_feature_stride } else { self.offset(i) };
        self.pointer.wrapping_offset(offset)
    }
    fn column(&self, j: usize) -> isize {
        if self.across { self.offset(j) } else { j as isize * self.g.out_feature_stride }
    }
}
