//! Rules for opcodes that move elements without changing them.

use super::context::Context;
use super::dim::{Dim, array_of, dim, dims, dims_agree};
use super::violation::{Place, Rule, Violation};
use crate::attr::{
    BroadcastAttrs, DimensionAttrs, DimensionsAttrs, IotaAttrs, PadAttrs, PaddingDim, ReshapeAttrs,
};
use crate::attr::{SliceAttrs, SliceDim};
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, Layout, Shape};

/// Returns the size of an array in bytes, if it is known and fits. Returns `None` for types narrower than a
/// byte, because a layout may pack them.
fn bytes(a: &ArrayShape) -> Option<i64> {
    let packed = a.element_type.bit_width() < 8 && !a.element_type.is_pred();
    let size = i64::try_from(a.element_type.byte_size()).ok().filter(|_| !packed)?;
    a.checked_element_count()?.checked_mul(size)
}

/// Checks `bitcast` of an array. See [`bitcast_sizes`].
pub(super) fn bitcast(cx: &Context<'_>) -> Rule {
    cx.array(0)?;
    cx.written_array()?;
    Ok(None)
}

/// Returns the sizes in bytes of a `bitcast`'s operand and result, if they differ.
pub(crate) fn bitcast_sizes(from: &Shape, to: &Shape) -> Option<(i64, i64)> {
    let (x, y) = (bytes(from.as_array()?)?, bytes(to.as_array()?)?);
    (x != y).then_some((x, y))
}

/// Checks that the declared shape has the operand's element type.
pub(super) fn keeps_type(cx: &Context<'_>, a: &ArrayShape, w: &ArrayShape) -> Result<(), Violation> {
    if a.element_type == w.element_type {
        return Ok(());
    }
    Err(cx
        .error(
            code::KEPT_TYPE,
            format!("keeps the element type {}, but its shape is written {w}", a.element_type),
        )
        .of_shape()
        .with(Place::Operand(0), format!("this is {a}")))
}

/// Checks `broadcast`. Each operand dimension becomes a result dimension of the same size.
pub(super) fn broadcast(cx: &Context<'_>, attrs: &BroadcastAttrs) -> Rule {
    let a = cx.array(0)?;
    cx.check_len("dimensions", attrs.dimensions.len(), a.rank())?;
    let Some(w) = cx.written_array()? else {
        // Like XLA, infers a scalar for the broadcast of a scalar.
        return Ok((a.rank() == 0).then(|| a.clone().into()));
    };
    cx.record_violation(keeps_type(cx, a, w));
    cx.check_dims("dimensions", &attrs.dimensions, w.rank())?;
    for (i, &d) in attrs.dimensions.iter().enumerate() {
        let (from, to) = (dim(a, i as i64), dim(w, d));
        if !from.agrees(to) {
            let message = format!(
                "maps dimension {i} of its operand, of size {}, to dimension {d} of the result, of size {}",
                from.size, to.size
            );
            cx.report(
                cx.error(code::BROADCAST_SIZES, message).with(Place::Operand(0), format!("this is {a}")),
            );
        }
    }
    Ok(None)
}

/// Checks `concatenate`. The sizes along one dimension are added, and all others must agree.
pub(super) fn concatenate(cx: &Context<'_>, attrs: &DimensionAttrs) -> Rule {
    let first = cx.array(0)?;
    let along = cx.one_dim("dimensions", &attrs.dimensions, first.rank())?;
    let mut result: Vec<Dim> = dims(first).collect();
    let mut element_type = first.element_type;
    let mut misfit = None;
    for i in 1..cx.operands.len() {
        let a = cx.array(i)?;
        let t = cx.shared_type(0, i)?;
        if t != first.element_type {
            element_type = t;
        }
        let fits = a.rank() == result.len()
            && dims(a).zip(&result).enumerate().all(|(d, (x, y))| d == along || x.agrees(*y));
        if !fits {
            let message =
                format!("along dimension {along} needs the same sizes in all others, found {first} and {a}");
            misfit.get_or_insert(
                cx.error(code::CONCATENATE_SIZES, message)
                    .with(Place::Operand(0), format!("this is {first}"))
                    .with(Place::Operand(i), format!("this is {a}")),
            );
            continue;
        }
        for (d, (x, y)) in result.iter_mut().zip(dims(a)).enumerate() {
            *x = if d == along { add(cx, *x, y)? } else { x.merge(y) };
        }
    }
    match misfit {
        Some(v) => Err(v),
        None => Ok(Some(array_of(element_type, result).into())),
    }
}

fn add(cx: &Context<'_>, a: Dim, b: Dim) -> Result<Dim, Violation> {
    match (a.known(), b.known()) {
        (Some(x), Some(y)) => {
            let size = x.checked_add(y).ok_or_else(|| cx.overflow())?;
            Ok(Dim { size, dynamic: a.dynamic || b.dynamic })
        }
        _ => Ok(Dim { size: ArrayShape::UNBOUNDED, dynamic: true }),
    }
}

/// Checks `iota`, which counts along a dimension of the declared shape.
pub(super) fn iota(cx: &Context<'_>, attrs: &IotaAttrs) -> Rule {
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if !Types::NUMERIC.contains(w.element_type) {
        cx.report(cx.error(code::IOTA_TYPE, format!("counts in {}, found {w}", Types::NUMERIC)));
    }
    cx.check_dim("iota_dimension", attrs.iota_dimension, w.rank())?;
    Ok(None)
}

/// Checks `pad`. Low and high padding may be negative, but the sizes of the result may not.
pub(super) fn pad(cx: &Context<'_>, attrs: &PadAttrs) -> Rule {
    let a = cx.array(0)?;
    cx.record_violation(cx.scalar(1));
    let t = cx.shared_type(0, 1)?;
    cx.check_len("padding", attrs.padding.len(), a.rank())?;
    let mut result = Vec::with_capacity(a.rank());
    let mut wrong = Vec::new();
    for (i, (d, p)) in dims(a).zip(&attrs.padding).enumerate() {
        if p.interior < 0 {
            let message = format!(
                "needs interior padding of 0 or more, found {} in dimension {i} of `padding`",
                p.interior
            );
            wrong.push(cx.error(code::INTERIOR_PADDING, message).of("padding"));
            continue;
        }
        let padded = d.map(|size| padded_size(size, p)).ok_or_else(|| cx.overflow())?;
        if padded.known().is_some_and(|size| size < 0) {
            let message = format!(
                "takes more by `padding` from dimension {i} than it has: the size would be {}",
                padded.size
            );
            wrong.push(
                cx.error(code::PADDED_SIZE, message)
                    .of("padding")
                    .with(Place::Operand(0), format!("this is {a}")),
            );
        }
        result.push(padded);
    }
    cx.all_of(wrong)?;
    Ok(Some(array_of(t, result).into()))
}

fn padded_size(size: i64, p: &PaddingDim) -> Option<i64> {
    let between = size.saturating_sub(1).max(0).checked_mul(p.interior)?;
    size.checked_add(between)?.checked_add(p.low)?.checked_add(p.high)
}

/// Checks `reshape`. The result has the operand's element type and number of elements.
pub(super) fn reshape(cx: &Context<'_>, attrs: &ReshapeAttrs) -> Rule {
    let a = cx.array(0)?;
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if let Some(d) = attrs.inferred_dimension {
        cx.record_violation(cx.check_dim("inferred_dimension", d, w.rank()));
    }
    cx.record_violation(keeps_type(cx, a, w));
    let unbounded = |s: &ArrayShape| dims(s).any(Dim::is_unbounded);
    if unbounded(a) || unbounded(w) {
        return Ok(None);
    }
    match (a.checked_element_count(), w.checked_element_count()) {
        (Some(x), Some(y)) if x != y => Err(cx
            .error(
                code::RESHAPE_COUNT,
                format!(
                    "keeps the number of elements; the operand, {a}, has {x}, the written shape, {w}, {y}"
                ),
            )
            .of_shape()
            .with(Place::Operand(0), format!("this is {a}"))),
        (Some(_), Some(_)) => Ok(None),
        (None, _) | (_, None) => Err(cx.overflow()),
    }
}

/// Checks `reverse`. The result has the operand's shape.
pub(super) fn reverse(cx: &Context<'_>, attrs: &DimensionsAttrs) -> Rule {
    let a = cx.array(0)?;
    cx.check_dims("dimensions", &attrs.dimensions, a.rank())?;
    Ok(Some(a.clone().into()))
}

/// Checks `slice`: `0 <= start <= limit <= size`, and a stride of at least 1.
pub(super) fn slice(cx: &Context<'_>, attrs: &SliceAttrs) -> Rule {
    let a = cx.array(0)?;
    cx.check_len("slice", attrs.slice.len(), a.rank())?;
    let mut result = Vec::with_capacity(a.rank());
    let mut wrong = Vec::new();
    for (i, (d, s)) in dims(a).zip(&attrs.slice).enumerate() {
        let SliceDim { start, limit, stride } = *s;
        let inside = d.known().is_none_or(|size| limit <= size);
        let ordered = 0 <= start && start <= limit && inside;
        if !ordered {
            let bound = d.known().map_or(String::new(), |size| format!(" <= {size}"));
            let message = format!(
                "takes [{start}:{limit}] of dimension {i} in `slice`, which needs 0 <= start <= limit{bound}"
            );
            wrong.push(
                cx.error(code::SLICE_LIMITS, message)
                    .of("slice")
                    .with(Place::Operand(0), format!("this is {a}")),
            );
        }
        if stride < 1 {
            let message = format!("needs strides of 1 or more, found {stride} in dimension {i} of `slice`");
            wrong.push(cx.error(code::SLICE_STRIDE, message).of("slice"));
        }
        if !ordered || stride < 1 {
            continue;
        }
        // The limit is a constant, so the result is dynamic only if the slice contains the whole dimension.
        let whole = d.dynamic && start == 0 && stride == 1 && d.known() == Some(limit);
        let length = limit - start;
        let size = length / stride + i64::from(length % stride != 0);
        result.push(Dim { size, dynamic: whole });
    }
    cx.all_of(wrong)?;
    Ok(Some(array_of(a.element_type, result).into()))
}

/// Checks `transpose`. Result dimension `i` is operand dimension `dimensions[i]`. The inferred layout is the
/// one for which no element moves.
pub(super) fn transpose(cx: &Context<'_>, attrs: &DimensionsAttrs) -> Rule {
    let a = cx.array(0)?;
    cx.check_len("dimensions", attrs.dimensions.len(), a.rank())?;
    cx.check_dims("dimensions", &attrs.dimensions, a.rank())?;
    let mut result = array_of(a.element_type, attrs.dimensions.iter().map(|&d| dim(a, d)));
    result.layout = transposed_layout(a, &attrs.dimensions);
    Ok(Some(result.into()))
}

/// Returns the layout of an array after its dimensions are renamed: new dimension `i` is old dimension
/// `dimensions[i]`.
fn transposed_layout(a: &ArrayShape, dimensions: &[i64]) -> Option<Layout> {
    let mut renamed = vec![0; dimensions.len()];
    for (new, &old) in dimensions.iter().enumerate() {
        *renamed.get_mut(usize::try_from(old).ok()?)? = new as u32;
    }
    let mut layout = a.layout.clone().unwrap_or_else(|| Layout::row_major(a.rank()));
    for d in &mut layout.minor_to_major {
        *d = *renamed.get(*d as usize)?;
    }
    Some(layout).filter(|l| !l.is_row_major())
}

/// Returns the operand's shape, whatever it is.
pub(super) fn copy(cx: &Context<'_>) -> Rule {
    Ok(Some(cx.operand(0)?.clone()))
}

/// Checks `bitcast-convert`. If both types have the same width, the sizes are the same. Otherwise the side
/// with the wider type lacks the last dimension, whose size is the ratio of the widths.
pub(super) fn bitcast_convert(cx: &Context<'_>) -> Rule {
    let a = cx.array(0)?;
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if a.element_type.is_complex() != w.element_type.is_complex() {
        return Err(cx
            .error(
                code::BITCAST_CONVERT_COMPLEX,
                format!(
                    "does not turn {} into {}: complex and real types do not mix",
                    a.element_type, w.element_type
                ),
            )
            .with(Place::Operand(0), format!("this is {a}")));
    }
    let (from, to) = (i64::from(a.element_type.bit_width()), i64::from(w.element_type.bit_width()));
    let (wide, narrow, ratio) = if from >= to { (a, w, from / to) } else { (w, a, to / from) };
    let fits = from.max(to) % from.min(to) == 0
        && if from == to {
            dims_agree(a, w)
        } else {
            let expected = dims(wide).chain([Dim::fixed(ratio)]);
            narrow.rank() == wide.rank() + 1 && expected.zip(dims(narrow)).all(|(x, y)| x.agrees(y))
        };
    if fits {
        return Ok(None);
    }
    let rule = if from == to {
        "keeps the sizes between types of one width".to_string()
    } else {
        format!("between types of {from} and {to} bits adds or drops a last dimension of their ratio")
    };
    Err(cx
        .error(code::BITCAST_CONVERT_SIZES, format!("{rule}; the operand is {a}, the shape is written {w}"))
        .of_shape()
        .with(Place::Operand(0), format!("this is {a}")))
}
