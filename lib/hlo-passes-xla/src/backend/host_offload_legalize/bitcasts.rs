//! The shapes around a copy after a bitcast has been moved before it.

use hlo_ir::{ArrayShape, Layout};
use smallvec::SmallVec;

/// The shapes of a copy's operand and result.
#[derive(Clone)]
pub(super) struct CopyShapes {
    pub(super) before: ArrayShape,
    pub(super) after: ArrayShape,
}

impl CopyShapes {
    /// Returns the shapes if a bitcast to `result` runs before the copy instead of after it. Returns `None`
    /// if the bitcast does anything other than add or drop an outermost dimension of size 1, or exchange
    /// dimensions.
    pub(super) fn after_bitcast(&self, result: &ArrayShape) -> Option<Self> {
        if same_places(&self.after, result) {
            return Some(self.clone());
        }
        for change in [without_outermost, with_outermost] {
            if let (Some(before), Some(after)) = (change(&self.before), change(&self.after))
                && same_places(&after, result)
            {
                return Some(Self { before, after });
            }
        }
        self.exchanged(result)
    }

    /// Returns the shapes if the bitcast exchanges dimensions of equal size.
    fn exchanged(&self, result: &ArrayShape) -> Option<Self> {
        let (from, to) = (self.after.minor_to_major(), result.minor_to_major());
        let same = self.after.dims == result.dims && self.after.layout_items() == result.layout_items();
        if !same || from.len() != to.len() {
            return None;
        }
        // Maps each dimension to the dimension of the result that it becomes.
        let mut becomes: SmallVec<[usize; 6]> = smallvec::smallvec![0; from.len()];
        for (&f, &t) in from.iter().zip(&to) {
            if result.dims.get(t) != self.after.dims.get(f) {
                return None;
            }
            *becomes.get_mut(f)? = t;
        }
        let exchange = |shape: &ArrayShape| {
            let order: Option<Vec<u32>> =
                shape.minor_to_major().iter().map(|&d| u32::try_from(*becomes.get(d)?).ok()).collect();
            Some(relaid(shape, order?))
        };
        Some(Self { before: exchange(&self.before)?, after: exchange(&self.after)? })
    }
}

/// Checks whether two arrays have the same sizes and the same order of elements in memory.
fn same_places(a: &ArrayShape, b: &ArrayShape) -> bool {
    a.dims == b.dims && a.minor_to_major() == b.minor_to_major()
}

/// Returns the shape with its dimensions in another order in memory.
fn relaid(shape: &ArrayShape, order: Vec<u32>) -> ArrayShape {
    let items = shape.layout_items().cloned();
    let layout = Layout::new(order);
    shape.clone().with_layout(match items {
        Some(items) => layout.with_items(items),
        None => layout,
    })
}

/// Returns the shape without its outermost dimension in memory, if that is dimension 0 and has size 1.
fn without_outermost(shape: &ArrayShape) -> Option<ArrayShape> {
    let order = shape.minor_to_major();
    let (&0, &1) = (order.last()?, shape.dims.first()?) else { return None };
    let inner: Option<Vec<u32>> =
        order[..order.len() - 1].iter().map(|&d| u32::try_from(d.checked_sub(1)?).ok()).collect();
    let mut out = relaid(shape, inner?);
    out.dims = shape.dims[1..].iter().copied().collect();
    shape.is_static().then_some(out)
}

/// Returns the shape with a new first dimension of size 1, which is outermost in memory.
fn with_outermost(shape: &ArrayShape) -> Option<ArrayShape> {
    let order = shape.minor_to_major();
    let outer: Option<Vec<u32>> = order.iter().map(|&d| u32::try_from(d + 1).ok()).chain([Some(0)]).collect();
    let mut out = relaid(shape, outer?);
    out.dims = [1].into_iter().chain(shape.dims.iter().copied()).collect();
    shape.is_static().then_some(out)
}
