//! Rules of reductions, windowed reductions, map and sorting.

use super::context::{Context, Types, one_or_tuple};
use super::dim::{Dim, array_of, dim, dims, dims_agree};
use super::violation::{Place, Rule, Violation};
use crate::attr::{
    MapAttrs, ReduceAttrs, ReduceWindowAttrs, ScanAttrs, SelectAndScatterAttrs, SortAttrs, TopkAttrs,
};
use crate::attr::{Window, WindowDim};
use crate::rules::code;
use crate::{ElementType, Shape};

/// The result size along one dimension of a window that moves over `base`.
fn window_output(cx: &Context<'_>, base: Dim, w: &WindowDim) -> Result<Dim, Violation> {
    if w.size < 1 || w.stride < 1 || w.lhs_dilate < 1 || w.rhs_dilate < 1 {
        return Err(cx.error(
            code::ATTRIBUTE,
            format!(
                "needs window sizes, strides and dilations of 1 or more, found size {} stride {} lhs_dilate {} rhs_dilate {}",
                w.size, w.stride, w.lhs_dilate, w.rhs_dilate
            ),
        ));
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
        Some(d) if d.size == -1 => {
            Err(cx.error(code::ATTRIBUTE, format!("takes more padding away than the size {} has", base.size)))
        }
        Some(d) => Ok(d),
    }
}

/// The result sizes of a window with one entry for each of `base`'s dimensions.
pub(super) fn window_outputs(
    cx: &Context<'_>,
    base: impl ExactSizeIterator<Item = Dim>,
    window: &Window,
) -> Result<Vec<Dim>, Violation> {
    cx.check_len("window", window.dims.len(), base.len())?;
    base.zip(&window.dims).map(|(d, w)| window_output(cx, d, w)).collect()
}

/// The halves of N arrays and N initial values: checks them and gives N, the arrays' types and the
/// accumulators' types.
fn arrays_and_initial_values(cx: &Context<'_>) -> Result<(usize, Vec<ElementType>), Violation> {
    let n = cx.operands.len() / 2;
    if cx.operands.len() != 2 * n || n == 0 {
        return Err(cx.error(
            code::ARITY,
            format!("takes N arrays and N initial values, found {} operands", cx.operands.len()),
        ));
    }
    let mut types = Vec::with_capacity(n);
    for i in 0..n {
        cx.same_dims(0, i)?;
        cx.scalar(n + i)?;
        cx.same_type(i, n + i)?;
        types.push(cx.array(i)?.element_type);
    }
    Ok((n, types))
}

/// `reduce`: the dimensions of the list go away.
pub(super) fn reduce(cx: &Context<'_>, attrs: &ReduceAttrs) -> Rule {
    let (_, types) = arrays_and_initial_values(cx)?;
    let a = cx.array(0)?;
    cx.check_dims("dimensions", &attrs.dimensions, a.rank())?;
    cx.check_scalar_function("to_apply", attrs.to_apply, types.iter().chain(&types).copied(), &types)?;
    let mut reduced = vec![false; a.rank()];
    for &d in &attrs.dimensions {
        if let Some(r) = usize::try_from(d).ok().and_then(|d| reduced.get_mut(d)) {
            *r = true;
        }
    }
    let kept: Vec<Dim> = dims(a).zip(reduced).filter(|&(_, r)| !r).map(|(d, _)| d).collect();
    let results = types.iter().map(|&t| array_of(t, kept.iter().copied()).into()).collect();
    Ok(Some(one_or_tuple(results)))
}

/// `reduce-window`: one element for each place of the window.
pub(super) fn reduce_window(cx: &Context<'_>, attrs: &ReduceWindowAttrs) -> Rule {
    let (_, types) = arrays_and_initial_values(cx)?;
    let base: Vec<Dim> = dims(cx.array(0)?).collect();
    let result = window_outputs(cx, base.into_iter(), &attrs.window)?;
    cx.check_scalar_function("to_apply", attrs.to_apply, types.iter().chain(&types).copied(), &types)?;
    let results = types.iter().map(|&t| array_of(t, result.iter().copied()).into()).collect();
    Ok(Some(one_or_tuple(results)))
}

/// `select-and-scatter(operand, source, initial value)`: one source element for each place of the window.
pub(super) fn select_and_scatter(cx: &Context<'_>, attrs: &SelectAndScatterAttrs) -> Rule {
    let (a, source) = (cx.array(0)?, cx.array(1)?);
    cx.same_type(0, 1)?;
    cx.scalar(2)?;
    cx.same_type(0, 2)?;
    let base: Vec<Dim> = dims(a).collect();
    let places = array_of(a.element_type, window_outputs(cx, base.into_iter(), &attrs.window)?);
    if !dims_agree(&places, source) {
        return Err(cx
            .error(
                code::OPERAND_SHAPES,
                format!("needs a source of {places}, one element a window, found {source}"),
            )
            .with(Place::Operand(1), format!("this is {source}")));
    }
    let t = a.element_type;
    cx.check_scalar_function("select", attrs.select, [t, t], &[ElementType::Pred])?;
    cx.check_scalar_function("scatter", attrs.scatter, [t, t], &[t])?;
    Ok(Some(a.clone().into()))
}

/// `map`: a function on scalars for each element.
pub(super) fn map(cx: &Context<'_>, attrs: &MapAttrs) -> Rule {
    let a = cx.array(0)?;
    let mut arguments = Vec::with_capacity(cx.operands.len());
    for i in 0..cx.operands.len() {
        cx.same_dims(0, i)?;
        arguments.push(Shape::scalar(cx.array(i)?.element_type));
    }
    // All dimensions in order is the only list that XLA allows; leaving it out means the same.
    if !attrs.dimensions.is_empty() && !attrs.dimensions.iter().copied().eq(0..a.rank() as i64) {
        return Err(
            cx.error(code::ATTRIBUTE, format!("needs all {} dimensions in order in `dimensions`", a.rank()))
        );
    }
    let arguments: Vec<&Shape> = arguments.iter().collect();
    let root = cx.check_call("to_apply", attrs.to_apply, &arguments)?;
    match &cx.module[root].shape {
        Shape::Array(r) if r.rank() == 0 => Ok(Some(a.with_element_type(r.element_type).into())),
        other => Err(cx
            .error(code::CALLEE_SIGNATURE, format!("needs a computation that gives a scalar, found {other}"))
            .with(Place::Instruction(root), format!("this root is {other}"))),
    }
}

/// `sort`: N arrays of the same sizes; the comparator takes two elements of each.
pub(super) fn sort(cx: &Context<'_>, attrs: &SortAttrs) -> Rule {
    cx.one_dim("dimensions", &attrs.dimensions, cx.array(0)?.rank())?;
    let mut parameters = Vec::with_capacity(2 * cx.operands.len());
    for i in 0..cx.operands.len() {
        cx.same_dims(0, i)?;
        let t = cx.array(i)?.element_type;
        parameters.extend([t, t]);
    }
    cx.check_scalar_function("to_apply", attrs.to_apply, parameters, &[ElementType::Pred])?;
    Ok(Some(one_or_tuple(cx.operands.iter().map(|&s| s.clone()).collect())))
}

/// `topk`: the k largest along the last dimension, and their `s32` positions.
pub(super) fn topk(cx: &Context<'_>, attrs: &TopkAttrs) -> Rule {
    let a = cx.array_of(0, Types::ORDERED)?;
    let Some(last) = a.rank().checked_sub(1) else {
        return Err(cx.kind_error(0, "an array of rank 1 or more", cx.operand(0)?));
    };
    let size = dim(a, last as i64);
    if attrs.k < 0 || size.known().is_some_and(|n| attrs.k > n) {
        return Err(cx
            .error(code::ATTRIBUTE, format!("asks for {} of {} elements in `k`", attrs.k, size.size))
            .with(Place::Operand(0), format!("this is {a}")));
    }
    let result = |t| -> Shape {
        array_of(t, dims(a).enumerate().map(|(i, d)| if i == last { Dim::fixed(attrs.k) } else { d })).into()
    };
    Ok(Some(Shape::Tuple(vec![result(a.element_type), result(ElementType::S32)])))
}

/// `scan`: inputs and carries are arrays, the dimension is one of the inputs'. The written shape stands:
/// its outputs are the computation's business.
pub(super) fn scan(cx: &Context<'_>, attrs: &ScanAttrs) -> Rule {
    let inputs = usize::try_from(attrs.num_carries)
        .ok()
        .and_then(|carries| cx.operands.len().checked_sub(carries))
        .ok_or_else(|| {
            cx.error(
                code::ATTRIBUTE,
                format!("has num_carries={} of {} operands", attrs.num_carries, cx.operands.len()),
            )
        })?;
    for i in 0..inputs {
        cx.one_dim("dimensions", &attrs.dimensions, cx.array(i)?.rank())?;
    }
    cx.callee("to_apply", attrs.to_apply)?;
    Ok(None)
}
