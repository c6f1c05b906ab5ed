//! Expansion of `reduce-window` and `select-and-scatter` to loops. Along each dimension, a loop visits the
//! elements of the window or of the array, whichever are fewer. As in XLA, `rhs_reversal` does not change the
//! order.

use super::{combine_all, count, filled, read_all, states};
use crate::support::expander::Emitter;
use hlo_ir::attr::{ComparisonDirection, SelectAndScatterAttrs, Window, WindowDim};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, Dims, ElementType, InstrId, Op, Shape};

/// The positions and elements of the windows of an array.
struct Windows {
    /// The window along each dimension.
    window: Vec<WindowDim>,
    /// The sizes of the array.
    dims: Dims,
    /// The number of windows along each dimension, followed by the number of steps along each dimension of a
    /// window.
    sizes: Vec<i64>,
}

impl Windows {
    fn new(window: &Window, dims: Dims, places: &[i64]) -> Self {
        let mut window = window.dims.clone();
        window.resize(dims.len(), WindowDim::default());
        let steps = window.iter().zip(&dims).map(|(w, &size)| w.most_covered(size));
        let sizes = places.iter().copied().chain(steps).collect();
        Self { window, dims, sizes }
    }

    /// Returns the number of steps through all windows, or 0 for an array without elements.
    fn steps(&self) -> Option<i64> {
        Some(if self.dims.contains(&0) { 0 } else { count(&self.sizes)? })
    }

    /// Returns the array index of the element that a step visits, and whether the window covers that element.
    fn covered(&self, e: &mut Emitter<'_>, at: &[InstrId]) -> Option<(Vec<InstrId>, InstrId)> {
        let (places, steps) = at.split_at_checked(self.dims.len())?;
        let mut inside = e.scalar(ElementType::Pred, &[1])?;
        let mut index = Vec::with_capacity(places.len());
        for (d, w) in self.window.iter().enumerate() {
            let (stride, low) = (e.index(w.stride)?, e.index(w.pad_low)?);
            let coordinate = e.same(Op::Multiply, &[places[d], stride]);
            let start = e.same(Op::Subtract, &[coordinate, low]);
            let (element, tests) = if w.size <= self.dims[d] {
                self.element_of_tap(e, d, start, steps[d])?
            } else {
                (steps[d], self.is_tap(e, d, start, steps[d])?)
            };
            for test in tests {
                inside = e.same(Op::And, &[inside, test]);
            }
            index.push(element);
        }
        Some((index, inside))
    }

    /// Returns the index of the array element under an element of a window that begins at `start`, and the
    /// conditions under which it exists.
    fn element_of_tap(
        &self,
        e: &mut Emitter<'_>,
        d: usize,
        start: InstrId,
        tap: InstrId,
    ) -> Option<(InstrId, [InstrId; 3])> {
        let w = &self.window[d];
        let dilate = e.index(w.rhs_dilate)?;
        let offset = e.same(Op::Multiply, &[tap, dilate]);
        let position = e.same(Op::Add, &[start, offset]);
        let (zero, size, step) = (e.index(0)?, e.index(self.dims[d])?, e.index(w.lhs_dilate)?);
        let element = e.same(Op::Divide, &[position, step]);
        let between = e.same(Op::Remainder, &[position, step]);
        let tests = [
            e.compare(position, ComparisonDirection::Ge, zero),
            e.compare(element, ComparisonDirection::Lt, size),
            e.compare(between, ComparisonDirection::Eq, zero),
        ];
        Some((element, tests))
    }

    /// Returns the conditions under which a window that begins at `start` covers an element of the array.
    fn is_tap(
        &self,
        e: &mut Emitter<'_>,
        d: usize,
        start: InstrId,
        element: InstrId,
    ) -> Option<[InstrId; 3]> {
        let w = &self.window[d];
        let step = e.index(w.lhs_dilate)?;
        let position = e.same(Op::Multiply, &[element, step]);
        let distance = e.same(Op::Subtract, &[position, start]);
        let (zero, size, dilate) = (e.index(0)?, e.index(w.size)?, e.index(w.rhs_dilate)?);
        let tap = e.same(Op::Divide, &[distance, dilate]);
        let between = e.same(Op::Remainder, &[distance, dilate]);
        Some([
            e.compare(distance, ComparisonDirection::Ge, zero),
            e.compare(tap, ComparisonDirection::Lt, size),
            e.compare(between, ComparisonDirection::Eq, zero),
        ])
    }
}

/// Expands a `reduce-window` (XLA's operation semantics, "ReduceWindow").
pub(super) fn reduce(
    e: &mut Emitter<'_>,
    id: InstrId,
    window: &Window,
    to_apply: ComputationId,
) -> Option<InstrId> {
    let operands = e.module[id].operands.to_vec();
    let (arrays, inits) = operands.split_at(operands.len() / 2);
    let made = filled(e, inits)?;
    let places = e.array(*made.first()?)?.dims;
    let windows = Windows::new(window, e.array(*arrays.first()?)?.dims, &places);
    let steps = windows.steps()?;
    if steps == 0 {
        return e.results(&made);
    }
    let state = [arrays, &made].concat();
    let last = e.counted_loop("reduce_window", steps, &state, |e, i, state| {
        let (arrays, made, _) = states(state, arrays.len(), made.len())?;
        let at = e.unravel(i, &windows.sizes)?;
        let (index, inside) = windows.covered(e, &at)?;
        let place = &at[..places.len()];
        let elements = read_all(e, arrays, &index)?;
        let made = combine_all(e, to_apply, made, place, &elements, inside)?;
        Some([arrays, &made].concat())
    })?;
    e.results(&last[arrays.len()..])
}

/// Expands a `select-and-scatter` (XLA's operation semantics, "SelectAndScatter"). The loop's state contains
/// the operand, the source and the result, then whether an element of the window has been selected, that
/// element, and its index.
pub(super) fn select_and_scatter(
    e: &mut Emitter<'_>,
    id: InstrId,
    attrs: &SelectAndScatterAttrs,
) -> Option<InstrId> {
    let &[operand, source, initial] = e.module[id].operands.as_slice() else { return None };
    let made = filled(e, &[initial])?;
    let (shape, places) = (e.array(operand)?, e.array(source)?.dims);
    let windows = Windows::new(&attrs.window, shape.dims.clone(), &places);
    let steps = windows.steps()?;
    if steps == 0 {
        return e.results(&made);
    }
    let mut state = vec![operand, source, made[0]];
    state.push(e.scalar(ElementType::Pred, &[0])?);
    state.push(e.zero(shape.element_type)?);
    for _ in 0..shape.rank() {
        state.push(e.index(0)?);
    }
    let last = e.counted_loop("select_and_scatter", steps, &state, |e, i, state| {
        let (kept, made, chosen) = states(state, 2, 1)?;
        let &[operand, source] = kept else { return None };
        let (&found, rest) = chosen.split_first()?;
        let (&value, best) = rest.split_first()?;
        let at = e.unravel(i, &windows.sizes)?;
        let (place, taps) = at.split_at(places.len());
        let (index, inside) = windows.covered(e, &at)?;
        // At the beginning of a window, no element is selected.
        let begins = all(e, taps, |_| Some(0))?;
        let goes_on = e.same(Op::Not, &[begins]);
        let found = e.same(Op::And, &[found, goes_on]);
        let candidate = e.read(operand, &index)?;
        let preferred = *e.call(attrs.select, &[value, candidate])?.first()?;
        let stays = e.same(Op::And, &[found, preferred]);
        let other = e.same(Op::Not, &[stays]);
        let takes = e.same(Op::And, &[inside, other]);
        let found = e.same(Op::Or, &[found, inside]);
        let value = e.select(takes, candidate, value);
        let best: Vec<InstrId> = index.iter().zip(best).map(|(&n, &o)| e.select(takes, n, o)).collect();
        // After the last element of the window, the selected element is updated.
        let ends = all(e, taps, |d| Some(windows.sizes[places.len() + d] - 1))?;
        let old = e.read(made[0], &best)?;
        let update = e.read(source, place)?;
        let new = *e.call(attrs.scatter, &[old, update])?.first()?;
        let decided = e.same(Op::And, &[ends, found]);
        let new = e.select(decided, new, old);
        let made = e.write(made[0], &best, new)?;
        Some([&[operand, source, made, found, value], best.as_slice()].concat())
    })?;
    e.results(&last[2..3])
}

/// Returns a predicate: whether every index has its wanted value.
fn all(e: &mut Emitter<'_>, index: &[InstrId], wanted: impl Fn(usize) -> Option<i64>) -> Option<InstrId> {
    let mut out = e.scalar(ElementType::Pred, &[1])?;
    for (d, &i) in index.iter().enumerate() {
        let value = e.index(wanted(d)?)?;
        let equal = e.compare(i, ComparisonDirection::Eq, value);
        out = e.add(Shape::scalar(ElementType::Pred), Op::And, &[out, equal]);
    }
    Some(out)
}
