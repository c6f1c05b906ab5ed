//! Rules for windows that move over an array: `reduce-window`, `select-and-scatter`, `convolution`.

use super::context::Context;
use super::dim::Dim;
use super::violation::Violation;
use crate::attr::{Window, WindowDim};
use crate::rules::code;

/// Returns the number of positions of a window along one dimension of `base`, which may be dynamic.
fn places(cx: &Context<'_>, i: usize, base: Dim, w: &WindowDim) -> Result<Dim, Violation> {
    if w.size < 1 || w.stride < 1 || w.lhs_dilate < 1 || w.rhs_dilate < 1 {
        return Err(cx.error(
            code::WINDOW_POSITIVE,
            format!(
                "needs window sizes, strides and dilations of 1 or more, found size {} stride {} lhs_dilate {} \
                 rhs_dilate {} in dimension {i} of `window`",
                w.size, w.stride, w.lhs_dilate, w.rhs_dilate
            ),
        ).of("window"));
    }
    let dilated = |size: i64, by: i64| match size {
        0 => Some(0),
        _ => (size - 1).checked_mul(by)?.checked_add(1),
    };
    let output = base.map(|size| {
        let padded = dilated(size, w.lhs_dilate)?.checked_add(w.pad_low)?.checked_add(w.pad_high)?;
        let window = dilated(w.size, w.rhs_dilate)?;
        if padded < 0 {
            return Some(-1);
        }
        Some(if window > padded { 0 } else { (padded - window) / w.stride + 1 })
    });
    match output {
        None => Err(cx.overflow()),
        Some(d) if d.size == -1 => Err(cx
            .error(
                code::WINDOW_PADDING,
                format!(
                    "pads by {}_{} in dimension {i} of `window`, which takes away more than the size {}",
                    w.pad_low, w.pad_high, base.size
                ),
            )
            .of("window")),
        Some(d) => Ok(d),
    }
}

/// Returns the sizes of the result of a window that has one entry for each dimension of `base`. Records all
/// violations of the window.
pub(super) fn window_outputs(
    cx: &Context<'_>,
    base: Vec<Dim>,
    window: &Window,
) -> Result<Vec<Dim>, Violation> {
    if window.dims.len() != base.len() {
        return Err(cx
            .error(
                code::WINDOW_RANK,
                format!(
                    "needs a window of {} dimensions in `window`, found {}",
                    base.len(),
                    window.dims.len()
                ),
            )
            .of("window"));
    }
    let mut first = None;
    let mut outputs = Vec::with_capacity(base.len());
    for (i, (d, w)) in base.into_iter().zip(&window.dims).enumerate() {
        match (places(cx, i, d, w), &first) {
            (Ok(d), _) => outputs.push(d),
            (Err(v), None) => first = Some(v),
            (Err(v), Some(_)) => cx.report(v),
        }
    }
    first.map_or(Ok(outputs), Err)
}
