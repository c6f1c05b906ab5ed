//! Windows that move over arrays, and the padding of these arrays.

use hlo_ir::ArrayShape;
use hlo_ir::attr::{Window, WindowDim};

/// The padding before and after an array, in each dimension that a window moves along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    /// No padding. All windows are within the array.
    Valid,
    /// Enough padding that the number of windows is the size of the array divided by the stride, rounded up.
    /// If the strides are 1, the result has the size of the array. If the amount is odd, the larger part is
    /// added after the array.
    Same,
    /// The amounts before and after, for each dimension.
    General(Vec<(i64, i64)>),
}

impl<const N: usize> From<[(i64, i64); N]> for Padding {
    fn from(amounts: [(i64, i64); N]) -> Self {
        Self::General(amounts.to_vec())
    }
}

impl From<&[(i64, i64)]> for Padding {
    fn from(amounts: &[(i64, i64)]) -> Self {
        Self::General(amounts.to_vec())
    }
}

impl From<Vec<(i64, i64)>> for Padding {
    fn from(amounts: Vec<(i64, i64)>) -> Self {
        Self::General(amounts)
    }
}

impl Padding {
    /// Returns the amounts before and after each dimension, for an array and a window of the given sizes.
    pub fn amounts(&self, base: &[i64], window: &[i64], strides: &[i64]) -> Vec<(i64, i64)> {
        match self {
            Padding::Valid => vec![(0, 0); base.len()],
            Padding::General(amounts) => amounts.clone(),
            Padding::Same => base
                .iter()
                .zip(window)
                .zip(strides)
                .map(|((&base, &window), &stride)| {
                    let count =
                        base.saturating_add(stride.saturating_sub(1)).checked_div(stride).unwrap_or(0);
                    let span = count.saturating_sub(1).saturating_mul(stride).saturating_add(window);
                    let all = span.saturating_sub(base).max(0);
                    (all / 2, all - all / 2)
                })
                .collect(),
        }
    }
}

/// Creates a window of the given sizes. Empty lists of strides and dilations mean 1, and an empty padding
/// means 0. Returns an error that names a list whose length differs from that of `sizes`.
pub(crate) fn window(
    sizes: &[i64],
    strides: &[i64],
    padding: &[(i64, i64)],
    dilations: [&[i64]; 2],
) -> Result<Window, String> {
    let checked = |what: &str, length: usize| {
        if length == 0 || length == sizes.len() {
            Ok(())
        } else {
            Err(format!("the window has {} dimensions, but there are {length} {what}", sizes.len()))
        }
    };
    checked("strides", strides.len())?;
    checked("padding amounts", padding.len())?;
    checked("dilations of the operand", dilations[0].len())?;
    checked("dilations of the window", dilations[1].len())?;
    let or_one = |list: &[i64], d: usize| list.get(d).copied().unwrap_or(1);
    let dims = sizes.iter().enumerate().map(|(d, &size)| {
        let (pad_low, pad_high) = padding.get(d).copied().unwrap_or((0, 0));
        WindowDim {
            size,
            stride: or_one(strides, d),
            pad_low,
            pad_high,
            lhs_dilate: or_one(dilations[0], d),
            rhs_dilate: or_one(dilations[1], d),
            reversed: false,
        }
    });
    Ok(Window { dims: dims.collect() })
}

/// Creates the window of a windowed reduction of an array.
pub(crate) fn over(
    array: &ArrayShape,
    sizes: &[i64],
    strides: &[i64],
    padding: &Padding,
) -> Result<Window, String> {
    if sizes.len() != array.rank() {
        let (n, rank) = (sizes.len(), array.rank());
        return Err(format!(
            "the window needs a size for each of the {rank} dimensions of {array}, found {n}"
        ));
    }
    window(sizes, strides, &padding.amounts(&array.dims, sizes, strides), [&[], &[]])
}
