//! Loops over the elements of an array that a window covers.
//!
//! A *coordinate* is a position along one dimension of the padded and dilated array. Windows are inside this
//! array, so their coordinates never overflow.

use super::carried_loops::Span;
use super::element::ElementCx;
use super::index::Idx;
use crate::builder::{Binary, IntPredicate, V};
use hlo_ir::attr::WindowDim;

/// Minimum number of a window's elements along a dimension for which the loop is clipped to the array. In
/// shorter loops, each element is tested instead. LLVM unrolls such loops and vectorizes the surrounding
/// loop.
const MIN_CLIPPED_ELEMENTS: i64 = 16;

/// Windows with more elements are clipped along every dimension, even a short one.
const MAX_TESTED_ELEMENTS: i64 = 4096;

/// The loops over a window at one position.
pub struct CoveredLoops<'c> {
    dims: Vec<Along<'c>>,
}

/// The loop along one dimension.
struct Along<'c> {
    window: WindowDim,
    /// The size of the array along the dimension.
    size: i64,
    /// The coordinate of the window's first element.
    start: Idx<'c>,
    span: Span<'c>,
    counter: Counter,
}

/// The meaning of a loop's index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counter {
    /// The index counts elements of the window. They may be in the padding or in holes of the base dilation.
    Taps,
    /// The index counts elements of the array, all of them between the window's first and last element. They
    /// may be in holes of the window dilation.
    Elements,
}

impl<'c> CoveredLoops<'c> {
    /// Creates the loops over the elements of an array of sizes `dims` that the window covers at `position`.
    pub fn new(cx: &ElementCx<'_, 'c>, window: &[WindowDim], dims: &[i64], position: &[Idx<'c>]) -> Self {
        let is_empty = dims.contains(&0);
        let taps = window.iter().fold(1i64, |n, w| n.saturating_mul(w.size));
        let along = |((&window, &size), position): ((&WindowDim, &i64), &Idx<'c>)| {
            let start = position.times(cx.b, window.stride);
            let (counter, span) = if is_empty {
                (Counter::Taps, Span::part(window.size, cx.b.index(0), cx.b.index(0)))
            } else {
                walk(cx, &window, size, start, taps > MAX_TESTED_ELEMENTS)
            };
            Along { window, size, start, span, counter }
        };
        Self { dims: window.iter().zip(dims).zip(position).map(along).collect() }
    }

    /// Returns the ranges of the loops.
    pub fn spans(&self) -> Vec<Span<'c>> {
        self.dims.iter().map(|d| d.span).collect()
    }

    /// Returns the index of the array's element for the indices `at` of the loops. If the element may not
    /// exist, also returns the condition under which it exists.
    pub fn element(&self, cx: &ElementCx<'_, 'c>, at: &[Idx<'c>]) -> (Vec<Idx<'c>>, Option<V<'c>>) {
        let mut inside = None;
        let index = self.dims.iter().zip(at).map(|(d, &at)| d.element(cx, at, &mut inside)).collect();
        (index, inside)
    }
}

/// Returns the coordinate of the last element of a dimension, relative to that of the first.
fn last_position(w: &WindowDim, size: i64) -> i64 {
    (size - 1).saturating_mul(w.lhs_dilate)
}

/// Chooses the loop along one dimension of a window whose first element has the coordinate `start`. A loop
/// over a long window (or any window if `always` is set) does not run before or after the array. It takes
/// less time, and its loads have no condition. (Masked loads trap into microcode if a masked-off lane is
/// outside of mapped memory.)
fn walk<'c>(
    cx: &ElementCx<'_, 'c>,
    w: &WindowDim,
    size: i64,
    start: Idx<'c>,
    always: bool,
) -> (Counter, Span<'c>) {
    let b = cx.b;
    let reach = (w.size - 1).saturating_mul(w.rhs_dilate);
    let first = i128::from(w.pad_low);
    let last = first + i128::from(last_position(w, size));
    let is_within = i128::from(start.lo) >= first && i128::from(start.hi.saturating_add(reach)) <= last;
    if (w.size < MIN_CLIPPED_ELEMENTS && !always) || (is_within && w.lhs_dilate == 1) {
        return (Counter::Taps, Span::whole(w.size));
    }
    let zero = b.index(0);
    // Distances are not negative. As unsigned numbers, they do not overflow when rounded up.
    let divided_up = |distance: V<'c>, step: i64| match step {
        1 => distance,
        _ => b.binary(Binary::Divui, b.addi(distance, b.index(step - 1)), b.index(step)),
    };
    if w.lhs_dilate == 1 {
        let taps_before = |coordinate: i128| {
            let coordinate = b.index(coordinate.clamp(0, i64::MAX.into()) as i64);
            let distance = b.binary(Binary::Smax, b.index_sub(coordinate, start.emit(b)), zero);
            b.binary(Binary::Smin, divided_up(distance, w.rhs_dilate), b.index(w.size))
        };
        return (Counter::Taps, Span::part(w.size, taps_before(first), taps_before(last + 1)));
    }
    if last < 0 {
        return (Counter::Elements, Span::part(size, zero, zero));
    }
    let end = b.index((last + 1).min(i64::MAX.into()) as i64);
    let elements_before = |coordinate: Idx<'c>| {
        let coordinate = b.binary(Binary::Smin, coordinate.emit(b), end);
        let distance = b.index_sub(coordinate, b.index(w.pad_low));
        divided_up(b.binary(Binary::Smax, distance, zero), w.lhs_dilate)
    };
    let upper = elements_before(start.plus(reach.saturating_add(1)));
    (Counter::Elements, Span::part(size, elements_before(start), upper))
}

impl<'c> Along<'c> {
    /// Returns the index of the array's element for the index `at` of the loop. Adds the conditions under
    /// which the element exists to `inside`.
    fn element(&self, cx: &ElementCx<'_, 'c>, at: Idx<'c>, inside: &mut Option<V<'c>>) -> Idx<'c> {
        let (b, w) = (cx.b, &self.window);
        let mut require = |predicate, v: Idx<'c>, limit: i64| {
            let holds = b.cmpi(predicate, v.emit(b), b.index(limit));
            *inside = Some(inside.map_or(holds, |i| b.binary(Binary::Andi, i, holds)));
        };
        if self.counter == Counter::Elements {
            if w.rhs_dilate != 1 {
                let coordinate = at.times(b, w.lhs_dilate).plus(w.pad_low);
                let distance = b.index_sub(coordinate.emit(b), self.start.emit(b));
                let (_, rest) = Idx::value(distance, 0, i64::MAX).divide(b, w.rhs_dilate);
                require(IntPredicate::Eq, rest, 0);
            }
            return at;
        }
        let last = last_position(w, self.size);
        let coordinate = self.start.add(b, at.times(b, w.rhs_dilate));
        let mut position = coordinate.without_padding(b, w.pad_low, last);
        if !self.span.is_part() {
            if position.lo < 0 {
                require(IntPredicate::Sge, position, 0);
            }
            if position.hi > last {
                require(IntPredicate::Sle, position, last);
            }
        }
        position = position.within(0, last.max(0));
        let (element, rest) = position.divide(b, w.lhs_dilate);
        if rest.as_constant() != Some(0) {
            require(IntPredicate::Eq, rest, 0);
        }
        element
    }
}
