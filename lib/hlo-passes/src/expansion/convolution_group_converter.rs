//! `convolution-group-converter`: replaces convolutions with groups by convolutions without groups.
//!
//! ```text
//! convolution(x, k), batch_group_count=n    →  convolution(x', k), feature_group_count=n
//!                                              x': x with the batches of each group as features
//! convolution(x, k), feature_group_count=n  →  concatenate(convolution(x[0], k[0]), convolution(x[1], k[1]), …)
//! ```
//!
//! XLA multiplies by a kernel that is zero between groups. This takes more arithmetic and propagates
//! infinities from one group to others. Convolutions with more than `max-groups` feature groups (depthwise
//! convolutions) are not split, because code generation has its own loops for them.

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::expander::{Emitter, expand_all};
use hlo_ir::attr::ConvolutionAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Module, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "convolution-group-converter",
    summary: "split grouped convolutions into convolutions without groups",
    options: &[OptionInfo {
        name: "max-groups",
        summary: "maximum number of feature groups to split",
        default: OptionValue::Count(16),
    }],
    example: "\
HloModule convolution_group_converter

ENTRY e {
  x = f32[1,8,4] parameter(0)
  k = f32[3,2,6] parameter(1)
  ROOT c = f32[1,6,6] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2
}
",
    build: |_, options| {
        let most = i64::try_from(options.count("max-groups")).unwrap_or(i64::MAX);
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            Ok(expand_all(module, "convolution-groups", has_groups, |e, id| expand(e, id, most), rewrites))
        })
    },
    ..PassInfo::PLAIN
};

fn has_groups(op: &Op) -> bool {
    matches!(op, Op::Convolution(a) if a.batch_groups() > 1 || a.feature_groups() > 1)
}

fn expand(e: &mut Emitter<'_>, id: InstrId, most: i64) -> Option<InstrId> {
    let Op::Convolution(mut attrs) = e.module[id].op.clone() else { return None };
    let &[x, k] = e.module[id].operands.as_slice() else { return None };
    let shape = e.shape().as_array()?.clone();
    let shape = ArrayShape::new(shape.element_type, shape.dims);
    // A convolution cannot have both kinds of groups.
    if !e.is_static(id) || (attrs.batch_groups() > 1 && attrs.feature_groups() > 1) {
        return None;
    }
    let groups = attrs.batch_groups().max(attrs.feature_groups());
    let mut input = x;
    if attrs.batch_groups() > 1 {
        input = batches_as_features(e, x, &attrs)?;
        attrs.batch_group_count.0 = 1;
        attrs.feature_group_count.0 = groups;
    } else if groups > most {
        return None;
    }
    let result = if groups > most {
        e.add(shape, Op::Convolution(attrs), &[input, k])
    } else {
        split(e, input, k, &attrs, &shape)?
    };
    e.results(&[result])
}

/// Converts the batches of each group to features, ordered by group like feature groups.
fn batches_as_features(e: &mut Emitter<'_>, x: InstrId, attrs: &ConvolutionAttrs) -> Option<InstrId> {
    let mut dims = e.array(x)?.dims.to_vec();
    let batch = usize::try_from(attrs.dim_labels.input_batch).ok()?;
    let feature = usize::try_from(attrs.dim_labels.input_feature).ok()?;
    let groups = attrs.batch_groups();
    let (&batches, &features) = (dims.get(batch)?, dims.get(feature)?);
    if batches % groups != 0 {
        return None;
    }
    let mut apart = dims.clone();
    apart[batch] = batches / groups;
    apart.insert(batch, groups);
    let apart = e.reshaped(x, &apart)?;
    // Move the dimension of groups directly before that of features.
    let mut order: Vec<usize> = (0..=dims.len()).filter(|&d| d != batch).collect();
    let moved = |d: usize| if d < batch { d } else { d + 1 };
    let place = order.iter().position(|&d| d == moved(feature))?;
    order.insert(place, batch);
    let beside = e.transposed(apart, &order)?;
    dims[batch] = batches / groups;
    dims[feature] = features.checked_mul(groups)?;
    e.reshaped(beside, &dims)
}

/// Adds one convolution per feature group and concatenates their results.
fn split(
    e: &mut Emitter<'_>,
    x: InstrId,
    k: InstrId,
    attrs: &ConvolutionAttrs,
    shape: &ArrayShape,
) -> Option<InstrId> {
    let labels = &attrs.dim_labels;
    let dim = |d: i64| usize::try_from(d).ok();
    let (feature, output) = (dim(labels.input_feature)?, dim(labels.kernel_output_feature)?);
    let result = dim(labels.output_feature)?;
    let groups = attrs.feature_groups();
    let features = *e.array(x)?.dims.get(feature)? / groups;
    let outputs = *shape.dims.get(result)? / groups;
    let mut one = attrs.clone();
    one.feature_group_count.0 = 1;
    let mut part = shape.clone();
    part.dims[result] = outputs;
    let mut parts = Vec::new();
    for g in 0..groups {
        let x = e.sliced(x, feature, g * features, (g + 1) * features)?;
        let k = e.sliced(k, output, g * outputs, (g + 1) * outputs)?;
        parts.push(e.add(part.clone(), Op::Convolution(Box::new(one.clone())), &[x, k]));
    }
    e.joined(&parts, result)
}
