//! Rules of products, convolutions, transforms and factorisations.

use super::context::{Context, Types};
use super::dim::{Dim, array_of, dim, dims, dims_agree};
use super::violation::{Place, Rule, Violation};
use super::window::window_outputs;
use crate::attr::TriangularSolveAttrs;
use crate::attr::{
    CholeskyAttrs, ConvDimLabels, ConvolutionAttrs, DotAttrs, FftAttrs, FftType, RaggedDotAttrs,
};
use crate::rules::code;
use crate::{ArrayShape, ElementType};

/// The element type of a product of operands whose types, if they differ, are both in `mixed`: the wider one,
/// a float before an integer. A written type may be another one of its kind, or any real one for real
/// operands as long as it loses no bits of integers (accumulation in a wider type).
fn product_type(cx: &Context<'_>, mixed: Types) -> Result<ElementType, Violation> {
    let (a, b) = (cx.array(0)?.element_type, cx.array(1)?.element_type);
    if !(mixed.contains(a) && mixed.contains(b)) {
        cx.same_type(0, 1)?;
    }
    let rank = |t: ElementType| (t.is_float(), t.bit_width());
    let wider = if rank(b) > rank(a) { b } else { a };
    let Some(w) = cx.written_array()? else { return Ok(wider) };
    let t = w.element_type;
    let narrower = !wider.is_float() && t.bit_width() < wider.bit_width();
    if t.is_complex() != wider.is_complex() || narrower {
        return Err(cx.written_error(format!("of {wider} does not give {t}")));
    }
    Ok(t)
}

/// Checks the dimension numbers of a product and the sizes that they relate, and gives the result's
/// dimensions: batch, then the left, then the right operand's free ones.
fn product_dims(
    cx: &Context<'_>,
    batch: [&[i64]; 2],
    contracting: [&[i64]; 2],
) -> Result<Vec<Dim>, Violation> {
    const BATCH: [&str; 2] = ["lhs_batch_dims", "rhs_batch_dims"];
    const CONTRACTING: [&str; 2] = ["lhs_contracting_dims", "rhs_contracting_dims"];
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    let mut result: Vec<Dim> = Vec::new();
    let mut free: Vec<Dim> = Vec::new();
    for (i, operand) in [lhs, rhs].into_iter().enumerate() {
        let b = cx.check_dims(BATCH[i], batch[i], operand.rank())?;
        let c = cx.check_dims(CONTRACTING[i], contracting[i], operand.rank())?;
        cx.check_disjoint((BATCH[i], &b), (CONTRACTING[i], &c))?;
        free.extend(dims(operand).zip(b.into_iter().zip(c)).filter(|&(_, (b, c))| !b && !c).map(|(d, _)| d));
    }
    cx.check_len(BATCH[1], batch[1].len(), batch[0].len())?;
    cx.check_len(CONTRACTING[1], contracting[1].len(), contracting[0].len())?;
    for (&a, &b) in batch[0].iter().zip(batch[1]) {
        result.push(cx.same_size((0, lhs, a), (1, rhs, b), "batch")?);
    }
    for (&a, &b) in contracting[0].iter().zip(contracting[1]) {
        cx.same_size((0, lhs, a), (1, rhs, b), "contracting")?;
    }
    result.extend(free);
    Ok(result)
}

/// `dot`: the products' sums over the contracting dimensions.
///
/// JAX writes products of a float and an integer matrix, so any two real types go together.
pub(super) fn dot(cx: &Context<'_>, attrs: &DotAttrs) -> Rule {
    let element_type = product_type(cx, Types::REAL)?;
    let result = product_dims(
        cx,
        [&attrs.lhs_batch_dims, &attrs.rhs_batch_dims],
        [&attrs.lhs_contracting_dims, &attrs.rhs_contracting_dims],
    )?;
    Ok(Some(array_of(element_type, result).into()))
}

/// `scaled-dot`: a product whose operands have scales; the written shape stands.
pub(super) fn scaled_dot(cx: &Context<'_>, attrs: &DotAttrs) -> Rule {
    product_dims(
        cx,
        [&attrs.lhs_batch_dims, &attrs.rhs_batch_dims],
        [&attrs.lhs_contracting_dims, &attrs.rhs_contracting_dims],
    )?;
    Ok(None)
}

/// `ragged-dot(lhs, rhs, group sizes)`: which dimension is ragged decides the result's; the written shape
/// stands but for its element type.
pub(super) fn ragged_dot(cx: &Context<'_>, attrs: &RaggedDotAttrs) -> Rule {
    product_type(cx, Types::REAL)?;
    product_dims(
        cx,
        [&attrs.lhs_batch_dims, &attrs.rhs_batch_dims],
        [&attrs.lhs_contracting_dims, &attrs.rhs_contracting_dims],
    )?;
    cx.array_of(2, Types::INTEGER)?;
    cx.one_dim("lhs_ragged_dims", &attrs.lhs_ragged_dims, cx.array(0)?.rank())?;
    cx.check_dims("rhs_group_dims", &attrs.rhs_group_dims, cx.array(1)?.rank())?;
    Ok(None)
}

/// Checks that one group of labels names each dimension of an array of rank `rank` once.
fn check_labels(
    cx: &Context<'_>,
    what: &str,
    spatial: &[i64],
    others: [i64; 2],
    rank: usize,
) -> Result<(), Violation> {
    let all: Vec<i64> = spatial.iter().copied().chain(others).collect();
    cx.check_len(what, all.len(), rank)?;
    cx.check_dims(what, &all, rank).map(drop)
}

/// `convolution` (operation semantics, "ConvWithGeneralPadding").
pub(super) fn convolution(cx: &Context<'_>, attrs: &ConvolutionAttrs) -> Rule {
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    let element_type = product_type(cx, Types::FLOAT)?;
    let labels = &attrs.dim_labels;
    check_labels(
        cx,
        "dim_labels (input)",
        &labels.input_spatial,
        [labels.input_batch, labels.input_feature],
        lhs.rank(),
    )?;
    let kernel_features = [labels.kernel_input_feature, labels.kernel_output_feature];
    check_labels(cx, "dim_labels (kernel)", &labels.kernel_spatial, kernel_features, rhs.rank())?;
    let output_others = [labels.output_batch, labels.output_feature];
    check_labels(cx, "dim_labels (output)", &labels.output_spatial, output_others, lhs.rank())?;
    cx.check_len("dim_labels (kernel)", labels.kernel_spatial.len(), labels.input_spatial.len())?;
    let base: Vec<Dim> = labels.input_spatial.iter().map(|&d| dim(lhs, d)).collect();
    let spatial = window_outputs(cx, base, &attrs.window)?;
    for (w, &d) in attrs.window.dims.iter().zip(&labels.kernel_spatial) {
        if !dim(rhs, d).agrees(Dim::fixed(w.size)) {
            return Err(cx
                .error(
                    code::ATTRIBUTE,
                    format!(
                        "has a window size of {} where the kernel's dimension {d} has {}",
                        w.size,
                        dim(rhs, d).size
                    ),
                )
                .with(Place::Operand(1), format!("this is {rhs}")));
        }
    }
    check_groups(cx, attrs, lhs, rhs)?;
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
    put(labels.output_feature, dim(rhs, labels.kernel_output_feature));
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
    if features < 1 || batches < 1 || (features > 1 && batches > 1) {
        return Err(cx.error(
            code::ATTRIBUTE,
            format!(
                "needs group counts of 1 or more, at most one of them above 1, found feature_group_count={features} \
                 batch_group_count={batches}"
            ),
        ));
    }
    let ConvDimLabels { input_batch, input_feature, kernel_input_feature, kernel_output_feature, .. } =
        attrs.dim_labels;
    let multiple = |what: &str, size: Dim, of: i64| match size.known() {
        Some(n) if n % of != 0 => Err(cx.error(
            code::OPERAND_SHAPES,
            format!("needs {what} that is a multiple of {of} groups, found {n}"),
        )),
        _ => Ok(()),
    };
    multiple("an input feature size", dim(lhs, input_feature), features)?;
    multiple("an output feature size", dim(rhs, kernel_output_feature), features)?;
    multiple("an input batch size", dim(lhs, input_batch), batches)?;
    multiple("an output feature size", dim(rhs, kernel_output_feature), batches)?;
    let (input, kernel) = (dim(lhs, input_feature), dim(rhs, kernel_input_feature));
    match (input.known(), kernel.known()) {
        (Some(n), Some(k)) if n / features != k => Err(cx
            .error(
                code::OPERAND_SHAPES,
                format!(
                    "needs a kernel of {} input features ({n} in {features} groups), found {k}",
                    n / features
                ),
            )
            .with(Place::Operand(1), format!("this is {rhs}"))),
        _ => Ok(()),
    }
}

/// `fft`: transforms the last dimensions, whose lengths are written.
pub(super) fn fft(cx: &Context<'_>, attrs: &FftAttrs) -> Rule {
    let lengths = &attrs.fft_length;
    let types = match attrs.fft_type {
        FftType::Fft | FftType::Ifft | FftType::Irfft => Types::COMPLEX,
        FftType::Rfft => Types::FLOAT,
    };
    let a = cx.array_of(0, types)?;
    let Some(first) = a.rank().checked_sub(lengths.len()).filter(|_| (1..=3).contains(&lengths.len())) else {
        return Err(cx.error(
            code::ATTRIBUTE,
            format!(
                "transforms 1 to 3 dimensions of its operand, {a}, but `fft_length` has {}",
                lengths.len()
            ),
        ));
    };
    let last = a.rank() - 1;
    let half = |n: i64| n / 2 + i64::from(n != 0);
    for (i, &n) in lengths.iter().enumerate() {
        let expected = if attrs.fft_type == FftType::Irfft && first + i == last { half(n) } else { n };
        let found = dim(a, (first + i) as i64);
        if n < 0 || !found.agrees(Dim::fixed(expected)) {
            return Err(cx
                .error(
                    code::ATTRIBUTE,
                    format!(
                        "of type {} and length {n} needs size {expected} in dimension {}, found {}",
                        attrs.fft_type.text(),
                        first + i,
                        found.size
                    ),
                )
                .with(Place::Operand(0), format!("this is {a}")));
        }
    }
    let n = lengths.last().copied().unwrap_or(0);
    let (element_type, last_size) = match attrs.fft_type {
        FftType::Fft | FftType::Ifft => (a.element_type, dim(a, last as i64)),
        FftType::Irfft => (a.element_type.real_type(), Dim::fixed(n)),
        FftType::Rfft => {
            let complex = a.element_type.complex_type().ok_or_else(|| {
                cx.error(code::ELEMENT_TYPE, format!("of type RFFT works on f32 and f64, found {a}"))
                    .with(Place::Operand(0), format!("this is {a}"))
            })?;
            (complex, Dim::fixed(half(n)))
        }
    };
    let result = dims(a).enumerate().map(|(i, d)| if i == last { last_size } else { d });
    Ok(Some(array_of(element_type, result).into()))
}

/// Checks that the last two dimensions of operand 0 are there and of one size, and gives the array.
fn square<'a>(cx: &Context<'a>) -> Result<&'a ArrayShape, Violation> {
    let a = cx.array_of(0, Types::INEXACT)?;
    let n = a.rank() as i64;
    if n < 2 || !dim(a, n - 1).agrees(dim(a, n - 2)) {
        return Err(cx.kind_error(0, "square matrices", cx.operand(0)?));
    }
    Ok(a)
}

/// `cholesky`: the operand's shape.
pub(super) fn cholesky(cx: &Context<'_>, _: &CholeskyAttrs) -> Rule {
    Ok(Some(square(cx)?.clone().into()))
}

/// `triangular-solve(a, b)`: the shape of `b`.
pub(super) fn triangular_solve(cx: &Context<'_>, attrs: &TriangularSolveAttrs) -> Rule {
    let (a, b) = (square(cx)?, cx.array(1)?);
    cx.same_type(0, 1)?;
    let n = a.rank();
    let batch = |s: &ArrayShape| array_of(s.element_type, dims(s).take(n - 2));
    let side = n - if attrs.left_side { 2 } else { 1 };
    let fits =
        b.rank() == n && dims_agree(&batch(a), &batch(b)) && dim(a, side as i64).agrees(dim(b, side as i64));
    if !fits {
        let which = if attrs.left_side { "rows" } else { "columns" };
        return Err(cx
            .error(
                code::OPERAND_SHAPES,
                format!("needs the batch dimensions and {which} of {a} in operand 1, found {b}"),
            )
            .with(Place::Operand(1), format!("this is {b}")));
    }
    Ok(Some(b.clone().into()))
}
