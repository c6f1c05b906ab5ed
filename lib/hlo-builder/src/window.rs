//! Windows that move over arrays, and what is put around these.

use hlo_ir::ArrayShape;
use hlo_ir::attr::{Window, WindowDim};

/// How many elements are put before and after an array in each dimension that a window moves along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    /// None: windows lie within the array.
    Valid,
    /// So many that there is a window for each stride begun: the result is as large as the array where strides are 1. Of an
    /// odd number the larger part is put after.
    Same,
    /// Numbers before and after, for each dimension.
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
    /// The numbers before and after each dimension of an array of these sizes, for windows of these sizes.
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

/// The window of these sizes; what is left out is 1, for strides and dilations, or 0. An error names what has another length
/// than the sizes.
pub(crate) fn window(
    sizes: &[i64],
    strides: &[i64],
    padding: &[(i64, i64)],
    dilations: [&[i64]; 2],
) -> Result<Window, String> {
    let checked = |what: &str, length: usize| match length == 0 || length == sizes.len() {
        true => Ok(()),
        false => Err(format!("the window has {} dimensions, but there are {length} {what}", sizes.len())),
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

/// The window of a windowed reduction of an array.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_padding_gives_a_window_for_each_stride() {
        // TensorFlow's examples of SAME: 13 elements, windows of 6, strides of 5.
        assert_eq!(Padding::Same.amounts(&[13], &[6], &[5]), [(1, 2)]);
        assert_eq!(Padding::Same.amounts(&[5, 4], &[3, 2], &[1, 2]), [(1, 1), (0, 0)]);
        assert_eq!(Padding::Same.amounts(&[3], &[1], &[2]), [(0, 0)]);
    }
}
