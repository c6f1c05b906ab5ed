//! Detection of cumulative reductions: windows that extend from each element to the first or the last element
//! of a dimension.

use hlo_ir::attr::{Window, WindowDim};

/// A cumulative reduction: the dimension that the windows of a `reduce-window` extend along, and their
/// direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cumulative {
    /// The dimension that the windows extend along.
    pub dimension: usize,
    /// Number of elements in the dimension.
    pub length: i64,
    /// Whether the windows extend to the last element. If false, they extend to the first.
    pub backwards: bool,
}

/// Returns the cumulative reduction that the windows compute over an array of these sizes, or `None` if they
/// compute something else.
///
/// # Example
/// ```
/// use hlo_analysis::{Cumulative, cumulative};
/// use hlo_ir::attr::{Window, WindowDim};
///
/// let along = WindowDim { size: 5, pad_low: 4, ..WindowDim::default() };
/// let window = Window { dims: vec![WindowDim::default(), along.clone()] };
/// let found = Cumulative { dimension: 1, length: 5, backwards: false };
/// assert_eq!(cumulative(&window, &[3, 5]), Some(found));
/// // The windows do not cover this dimension.
/// assert_eq!(cumulative(&window, &[3, 6]), None);
/// assert_eq!(cumulative(&Window { dims: vec![along.clone(), along] }, &[5, 5]), None);
/// ```
pub fn cumulative(window: &Window, sizes: &[i64]) -> Option<Cumulative> {
    let plain = WindowDim::default();
    let mut long = window.dims.iter().enumerate().filter(|(_, w)| **w != plain);
    let ((dimension, w), None) = (long.next()?, long.next()) else { return None };
    let length = *sizes.get(dimension)?;
    let backwards = match (w.pad_low, w.pad_high) {
        (low, 0) if low == length - 1 => false,
        (0, high) if high == length - 1 => true,
        _ => return None,
    };
    let whole = WindowDim { size: length, pad_low: w.pad_low, pad_high: w.pad_high, ..plain };
    (*w == whole).then_some(Cumulative { dimension, length, backwards })
}
