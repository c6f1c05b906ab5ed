//! Windows that reach from each element to the first one of a dimension, or to the last one.

use hlo_ir::attr::{Window, WindowDim};

/// Which dimension the windows of a `reduce-window` run along that make it a cumulative reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cumulative {
    /// The dimension.
    pub dimension: usize,
    /// How many elements it has.
    pub length: i64,
    /// True if windows reach to the last element, false if to the first.
    pub backwards: bool,
}

/// The cumulative reduction that windows make of an array of these sizes; `None` if they make another one.
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
/// // Windows of other elements, too.
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
