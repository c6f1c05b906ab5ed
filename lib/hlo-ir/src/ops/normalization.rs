//! Rules for batch normalization.

use super::context::Context;
use super::dim::{Dim, array_of, dim};
use super::violation::{Place, Rule, Violation};
use crate::attr::BatchNormAttrs;
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, Shape};

/// Checks that operand 0 is a float array that has the feature dimension, and that each operand in `vectors`
/// has one element per feature. Returns the shapes of the array and of such a vector.
fn features<'a>(
    cx: &Context<'a>,
    attrs: &BatchNormAttrs,
    vectors: std::ops::Range<usize>,
) -> Result<(&'a ArrayShape, ArrayShape), Violation> {
    let a = cx.array(0)?;
    cx.record_violation(cx.array_of(0, Types::FLOAT));
    let index = cx.check_dim("feature_index", attrs.feature_index, a.rank())?;
    let size: Dim = dim(a, index as i64);
    for i in vectors {
        let Some(v) = cx.record_violation(cx.array(i)) else { continue };
        cx.record_violation(cx.same_type(0, i));
        if v.rank() != 1 || !dim(v, 0).agrees(size) {
            cx.report(
                cx.operand_error(
                    code::FEATURE_VECTOR,
                    i,
                    format!("needs a vector of {} features as operand {i}, found {v}", size.size),
                )
                .with(Place::Operand(0), format!("this is {a}")),
            );
        }
    }
    Ok((a, array_of(a.element_type, [size])))
}

/// Returns the shape of a tuple of an array and two vectors of features. The array is the normalized one or
/// its gradient.
fn with_vectors(a: &ArrayShape, vector: ArrayShape) -> Shape {
    Shape::tuple(vec![a.clone().into(), vector.clone().into(), vector.into()])
}

/// Checks `batch-norm-training(x, scale, offset)`. The result contains the normalized array, the mean and the
/// variance.
pub(super) fn training(cx: &Context<'_>, attrs: &BatchNormAttrs) -> Rule {
    let (a, vector) = features(cx, attrs, 1..3)?;
    Ok(Some(with_vectors(a, vector)))
}

/// Checks `batch-norm-inference(x, scale, offset, mean, variance)`. The result is the normalized array.
pub(super) fn inference(cx: &Context<'_>, attrs: &BatchNormAttrs) -> Rule {
    Ok(Some(features(cx, attrs, 1..5)?.0.clone().into()))
}

/// Checks `batch-norm-grad(x, scale, mean, variance, gradient)`. The result contains the gradients of x,
/// scale and offset.
pub(super) fn grad(cx: &Context<'_>, attrs: &BatchNormAttrs) -> Rule {
    let (a, vector) = features(cx, attrs, 1..4)?;
    cx.record_violation(cx.same_type(0, 4));
    cx.record_violation(cx.same_dims(0, 4));
    Ok(Some(with_vectors(a, vector)))
}
