//! Convolutions of a dilated input, such as the gradient of a strided convolution. Outputs that are a
//! dilation apart read elements at the same window positions. So each remainder of the output positions is
//! computed as one convolution of the undilated input.

use super::geometry::{Dim, Geometry, greatest_common_divisor};
use hlo_runtime_core::Error;

/// Returns whether the input is dilated.
pub(super) fn is_dilated(g: &Geometry) -> bool {
    g.dims.iter().any(|d| d.lhs_dilation != 1)
}

/// Calls `conv` with convolutions that together compute `g`, and with the byte offset in the output of each.
/// The sums omit the zeros between elements.
pub(super) fn for_each_class(
    g: &Geometry,
    mut conv: impl FnMut(&Geometry, isize) -> Result<(), Error>,
) -> Result<(), Error> {
    split(g.clone(), 0, 0, &mut conv)
}

fn split(
    g: Geometry,
    d: usize,
    out: isize,
    conv: &mut impl FnMut(&Geometry, isize) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(&dim) = g.dims.get(d) else {
        let mut g = g;
        g.pixels = g.dims.iter().map(|d| d.out_size).product::<usize>() * g.batch;
        g.positions = g.dims.iter().map(|d| d.window).product();
        return conv(&g, out);
    };
    let period = dim.lhs_dilation / greatest_common_divisor(dim.stride, dim.lhs_dilation);
    for remainder in 0..dim.out_size.min(period as usize) {
        let mut part = g.clone();
        let (narrowed, skipped) = class(&dim, period, remainder);
        part.rhs_start += skipped as isize * dim.rhs_stride;
        part.dims[d] = narrowed;
        split(part, d + 1, out + remainder as isize * dim.out_stride, conv)?;
    }
    Ok(())
}

/// Returns the dimension for the outputs with this remainder, and the first window position that is on an
/// element.
fn class(dim: &Dim, period: i64, remainder: usize) -> (Dim, usize) {
    let common = greatest_common_divisor(dim.rhs_dilation, dim.lhs_dilation);
    let apart = (dim.lhs_dilation / common) as usize;
    let at = |w: usize| dim.first(remainder) + w as i64 * dim.rhs_dilation;
    let first = (0..apart.min(dim.window)).find(|&w| at(w) % dim.lhs_dilation == 0);
    let skipped = first.unwrap_or(0);
    let narrowed = Dim {
        out_size: (dim.out_size - remainder).div_ceil(period as usize),
        window: first.map_or(0, |w| (dim.window - w).div_ceil(apart)),
        stride: dim.stride * period / dim.lhs_dilation,
        pad_low: -(at(skipped).div_euclid(dim.lhs_dilation)),
        lhs_dilation: 1,
        rhs_dilation: dim.rhs_dilation / common,
        rhs_stride: dim.rhs_stride.wrapping_mul(apart as isize),
        out_stride: dim.out_stride.wrapping_mul(period as isize),
        ..*dim
    };
    (narrowed, skipped)
}
