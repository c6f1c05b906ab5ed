//! Convolutions: sums of products over windows of one operand, or into windows of the output.

use super::aggregates::aggregated;
use super::form::{Expression, Form, Term};
use super::labeled::{Label, Labeled};
use super::window::{Placed, back_to_front};
use crate::support::expander::Emitter;
use hlo_ir::attr::{ConvDimLabels, ConvolutionAttrs, Count, Window, WindowDim};
use hlo_ir::build::Build;
use hlo_ir::contraction::{Aggregation, Combination, Interval};
use hlo_ir::{ArrayShape, InstrId, Op};

/// A spatial dimension of a convolution.
struct Spatial {
    /// The label of the left operand's dimension: a window, or the index that is spread over the output.
    left: Label,
    /// The index of the kernel's dimension.
    kernel: usize,
    /// The index of the output's dimension.
    output: usize,
    window: WindowDim,
    /// Whether the left operand's dimension is reversed.
    reversed: bool,
}

/// Returns the convolution of two operands. Output expressions with two indices are replaced in `form` by a
/// single index for the output's dimension.
pub(super) fn convolved(e: &mut Emitter<'_>, form: &mut Form, a: &Labeled, b: &Labeled) -> Option<Labeled> {
    if form.aggregation != Aggregation::Sum || form.combination != Combination::Multiply || form.has_default {
        return None;
    }
    let ty = e.array(a.value)?.element_type;
    if ty.is_pred() {
        return None;
    }
    let has_window = |x: &Labeled| x.labels.iter().any(|l| matches!(l, Label::Window(..)));
    let (lhs, rhs) = match (has_window(a), has_window(b)) {
        (true, true) => return None,
        (true, false) => (a, b),
        (false, true) => (b, a),
        (false, false) if spreads_most(form, a, b)? => (a, b),
        (false, false) => (b, a),
    };
    let mut spatial = Vec::new();
    let sizes = e.array(lhs.value)?.dims;
    for (label, &size) in lhs.labels.iter().zip(&sizes) {
        if let Label::Window(outer, inner, offset) = *label {
            spatial.push(gathered(form, rhs, *label, (outer, inner, offset), size)?);
        }
    }
    for d in 0..form.output.len() {
        let expression = form.output[d];
        if let Expression::Two(p, q, offset) = expression
            && form.digits(expression, form.sizes[d]).is_none()
        {
            spatial.push(spread_out(form, lhs, rhs, d, (p, q, offset))?);
        }
    }
    let classes = Classes::of(form, lhs, rhs, &spatial);
    let lhs = aggregated(e, form, lhs, &classes.only_lhs)?;
    let rhs = aggregated(e, form, rhs, &classes.only_rhs)?;
    let reversed: Vec<i64> = spatial
        .iter()
        .filter(|s| s.reversed)
        .filter_map(|s| lhs.labels.iter().position(|l| *l == s.left))
        .map(|d| d as i64)
        .collect();
    let lhs = Labeled { value: back_to_front(e, lhs.value, &reversed), labels: lhs.labels };
    add(e, form, &lhs, &rhs, &spatial, &classes)
}

/// Checks whether `a` is the operand whose index is spread over the output with the larger stride.
fn spreads_most(form: &Form, a: &Labeled, b: &Labeled) -> Option<bool> {
    let two = form.output.iter().zip(&form.sizes).find_map(|(e, &size)| match *e {
        Expression::Two(p, q, _) if form.digits(*e, size).is_none() => Some((p, q)),
        _ => None,
    });
    let (p, q) = two?;
    let (of_a, of_b) = if a.position(p.index).is_some() { (p, q) } else { (q, p) };
    a.position(of_a.index)?;
    b.position(of_b.index)?;
    let key = |t: Term| (t.scale.unsigned_abs(), form.count(t.index));
    Some(key(of_a) >= key(of_b))
}

/// Returns the spatial dimension for windows of the left operand.
fn gathered(
    form: &Form,
    rhs: &Labeled,
    left: Label,
    (outer, inner, offset): (Term, Term, i64),
    size: i64,
) -> Option<Spatial> {
    // The position of a window must be an index of the output only, and the position in a window an index of
    // the kernel only.
    rhs.position(inner.index)?;
    if form.uses(outer.index) != 2 || form.uses(inner.index) != 2 || rhs.position(outer.index).is_some() {
        return None;
    }
    let place = Placed::of(form, outer, inner, offset, size)?;
    let window = place.window(form.count(outer.index), form.count(inner.index), size)?;
    Some(Spatial { left, kernel: inner.index, output: outer.index, window, reversed: place.reversed })
}

/// Returns the spatial dimension for dimension `d` of the output, over which the elements of both operands
/// are spread. It is a window of the left operand with zeros between the elements. From then on, the output's
/// index is that of the left operand.
fn spread_out(
    form: &mut Form,
    lhs: &Labeled,
    rhs: &Labeled,
    d: usize,
    (p, q, offset): (Term, Term, i64),
) -> Option<Spatial> {
    let (x, k) = if lhs.position(p.index).is_some() { (p, q) } else { (q, p) };
    lhs.position(x.index)?;
    rhs.position(k.index)?;
    let masked = form.masks.iter().any(|m| m.index.depends_on(x.index) || m.index.depends_on(k.index));
    if form.uses(x.index) != 2 || form.uses(k.index) != 2 || masked {
        return None;
    }
    let (places, taps, size) = (form.count(x.index), form.count(k.index), form.sizes[d]);
    let low = |t: Term| t.scale.checked_mul(form.ranges[t.index].low);
    let mut at = offset.checked_add(low(x)?)?.checked_add(low(k)?)?;
    let (mut step, reversed) = (x.scale, x.scale < 0);
    if reversed {
        at = at.checked_add(step.checked_mul(places - 1)?)?;
        step = step.checked_neg()?;
    }
    // The output's index is step · x + k.scale · k + at. In terms of dilated elements, x is at y - k.scale ·
    // k - at.
    let span = k.scale.checked_abs()?.checked_mul(taps - 1)?;
    let flipped = k.scale > 0;
    let pad_low = if flipped { at.checked_add(span)? } else { at };
    let dilated = step.checked_mul(places - 1)?.checked_add(1)?;
    let window = WindowDim {
        size: taps,
        pad_low,
        pad_high: (size - 1).checked_add(span)?.checked_add(1)?.checked_sub(dilated)?.checked_sub(pad_low)?,
        lhs_dilate: if places == 1 { 1 } else { step },
        rhs_dilate: if taps == 1 { 1 } else { k.scale.checked_abs()? },
        reversed: flipped,
        ..WindowDim::default()
    };
    form.output[d] = Expression::One(Term { index: x.index, scale: 1 }, 0);
    form.ranges[x.index] = Interval { low: 0, high: size - 1 };
    Some(Spatial { left: Label::Index(x.index), kernel: k.index, output: x.index, window, reversed })
}

/// The roles of the indices that are not spatial.
struct Classes {
    batch: Vec<usize>,
    groups: Vec<usize>,
    input_features: Vec<usize>,
    output_features: Vec<usize>,
    only_lhs: Vec<usize>,
    only_rhs: Vec<usize>,
}

impl Classes {
    fn of(form: &Form, lhs: &Labeled, rhs: &Labeled, spatial: &[Spatial]) -> Self {
        let is_spatial = |i: usize| spatial.iter().any(|s| s.left == Label::Index(i) || s.kernel == i);
        let all = |x: &Labeled, y: &Labeled, output: bool, both: bool| -> Vec<usize> {
            let indices = x.indices().into_iter().filter(|&i| !is_spatial(i));
            indices.filter(|&i| form.is_output(i) == output && y.position(i).is_some() == both).collect()
        };
        Self {
            batch: all(lhs, rhs, true, false),
            groups: all(lhs, rhs, true, true),
            input_features: all(lhs, rhs, false, true),
            output_features: all(rhs, lhs, true, false),
            only_lhs: all(lhs, rhs, false, false),
            only_rhs: all(rhs, lhs, false, false),
        }
    }
}

/// Adds the convolution.
fn add(
    e: &mut Emitter<'_>,
    form: &Form,
    lhs: &Labeled,
    rhs: &Labeled,
    spatial: &[Spatial],
    classes: &Classes,
) -> Option<Labeled> {
    let Classes { batch, groups, input_features, output_features, .. } = classes;
    let labels = |indices: &[usize]| indices.iter().map(|&i| Label::Index(i)).collect::<Vec<_>>();
    let features = [groups.as_slice(), input_features].concat();
    let kernels = [groups.as_slice(), output_features].concat();
    let left: Vec<Vec<Label>> =
        [labels(batch), labels(&features)].into_iter().chain(spatial.iter().map(|s| vec![s.left])).collect();
    let right: Vec<Vec<Label>> = [labels(input_features), labels(&kernels)]
        .into_iter()
        .chain(spatial.iter().map(|s| vec![Label::Index(s.kernel)]))
        .collect();
    let (lhs, lhs_at) = merged(e, lhs, &left)?;
    let (rhs, rhs_at) = merged(e, rhs, &right)?;

    // Orders the output's dimensions like those of the contraction, as far as merged dimensions allow.
    let order: Vec<usize> = form.output.iter().flat_map(Expression::terms).map(|t| t.index).collect();
    let first = |indices: &[usize]| indices.iter().filter_map(|i| order.iter().position(|o| o == i)).min();
    let mut parts: Vec<(usize, usize, Vec<usize>)> = vec![
        (first(batch).unwrap_or(0), 0, batch.clone()),
        (first(&kernels).unwrap_or(order.len()), 1, kernels),
    ];
    for (n, s) in spatial.iter().enumerate() {
        parts.push((first(&[s.output])?, n + 2, vec![s.output]));
    }
    parts.sort();
    let mut output_at = vec![0; parts.len()];
    for (place, (_, part, _)) in parts.iter().enumerate() {
        output_at[*part] = place as i64;
    }
    let size = |indices: &[usize]| indices.iter().try_fold(1_i64, |n, &i| n.checked_mul(form.count(i)));
    let sizes = parts.iter().map(|(_, _, indices)| size(indices)).collect::<Option<Vec<_>>>()?;
    let attributes = ConvolutionAttrs {
        window: Window { dims: spatial.iter().map(|s| s.window).collect() },
        dim_labels: ConvDimLabels {
            input_batch: lhs_at[0],
            input_feature: lhs_at[1],
            input_spatial: lhs_at[2..].iter().copied().collect(),
            kernel_input_feature: rhs_at[0],
            kernel_output_feature: rhs_at[1],
            kernel_spatial: rhs_at[2..].iter().copied().collect(),
            output_batch: output_at[0],
            output_feature: output_at[1],
            output_spatial: output_at[2..].iter().copied().collect(),
        },
        feature_group_count: Count(size(groups)?),
        ..ConvolutionAttrs::default()
    };
    let ty = e.array(lhs)?.element_type;
    let value = e.add(ArrayShape::new(ty, sizes), Op::Convolution(Box::new(attributes)), &[lhs, rhs]);
    let indices: Vec<usize> = parts.into_iter().flat_map(|(_, _, indices)| indices).collect();
    let apart: Vec<i64> = indices.iter().map(|&i| form.count(i)).collect();
    let value = e.reshaped(value, &apart)?;
    Some(Labeled { value, labels: labels(&indices) })
}

/// Merges the dimensions of an array to one dimension per list of labels. Returns the array and the position
/// of each list. Dimensions are transposed only if those of one list are not adjacent.
fn merged(e: &mut Emitter<'_>, array: &Labeled, lists: &[Vec<Label>]) -> Option<(InstrId, Vec<i64>)> {
    let at = |label: &Label| array.labels.iter().position(|l| l == label);
    let mut parts: Vec<(usize, usize)> = Vec::with_capacity(lists.len());
    for (number, list) in lists.iter().enumerate() {
        let first = list.iter().map(at).collect::<Option<Vec<_>>>()?.into_iter().min();
        parts.push((first.unwrap_or(array.labels.len()), number));
    }
    parts.sort_unstable();
    let order: Vec<usize> = parts.iter().flat_map(|&(_, n)| lists[n].iter().filter_map(at)).collect();
    if order.len() != array.labels.len() {
        return None;
    }
    let shape = e.array(array.value)?;
    let value = e.transposed(array.value, &order)?;
    let size = |list: &[Label]| list.iter().filter_map(at).map(|d| shape.dims[d]).product::<i64>();
    let sizes: Vec<i64> = parts.iter().map(|&(_, n)| size(&lists[n])).collect();
    let mut places = vec![0; lists.len()];
    for (place, &(_, number)) in parts.iter().enumerate() {
        places[number] = place as i64;
    }
    Some((e.reshaped(value, &sizes)?, places))
}
