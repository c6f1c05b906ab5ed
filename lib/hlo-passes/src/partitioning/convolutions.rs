//! The loops of convolutions.
//!
//! The batch, and the features that a convolution makes, are those of the result. What is summed over are the features of
//! the input and the places of the window. Along a spatial dimension there are two loops, of the result's places and of the
//! window's, and the input is read at the sum of both: it is cut with the longer one, which in a gradient is the window's.
//! Groups are cut with the features that are made of them, so that no part has a part of a group.

use super::factors::{Factor, Factors, Kind};
use super::reaches::{Reach, windowed};
use hlo_ir::ArrayShape;
use hlo_ir::attr::{ConvolutionAttrs, WindowDim};

/// The loops of a convolution, without those that the input is read around.
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
    match a.batch_groups() > 1 {
        true => found.operands[0][of_batch] = Some(features),
        false => {
            found.factors[batch].kind = Kind::Kept;
            found.operands[0][of_batch] = Some(batch);
        }
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
        // A window of one place is no loop: the result lies where the input does.
        if *w == (WindowDim { reversed: w.reversed, ..WindowDim::default() }) {
            let (from, to) = (dim(from, input)?, dim(to, result)?);
            found.operands[0][from] = Some(to);
            found.factors[to].kind = Kind::Kept;
        }
    }
    Some(found)
}

/// How the input is read along its spatial dimensions; the loops of windows are added to the factors.
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
        let around = windowed(Reach { from, to, ..Reach::PLAIN }, w);
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
