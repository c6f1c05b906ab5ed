//! The order in which a convolution computed as a matrix product visits its pixels and the terms of their
//! sums.

use hlo_runtime_core::MAX_SPATIAL;
use std::ops::Deref;

use super::geometry::{Dim, Geometry};

/// A dimension of the output's pixels (the batch or a spatial dimension), or of a pixel's terms (the features
/// or a window dimension).
#[derive(Clone, Copy, Default)]
pub(super) struct Axis {
    /// The number of the spatial dimension, if it is spatial.
    pub(super) dim: Option<usize>,
    pub(super) size: usize,
    /// Distance from one input element to the next, in bytes.
    pub(super) input: isize,
    /// Distance in the output (for pixels) or in the filter (for terms), in bytes.
    pub(super) other: isize,
}

/// Axes, the slowest varying in the input first. An axis of a single element is included only if the element
/// may be padding.
#[derive(Default)]
pub(super) struct Axes {
    list: [Axis; MAX_SPATIAL + 1],
    len: usize,
}

impl Axes {
    fn push(&mut self, axis: Axis) {
        if self.len < self.list.len() {
            self.list[self.len] = axis;
            self.len += 1;
        }
    }

    fn sort(&mut self) {
        let strides = |a: &Axis| std::cmp::Reverse((a.input.unsigned_abs(), a.other.unsigned_abs()));
        let key = |a: &Axis| (a.size != 1, strides(a));
        self.list[..self.len].sort_unstable_by_key(key);
    }
}

impl Deref for Axes {
    type Target = [Axis];
    fn deref(&self) -> &[Axis] {
        &self.list[..self.len]
    }
}

/// The axes of pixels and terms, the slowest varying first.
pub(super) struct Order {
    pub(super) pixels: Axes,
    /// The last axis is packed as one run.
    pub(super) terms: Axes,
    /// The number of features that the last axis of the terms has at each window position. It is 1 unless the
    /// features and the window form one run in the input and in the filter.
    pub(super) merged: usize,
    /// The number of pixels, starting at a multiple of it, that are equally spaced in the output.
    pub(super) dense: usize,
}

impl Order {
    /// Returns the order for an input that is not dilated.
    pub(super) fn new(g: &Geometry) -> Order {
        let (mut pixels, mut terms) = (Axes::default(), Axes::default());
        if g.batch != 1 {
            let (input, other) = (g.lhs_batch_stride, g.out_batch_stride);
            pixels.push(Axis { dim: None, size: g.batch, input, other });
        }
        if g.group_in != 1 {
            let (input, other) = (g.lhs_feature_stride, g.rhs_in_stride);
            terms.push(Axis { dim: None, size: g.group_in, input, other });
        }
        for (i, d) in g.dims.iter().enumerate() {
            let dim = Some(i);
            if d.out_size != 1 {
                let input = d.lhs_stride.wrapping_mul(d.stride as isize);
                pixels.push(Axis { dim, size: d.out_size, input, other: d.out_stride });
            }
            let padded = [0, d.out_size - 1].iter().any(|&o| inside(d, o) != [0, d.window]);
            if d.window != 1 || padded {
                let input = d.lhs_stride.wrapping_mul(d.rhs_dilation as isize);
                terms.push(Axis { dim, size: d.window, input, other: d.rhs_stride });
            }
        }
        pixels.sort();
        terms.sort();
        let mut dense = 1;
        if let Some(inner) = pixels.last().map(|a| a.other) {
            for axis in pixels.iter().rev() {
                if axis.other != inner.wrapping_mul(dense as isize) {
                    break;
                }
                dense *= axis.size;
            }
        }
        let mut order = Order { pixels, terms, merged: 1, dense: dense.max(1) };
        order.merge();
        order
    }

    /// Merges the features and the innermost window dimension into one run if they are contiguous in memory.
    fn merge(&mut self) {
        let [.., outer, inner] = self.terms[..] else { return };
        let size = inner.size as isize;
        let follows = |outer: isize, inner: isize| outer == inner.wrapping_mul(size);
        let one_run = follows(outer.input, inner.input) && follows(outer.other, inner.other);
        if inner.dim.is_none() && one_run {
            self.merged = inner.size;
            self.terms.len -= 1;
            let size = outer.size * inner.size;
            self.terms.list[self.terms.len - 1] = Axis { dim: outer.dim, size, ..inner };
        }
    }

    /// Returns the axis of the run.
    pub(super) fn run(&self) -> Axis {
        self.terms.last().copied().unwrap_or(Axis { size: 1, ..Axis::default() })
    }
}

/// Returns the index of element `n` of a box. The last axis varies fastest.
pub(super) fn index(axes: &[Axis], mut n: usize) -> [usize; MAX_SPATIAL + 1] {
    let mut at = [0; MAX_SPATIAL + 1];
    for (axis, at) in axes.iter().zip(&mut at).rev() {
        (n, *at) = (n / axis.size.max(1), n % axis.size.max(1));
    }
    at
}

/// Advances `at` to the next index of a box.
pub(super) fn step(axes: &[Axis], at: &mut [usize; MAX_SPATIAL + 1]) {
    for (axis, at) in axes.iter().zip(at).rev() {
        *at += 1;
        if *at < axis.size {
            return;
        }
        *at = 0;
    }
}

/// Returns the window positions `from..to` at which output position `o` reads an element of an undilated
/// input.
pub(super) fn inside(dim: &Dim, o: usize) -> [usize; 2] {
    let first = dim.first(o);
    let reached = |limit: i64| {
        let missing = limit.saturating_sub(first).max(0);
        // Rounds up to the first position at or after the limit.
        let positions = match dim.rhs_dilation {
            1 => missing,
            dilation => missing.saturating_add(dilation - 1) / dilation,
        };
        (positions as u64).min(dim.window as u64) as usize
    };
    let from = reached(0);
    [from, reached(dim.in_size).max(from)]
}
