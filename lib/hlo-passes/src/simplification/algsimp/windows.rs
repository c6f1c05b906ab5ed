//! Patterns on reduce-window, sort and convolution: single elements, padding, products.

use super::dot::{is_exact_product, sum_of_product};
use crate::support::combiner::{binary_combiner, is_padding};
use crate::support::constants::{is_splat_integer, splat};
use crate::support::rewrite::{Cx, Pattern, index, without_ones};
use hlo_ir::attr::{ConvolutionAttrs, DotAttrs, PaddingDim, ReduceWindowAttrs, SliceDim, WindowDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "reduce-window-one",
        "reduce-window(x, init) of windows of one element → op(init, slice(x)); with padding and a neutral init → pad(op(init, x), init)",
        &[Opcode::ReduceWindow],
        reduce_window_one,
    ),
    Pattern::new(
        "reduce-window-pad",
        "reduce-window(pad(x, init), init) → reduce-window(x, init) with the padding in its window, for a neutral init",
        &[Opcode::ReduceWindow],
        reduce_window_pad,
    ),
    Pattern::new(
        "sort-one",
        "sort along a dimension of size 1, or of empty arrays → the operands",
        &[Opcode::Sort],
        sort_one,
    ),
    Pattern::new(
        "convolution-pad",
        "convolution(pad(x, 0), k) → convolution(x, k) with the padding in its window",
        &[Opcode::Convolution],
        convolution_pad,
    ),
    Pattern::new(
        "convolution-nothing",
        "convolution(x, k) of an empty k → 0",
        &[Opcode::Convolution],
        convolution_nothing,
    ),
    Pattern::new(
        "convolution-dot",
        "convolution(x, k) with a window of one element → dot(x, k), if it needs no transpose",
        &[Opcode::Convolution],
        convolution_dot,
    ),
    Pattern::new(
        "convolution-multiply",
        "convolution(x, k) with a window of one element and a group per feature → multiply(x, broadcast(k)); for floats, products of -0 become +0",
        &[Opcode::Convolution],
        convolution_multiply,
    ),
];

/// Returns the operand, the initial value and the attributes of a windowed reduction of one array.
fn window_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId, ReduceWindowAttrs)> {
    let Op::ReduceWindow(a) = &cx.module[id].op else { return None };
    match cx.module[id].operands.as_slice() {
        &[x, init] if a.window.dims.len() == cx.array(x)?.rank() => Some((x, init, (**a).clone())),
        _ => None,
    }
}

/// Rewrites a windowed reduction in which each result combines the initial value with one element.
fn reduce_window_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, init, a) = window_parts(cx, id)?;
    let to = cx.array(id)?;
    let single = |w: &WindowDim| w.size == 1 && w.stride > 0;
    if !a.window.dims.iter().all(single) {
        return None;
    }
    let opcode = binary_combiner(cx.module, a.to_apply)?;
    let op = opcode.default_op();
    let sizes = cx.array(x)?.dims;
    let pads = |w: &WindowDim| w.pad_low != 0 || w.pad_high != 0 || w.lhs_dilate != 1;
    if a.window.dims.iter().any(pads) {
        let padding: Vec<PaddingDim> = a.window.dims.iter().map(padding_of_one).collect::<Option<_>>()?;
        if !is_padding(cx.module, opcode, init)? || sizes.contains(&0) {
            return None;
        }
        let all = cx.broadcast(init, &sizes, &[])?;
        let value = cx.add(ArrayShape::new(to.element_type, sizes), op, &[all, x]);
        return Some(cx.add_same_shape(Op::pad(padding), &[value, init]));
    }
    let ranges = sizes.iter().zip(&a.window.dims);
    let ranges = ranges.map(|(&limit, w)| SliceDim { start: 0, limit, stride: w.stride }).collect();
    let elements = cx.slice(x, ranges)?;
    let init = cx.broadcast(init, &to.dims, &[])?;
    Some(cx.add_same_shape(op, &[init, elements]))
}

/// Returns the padding around and between elements that a window of one element with stride 1 adds.
fn padding_of_one(w: &WindowDim) -> Option<PaddingDim> {
    let interior = w.lhs_dilate.checked_sub(1)?;
    let adds = w.stride == 1 && w.pad_low >= 0 && w.pad_high >= 0 && interior >= 0;
    adds.then_some(PaddingDim { low: w.pad_low, high: w.pad_high, interior })
}

/// Combines the padding of a window with that of a pad before it. The pad must only add elements. If the
/// window dilates its operand, the pad must add nothing.
fn padded(w: &WindowDim, p: &PaddingDim) -> Option<WindowDim> {
    if p.low < 0 || p.high < 0 || p.interior < 0 {
        return None;
    }
    let plain = w.lhs_dilate == 1 || (p.low == 0 && p.high == 0 && p.interior == 0);
    let dilate = p.interior.checked_add(1)?;
    plain.then_some(WindowDim {
        pad_low: w.pad_low.checked_add(p.low)?,
        pad_high: w.pad_high.checked_add(p.high)?,
        lhs_dilate: w.lhs_dilate.checked_mul(dilate)?,
        ..*w
    })
}

/// Moves the padding of a pad into the window. Positions of a window without an element are skipped, so the
/// padding must not affect the result.
fn reduce_window_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (pad, init, mut a) = window_parts(cx, id)?;
    let Op::Pad(p) = cx.module[pad].op.clone() else { return None };
    let (x, value) = (cx.operand(pad, 0)?, cx.operand(pad, 1)?);
    let same = value == init || splat(cx.module, value).is_some_and(|v| splat(cx.module, init) == Some(v));
    let op = binary_combiner(cx.module, a.to_apply)?;
    if !same || !is_padding(cx.module, op, init)? || cx.array(x)?.dims.contains(&0) {
        return None;
    }
    cx.array(id)?;
    for (w, p) in a.window.dims.iter_mut().zip(&p.padding) {
        *w = padded(w, p)?;
    }
    Some(cx.add_same_shape(Op::ReduceWindow(Box::new(a)), &[x, init]))
}

/// Rewrites a sort of at most one element.
fn sort_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Sort(a) = &cx.module[id].op else { return None };
    let d = index(*a.dimensions.first()?)?;
    let operands = cx.module[id].operands.to_vec();
    let sizes = cx.array(*operands.first()?)?.dims;
    let size = *sizes.get(d)?;
    match operands.as_slice() {
        _ if size > 1 && !sizes.contains(&0) => None,
        [x] if !cx.module[id].shape.is_tuple() => Some(*x),
        several => Some(cx.add_same_shape(Op::Tuple, several)),
    }
}

/// Returns the input, the kernel and the attributes of a convolution with two operands and no sparsity.
fn convolution_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId, Box<ConvolutionAttrs>)> {
    let Op::Convolution(a) = cx.module[id].op.clone() else { return None };
    let plain =
        a.sparsity_config == Default::default() && a.window.dims.len() == a.dim_labels.input_spatial.len();
    match cx.module[id].operands.as_slice() {
        &[x, k] if plain => Some((x, k, a)),
        _ => None,
    }
}

/// Moves padding with zeros into a convolution, which pads with zeros too.
fn convolution_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (pad, kernel, mut a) = convolution_parts(cx, id)?;
    let Op::Pad(p) = cx.module[pad].op.clone() else { return None };
    let (x, value) = (cx.operand(pad, 0)?, cx.operand(pad, 1)?);
    if !is_splat_integer(cx.module, value, 0) || cx.array(x)?.dims.contains(&0) {
        return None;
    }
    cx.array(id)?;
    for (d, p) in p.padding.iter().enumerate() {
        let spatial = a.dim_labels.input_spatial.iter().position(|&s| s == d as i64);
        match spatial.and_then(|s| a.window.dims.get_mut(s)) {
            Some(w) => *w = padded(w, p)?,
            None if p.low == 0 && p.high == 0 && p.interior == 0 => {}
            None => return None,
        }
    }
    Some(cx.add_same_shape(Op::Convolution(a), &[x, kernel]))
}

/// Rewrites a convolution whose sums are empty.
fn convolution_nothing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (_, kernel, _) = convolution_parts(cx, id)?;
    let shape = cx.array(id)?;
    cx.array(kernel)?.dims.contains(&0).then(|| cx.splat_integer(&shape, 0)).flatten()
}

/// Returns whether each window contains only the element at the same index.
fn is_single(w: &WindowDim) -> bool {
    w.size == 1 && w.stride == 1 && w.pad_low == 0 && w.pad_high == 0 && w.lhs_dilate == 1
}

/// Rewrites a convolution in which each output element is the product of one input element and the weight of
/// its feature.
fn convolution_multiply(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, kernel, a) = convolution_parts(cx, id)?;
    let (from, weights, to) = (cx.array(x)?, cx.array(kernel)?, cx.array(id)?);
    let labels = &a.dim_labels;
    let features = *from.dims.get(index(labels.input_feature)?)?;
    let each = a.feature_groups() == features
        && to.dims.get(index(labels.output_feature)?) == Some(&features)
        && weights.checked_element_count() == Some(features);
    let plain = a.batch_groups() == 1
        && a.convolution_kind == Default::default()
        && a.algorithm == Default::default()
        && a.window.dims.iter().all(is_single);
    if !each || !plain || !is_exact_product(cx, &[x, kernel], to.element_type)? {
        return None;
    }
    // The output dimension of each input dimension. If they differ, elements would move.
    let mut map = Dims::new();
    for d in 0..from.rank() as i64 {
        map.push(if d == labels.input_batch {
            labels.output_batch
        } else if d == labels.input_feature {
            labels.output_feature
        } else {
            let s = labels.input_spatial.iter().position(|&s| s == d)?;
            *labels.output_spatial.get(s)?
        });
    }
    if !map.is_sorted() {
        return None;
    }
    let shape = ArrayShape::new(to.element_type, to.dims.iter().copied());
    let line = cx.reshaped(kernel, &[features])?;
    let mut factors = [(x, map), (line, [labels.output_feature].into_iter().collect())];
    for (side, _) in &mut factors {
        *side = cx.convert(*side, shape.element_type)?;
    }
    sum_of_product(cx, &factors, &shape)
}

/// Rewrites a convolution in which each output element is a sum over the input features at one position, as a
/// matrix product.
fn convolution_dot(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, kernel, a) = convolution_parts(cx, id)?;
    let plain = a.feature_groups() == 1 && a.batch_groups() == 1 && a.convolution_kind == Default::default();
    let labels = &a.dim_labels;
    if !plain || labels.input_spatial.is_empty() || !a.window.dims.iter().all(is_single) {
        return None;
    }
    let (from, weights, to) = (cx.array(x)?, cx.array(kernel)?, cx.array(id)?);
    // The output dimensions of the input's positions, in the order of the input.
    let feature = labels.input_feature;
    let output_of = |d: i64| -> Option<i64> {
        if d == labels.input_batch {
            return Some(labels.output_batch);
        }
        let s = labels.input_spatial.iter().position(|&s| s == d)?;
        labels.output_spatial.get(s).copied()
    };
    let places: Vec<i64> =
        (0..from.rank() as i64).filter(|&d| d != feature).map(output_of).collect::<Option<_>>()?;
    let size = |d: &i64| to.dims.get(index(*d)?).copied();
    let in_order = |dims: &[i64]| -> Option<bool> {
        let moved: Vec<i64> = dims.iter().copied().filter(|d| size(d) != Some(1)).collect();
        Some(moved.is_sorted())
    };
    let last: Vec<i64> = places.iter().copied().chain([labels.output_feature]).collect();
    let first: Vec<i64> = [labels.output_feature].into_iter().chain(places.iter().copied()).collect();
    let features = *weights.dims.get(index(labels.kernel_input_feature)?)?;
    let outputs = *weights.dims.get(index(labels.kernel_output_feature)?)?;
    let input_first = labels.kernel_input_feature < labels.kernel_output_feature;
    let matrix: Dims =
        if input_first { [features, outputs] } else { [outputs, features] }.into_iter().collect();
    let contracted = i64::from(!input_first);
    let sizes = |order: &[i64]| -> Option<Dims> { order.iter().map(size).collect() };
    let (operands_swapped, dims) = match (in_order(&last)?, in_order(&first)?) {
        (true, _) => (false, sizes(&last)?),
        (false, true) => (true, sizes(&first)?),
        _ => return None,
    };
    if without_ones(&dims) != without_ones(&to.dims) {
        return None;
    }
    let matrix = cx.reshaped(kernel, &matrix)?;
    let mut attrs = DotAttrs {
        lhs_contracting_dims: [feature].into_iter().collect(),
        rhs_contracting_dims: [contracted].into_iter().collect(),
        operand_precision: a.operand_precision.clone(),
        algorithm: a.algorithm,
        ..DotAttrs::default()
    };
    let mut operands = [x, matrix];
    if operands_swapped {
        std::mem::swap(&mut attrs.lhs_contracting_dims, &mut attrs.rhs_contracting_dims);
        attrs.operand_precision.0.reverse();
        operands.reverse();
    }
    let shape = ArrayShape::new(to.element_type, dims);
    let product = cx.add(shape, Op::Dot(Box::new(attrs)), &operands);
    cx.reshaped(product, &to.dims)
}
