//! Rules for `convolution`.

use super::context::Context;
use super::dim::{Dim, array_of, dim};
use super::products::product_type;
use super::violation::{Rule, Violation};
use super::window::window_outputs;
use crate::ArrayShape;
use crate::attr::{ConvDimLabels, ConvolutionAttrs};
use crate::opcode::Types;
use crate::rules::code;

/// Checks that one group of labels names each dimension of an array of rank `rank` exactly once.
fn check_labels(
    cx: &Context<'_>,
    what: &str,
    spatial: &[i64],
    others: [i64; 2],
    rank: usize,
) -> Result<(), Violation> {
    let all: Vec<i64> = spatial.iter().copied().chain(others).collect();
    if all.len() != rank {
        return Err(cx
            .error(
                code::LABEL_COUNT,
                format!(
                    "labels {} dimensions of the {what} in `dim_labels`, but the {what} has rank {rank}",
                    all.len()
                ),
            )
            .of("dim_labels"));
    }
    cx.check_dims("dim_labels", &all, rank).map(drop)
}

/// Checks `convolution` (operation semantics, "ConvWithGeneralPadding").
pub(super) fn convolution(cx: &Context<'_>, attrs: &ConvolutionAttrs) -> Rule {
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    let element_type = product_type(cx, Types::ORDERED)?;
    let labels = &attrs.dim_labels;
    let input = [labels.input_batch, labels.input_feature];
    let kernel = [labels.kernel_input_feature, labels.kernel_output_feature];
    let output = [labels.output_batch, labels.output_feature];
    let read = [
        cx.record_violation(check_labels(cx, "input", &labels.input_spatial, input, lhs.rank())),
        cx.record_violation(check_labels(cx, "kernel", &labels.kernel_spatial, kernel, rhs.rank())),
    ];
    check_labels(cx, "output", &labels.output_spatial, output, lhs.rank())?;
    if read.contains(&None) {
        return Ok(None);
    }
    if labels.kernel_spatial.len() != labels.input_spatial.len() {
        return Err(cx.error(
            code::SPATIAL_COUNT,
            format!(
                "needs as many spatial dimensions in the kernel as in the input, found {} and {} in `dim_labels`",
                labels.kernel_spatial.len(),
                labels.input_spatial.len()
            ),
        ).of("dim_labels"));
    }
    check_groups(cx, attrs, lhs, rhs)?;
    let features = dim(rhs, labels.kernel_output_feature);
    if features.dynamic {
        cx.report(cx.operand_error(
            code::KERNEL_OUTPUT_DYNAMIC,
            1,
            format!("needs a kernel with a known number of output features, found {rhs}"),
        ));
    }
    let base: Vec<Dim> = labels.input_spatial.iter().map(|&d| dim(lhs, d)).collect();
    let mut spatial = window_outputs(cx, base, &attrs.window)?;
    for (i, (w, &d)) in attrs.window.dims.iter().zip(&labels.kernel_spatial).enumerate() {
        let size = dim(rhs, d);
        if !size.agrees(Dim::fixed(w.size)) {
            cx.report(cx.operand_error(
                code::KERNEL_WINDOW,
                1,
                format!("has a window size of {} where the kernel's dimension {d} has {}", w.size, size.size),
            ));
        }
        // If the kernel size is dynamic, so is the number of positions where it fits.
        spatial[i].dynamic |= size.dynamic;
    }
    let batch = dim(lhs, labels.input_batch)
        .map(|n| n.checked_div(attrs.batch_groups()))
        .ok_or_else(|| cx.overflow())?;
    let mut result = vec![Dim::fixed(1); lhs.rank()];
    let mut put = |d: i64, size: Dim| {
        if let Some(slot) = usize::try_from(d).ok().and_then(|d| result.get_mut(d)) {
            *slot = size;
        }
    };
    put(labels.output_batch, batch);
    put(labels.output_feature, features);
    for (&d, size) in labels.output_spatial.iter().zip(spatial) {
        put(d, size);
    }
    Ok(Some(array_of(element_type, result).into()))
}

/// Checks the group counts of a convolution against the feature and batch sizes.
fn check_groups(
    cx: &Context<'_>,
    attrs: &ConvolutionAttrs,
    lhs: &ArrayShape,
    rhs: &ArrayShape,
) -> Result<(), Violation> {
    let (features, batches) = (attrs.feature_groups(), attrs.batch_groups());
    if features < 1 || batches < 1 {
        return Err(cx.error(
            code::CONVOLUTION_GROUPS_POSITIVE,
            format!(
                "needs group counts of 1 or more, found feature_group_count={features} \
                 batch_group_count={batches}"
            ),
        ));
    }
    if features > 1 && batches > 1 {
        cx.report(cx.error(
            code::CONVOLUTION_GROUPS_BOTH,
            format!("is grouped by features, feature_group_count={features}, and by batch, batch_group_count={batches}"),
        ));
    }
    let ConvDimLabels { input_batch, input_feature, kernel_input_feature, kernel_output_feature, .. } =
        attrs.dim_labels;
    let multiple = |code, operand: usize, what: &str, size: Dim, of: i64| match size.known() {
        Some(n) if n % of != 0 => cx.report(cx.operand_error(
            code,
            operand,
            format!("needs {what} that is a multiple of {of} groups, found {n}"),
        )),
        _ => {}
    };
    let output_features = dim(rhs, kernel_output_feature);
    multiple(code::INPUT_FEATURE_GROUPS, 0, "an input feature size", dim(lhs, input_feature), features);
    multiple(code::OUTPUT_FEATURE_GROUPS, 1, "an output feature size", output_features, features);
    multiple(code::INPUT_BATCH_GROUPS, 0, "an input batch size", dim(lhs, input_batch), batches);
    multiple(code::OUTPUT_BATCH_GROUPS, 1, "an output feature size", output_features, batches);
    let (input, kernel) = (dim(lhs, input_feature), dim(rhs, kernel_input_feature));
    if let (Some(n), Some(k)) = (input.known(), kernel.known())
        && n % features == 0
        && n / features != k
    {
        cx.report(cx.operand_error(
            code::KERNEL_INPUT_FEATURES,
            1,
            format!(
                "needs a kernel of {} input features ({n} in {features} groups), found {k}",
                n / features
            ),
        ));
    }
    Ok(())
}
