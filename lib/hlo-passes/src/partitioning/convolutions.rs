//! The factors of convolutions.
//!
//! The batch and the output features are dimensions of the result. The sums are over the input features and
//! the window positions. A spatial dimension has two factors, the positions in the result and in the window,
//! and the input is read at the sum of both. The longer factor is split; in a gradient, that is the window.
//! Feature groups are split together with the output features, so that each part contains whole groups.

use super::factors::{Factor, Factors, Kind};
use super::reach::Reach;
use hlo_ir::ArrayShape;
use hlo_ir::attr::{ConvolutionAttrs, WindowDim};

/// Returns the factors of a convolution, without those of windows larger than one element.
pub(super) fn factors(
    a: &ConvolutionAttrs,
    input: &ArrayShape,
    kernel: &ArrayShape,
    result: &ArrayShape,
) -> Option<Factors> {
    let labels = &a.dim_labels;
    let dim = |d: i64, of: &ArrayShape| usize::try_from(d).ok().filter(|&d| d < of.rank());
    let features = dim(labels.output_feature, result)?;
    let batch = dim(labels.output_batch, result)?;
    let plain = |size: i64, kind: Kind| Factor { size, kind, runs: None };
    let mut found = Factors {
        factors: result.dims.iter().map(|&size| plain(size, Kind::Whole)).collect(),
        operands: vec![vec![None; input.rank()], vec![None; kernel.rank()]],
        result: (0..result.rank()).map(Some).collect(),
    };
    found.factors[features].kind = Kind::Kept;
    found.operands[1][dim(labels.kernel_output_feature, kernel)?] = Some(features);
    let (of_batch, of_features) = (dim(labels.input_batch, input)?, dim(labels.input_feature, input)?);
    let groups = a.feature_groups().max(a.batch_groups());
    if groups > 1 {
        found.factors[features].runs = Some(groups);
    }
    if a.batch_groups() > 1 {
        found.operands[0][of_batch] = Some(features)
    } else {
        found.factors[batch].kind = Kind::Kept;
        found.operands[0][of_batch] = Some(batch);
    }
    if a.feature_groups() > 1 {
        found.operands[0][of_features] = Some(features);
    } else {
        let summed = dim(labels.kernel_input_feature, kernel)?;
        found.operands[0][of_features] = Some(found.factors.len());
        found.operands[1][summed] = Some(found.factors.len());
        found.factors.push(plain(kernel.dims[summed], Kind::Combined));
    }
    let places = labels.input_spatial.iter().zip(&labels.output_spatial).zip(&a.window.dims);
    for ((&from, &to), w) in places {
        // A window of size 1 needs no factor: the result has the same index as the input.
        if *w == (WindowDim { reversed: w.reversed, ..WindowDim::default() }) {
            let (from, to) = (dim(from, input)?, dim(to, result)?);
            found.operands[0][from] = Some(to);
            found.factors[to].kind = Kind::Kept;
        }
    }
    Some(found)
}

/// Returns the reaches along the spatial dimensions of the input. Adds the factors of windows that are longer
/// than the result.
pub(super) fn reaches(a: &ConvolutionAttrs, factors: &mut Factors) -> Vec<Reach> {
    let labels = &a.dim_labels;
    let lists = labels.input_spatial.iter().zip(&labels.output_spatial).zip(&labels.kernel_spatial);
    let mut found = Vec::new();
    for (n, (((&from, &to), &tap), w)) in lists.zip(&a.window.dims).enumerate() {
        let place = |d: i64| usize::try_from(d).unwrap_or(usize::MAX);
        let (from, to, tap) = (place(from), place(to), place(tap));
        let Some(places) = factors.factors.get(to).map(|f| f.size) else { continue };
        let unread = factors.operands.first().and_then(|walk| walk.get(from)) == Some(&None);
        if !unread {
            continue;
        }
        let around = Reach { from, to, ..Reach::PLAIN }.windowed(w);
        if w.size <= places || w.reversed {
            found.push(around);
            continue;
        }
        let Some(walk) = factors.operands.get_mut(1).and_then(|walk| walk.get_mut(tap)) else { continue };
        let taps = factors.factors.len();
        *walk = Some(taps);
        factors.factors.push(Factor { size: w.size, kind: Kind::Combined, runs: None });
        let (step, extent) = (w.rhs_dilate.max(1), (places - 1) * w.stride.max(1) + 1);
        found.push(Reach { to: taps, window: Some(n), step, extent, ..around });
    }
    found
}
