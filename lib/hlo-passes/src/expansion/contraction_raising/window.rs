//! Windows of one operand, as `reduce-window`.

use super::aggregates::{aggregate, aggregated, initial};
use super::form::{Form, Term};
use super::labeled::{Label, Labeled};
use crate::support::expander::Emitter;
use hlo_ir::attr::{ReduceWindowAttrs, Window, WindowDim};
use hlo_ir::contraction::Aggregation;
use hlo_ir::{ArrayShape, InstrId, Op};

/// The position of a window element in an operand's dimension: `stride · x + dilation · k + offset`, where
/// `x` and `k` start at 0. The coefficients are positive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) stride: i64,
    pub(super) dilation: i64,
    pub(super) offset: i64,
    /// Whether the operand's dimension is reversed.
    pub(super) reversed: bool,
    /// Whether `k` is reversed.
    pub(super) flipped: bool,
}

impl Placed {
    /// Returns the position `outer + inner + offset` in a dimension of the given size.
    pub(super) fn of(form: &Form, outer: Term, inner: Term, offset: i64, size: i64) -> Option<Self> {
        let low = |t: Term| t.scale.checked_mul(form.ranges[t.index].low);
        let mut place = Self {
            stride: outer.scale,
            dilation: inner.scale,
            offset: offset.checked_add(low(outer)?)?.checked_add(low(inner)?)?,
            reversed: false,
            flipped: false,
        };
        if place.stride < 0 {
            place = Self {
                stride: place.stride.checked_neg()?,
                dilation: place.dilation.checked_neg()?,
                offset: (size - 1).checked_sub(place.offset)?,
                reversed: true,
                flipped: false,
            };
        }
        if place.dilation < 0 {
            let span = place.dilation.checked_mul(form.count(inner.index) - 1)?;
            place.offset = place.offset.checked_add(span)?;
            place.dilation = place.dilation.checked_neg()?;
            place.flipped = true;
        }
        Some(place)
    }

    /// Returns the window over a dimension of the given size, with `count` positions and `taps` elements.
    pub(super) fn window(&self, count: i64, taps: i64, size: i64) -> Option<WindowDim> {
        let last = self.stride.checked_mul(count - 1)?.checked_add(self.dilation.checked_mul(taps - 1)?)?;
        Some(WindowDim {
            size: taps,
            // With one position, the stride has no effect, and it may be too large.
            stride: if count == 1 { 1 } else { self.stride },
            pad_low: self.offset.checked_neg()?,
            pad_high: last.checked_add(self.offset)?.checked_add(1)?.checked_sub(size)?,
            rhs_dilate: if taps == 1 { 1 } else { self.dilation },
            reversed: self.flipped,
            ..WindowDim::default()
        })
    }

    /// Checks whether each of `count` windows of `taps` elements contains an element of a dimension of the
    /// given size.
    fn always_inside(&self, count: i64, taps: i64, size: i64) -> bool {
        (0..count).all(|x| {
            let at = i128::from(self.stride) * i128::from(x) + i128::from(self.offset);
            let dilation = i128::from(self.dilation);
            let first = (-at + dilation - 1).div_euclid(dilation).max(0);
            let last = (i128::from(size) - 1 - at).div_euclid(dilation).min(i128::from(taps) - 1);
            first <= last
        })
    }
}

/// Maximum number of windows that are checked one by one.
const MAX_CHECKED_WINDOWS: i64 = 1 << 22;

/// Aggregates the operand over its windows, and over other indices that the output lacks.
pub(super) fn reduced(e: &mut Emitter<'_>, form: &Form, single: &Labeled) -> Option<Labeled> {
    let over: Vec<usize> = single.indices().into_iter().filter(|&i| !form.is_output(i)).collect();
    // Otherwise, elements in several windows would be aggregated once for each of them.
    let array = aggregated(e, form, single, &over)?;
    if !array.labels.iter().any(|l| matches!(l, Label::Window(..))) {
        return Some(array);
    }
    let shape = e.array(array.value)?;
    let (mut window, mut reversed, mut labels, mut sizes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (d, (label, &size)) in array.labels.iter().zip(&shape.dims).enumerate() {
        let Label::Window(outer, inner, offset) = *label else {
            window.push(WindowDim::default());
            labels.push(*label);
            sizes.push(size);
            continue;
        };
        // The indices of the window must not be used elsewhere in the operand, and its position must be one
        // dimension of the output.
        if form.uses(inner.index) != 1 || form.uses(outer.index) != 2 {
            return None;
        }
        let (count, taps) = (form.count(outer.index), form.count(inner.index));
        let place = Placed::of(form, outer, inner, offset, size)?;
        // The output is 0 for windows without elements, as it is for empty sums.
        let whole = count <= MAX_CHECKED_WINDOWS && place.always_inside(count, taps, size);
        if !whole && (form.aggregation != Aggregation::Sum || form.has_default) {
            return None;
        }
        // The order of aggregation in a window is unspecified.
        window.push(WindowDim { reversed: false, ..place.window(count, taps, size)? });
        if place.reversed {
            reversed.push(d as i64);
        }
        labels.push(Label::Index(outer.index));
        sizes.push(count);
    }
    let ty = shape.element_type;
    let op = aggregate(form.aggregation, ty)?;
    let init = initial(e, form.aggregation, ty)?;
    let value = back_to_front(e, array.value, &reversed);
    let to_apply = e.combiner(&op, ty);
    let value = cut(e, value, &mut window)?;
    let attributes = ReduceWindowAttrs { window: Window { dims: window }, to_apply };
    let result = ArrayShape::new(ty, sizes);
    let value = e.add(result, Op::ReduceWindow(Box::new(attributes)), &[value, init]);
    Some(Labeled { value, labels })
}

/// Returns the array with some dimensions reversed.
pub(super) fn back_to_front(e: &mut Emitter<'_>, value: InstrId, dimensions: &[i64]) -> InstrId {
    match dimensions {
        [] => value,
        some => e.same(Op::reverse(some.iter().copied()), &[value]),
    }
}

/// Slices off the elements that negative padding removes. The windows keep only nonnegative padding.
fn cut(e: &mut Emitter<'_>, value: InstrId, window: &mut [WindowDim]) -> Option<InstrId> {
    let mut value = value;
    for (d, w) in window.iter_mut().enumerate() {
        let size = e.array(value)?.dims[d];
        let (low, high) = (w.pad_low.min(0), w.pad_high.min(0));
        if low.checked_add(high)?.checked_add(size)? <= 0 {
            return None;
        }
        value = e.sliced(value, d, -low, size + high)?;
        (w.pad_low, w.pad_high) = (w.pad_low - low, w.pad_high - high);
    }
    Some(value)
}
