//! Enumerates the elements of an operand that one element of a result is computed from.

use super::{Access, Axis};
use crate::attr::{Covered, WindowDim};

/// An element of a result, and the other data that the positions of operand elements depend on.
#[derive(Clone, Copy, Debug)]
pub struct ReadFor<'a> {
    /// The index of the element.
    pub index: &'a [i64],
    /// The dimension sizes of the result.
    pub dims: &'a [i64],
    /// The window of the operation; empty if it has none.
    pub window: &'a [WindowDim],
}

impl Access {
    /// Returns the row-major positions of the elements that are read for one element of the result, in an
    /// operand of these sizes. Dimensions with an unknown axis are read completely. Returns `None` if the
    /// access is unknown.
    pub fn positions(&self, operand: &[i64], read: ReadFor<'_>) -> Option<Vec<usize>> {
        let axes = match self {
            Access::Axes(axes) => axes,
            Access::SamePosition => {
                let mut sizes = read.index.iter().zip(read.dims);
                return sizes
                    .try_fold(0i64, |p, (&i, &d)| p.checked_mul(d)?.checked_add(i))
                    .map(|p| vec![p as usize]);
            }
            Access::Any => return None,
        };
        let mut positions = vec![0usize];
        for (axis, &size) in axes.iter().zip(operand) {
            let places: Vec<usize> =
                axis.places(size, read).filter(|i| (0..size).contains(i)).map(|i| i as usize).collect();
            let next = |&p: &usize| {
                places
                    .iter()
                    .map(move |&i| p.saturating_mul(size as usize).saturating_add(i))
                    .collect::<Vec<_>>()
            };
            positions = positions.iter().flat_map(next).collect();
        }
        Some(positions)
    }
}

impl Axis {
    /// Returns the indices in a dimension of this size. Some may be out of bounds.
    fn places<'a>(&self, size: i64, read: ReadFor<'a>) -> Box<dyn Iterator<Item = i64> + 'a> {
        let at = |dim: usize| read.index.get(dim).copied();
        match *self {
            Axis::Along(along) => Box::new(at(along.dim).and_then(|i| along.index(i)).into_iter()),
            Axis::Group { dim, of, size } => {
                let first = at(dim).and_then(|i| i.checked_div(of)).and_then(|group| group.checked_mul(size));
                Box::new(first.into_iter().flat_map(move |first| first..first.saturating_add(size)))
            }
            Axis::Window { dim, window } => {
                Box::new(covered(read, dim, window, size).pairs().map(|(place, _)| place))
            }
            Axis::Tap { dim, window, base } => {
                let (size, reversed) = read.window.get(window).map_or((1, false), |w| (w.size, w.reversed));
                let along = move |tap: i64| if reversed { size - 1 - tap } else { tap };
                Box::new(covered(read, dim, window, base).pairs().map(move |(_, tap)| along(tap)))
            }
            Axis::All(_) | Axis::Moved { .. } | Axis::Any => Box::new(0..size),
        }
    }
}

/// Returns the elements of the base area, which has `size` elements along the dimension, that a window
/// covers.
fn covered(read: ReadFor<'_>, dim: usize, window: usize, size: i64) -> Covered {
    let window = read.window.get(window).copied().unwrap_or_default();
    window.covered(read.index.get(dim).copied().unwrap_or(0), size)
}
