//! Patterns that move a slice, a gather or a reverse before another operation, so that fewer elements are
//! moved or computed.

use crate::support::reshapes::groups;
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::attr::{PaddingDim, SliceDim, WindowDim};
use hlo_ir::{ArrayShape, InstrId, Op, Opcode};

const SLICE: &[Opcode] = &[Opcode::Slice];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "slice-reshape",
        "slice(reshape(x)) → reshape(slice(x)), if the slice cuts only the first of the dimensions that the reshape splits or joins",
        SLICE,
        slice_reshape,
    ),
    Pattern::new(
        "slice-reduce-window",
        "slice(reduce-window(x)) → reduce-window(slice(x)) of the selected windows",
        SLICE,
        slice_reduce_window,
    ),
    Pattern::new(
        "gather-pad",
        "gather(pad(x)) with full windows along padded dimensions → pad(gather(x)), if it is no larger than pad(x)",
        &[Opcode::Gather],
        gather_pad,
    ),
];

/// Returns the operand and the ranges of a slice, if it is the only user of the operand.
fn slice_of(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, Vec<SliceDim>)> {
    let Op::Slice(a) = &cx.module[id].op else { return None };
    let x = cx.operand(id, 0)?;
    // An empty range may start out of bounds.
    let some = a.slice.iter().all(|r| 0 <= r.start && r.start < r.limit && r.stride > 0);
    (some && cx.array(id).is_some() && cx.used_only_by(x, id)).then(|| (x, a.slice.clone()))
}

/// Moves a slice before a reshape. Each group of dimensions with the same elements on both sides must be
/// selected completely, or as a range of its first dimension.
fn slice_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (reshape, ranges) = slice_of(cx, id)?;
    if cx.opcode(reshape) != Opcode::Reshape {
        return None;
    }
    let x = cx.operand(reshape, 0)?;
    let (from, to) = (cx.array(x)?.dims, cx.array(reshape)?.dims);
    let mut inner: Vec<SliceDim> =
        from.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
    for (before, after) in groups(&from, &to)? {
        // The size and range of each dimension with more than one element.
        let after: Vec<(i64, SliceDim)> =
            after.iter().map(|&d| Some((*to.get(d)?, *ranges.get(d)?))).collect::<Option<_>>()?;
        let is_whole =
            |(size, range): &(i64, SliceDim)| *range == SliceDim { start: 0, limit: *size, stride: 1 };
        if after.iter().all(is_whole) {
            continue;
        }
        let (&first, rest) = before.split_first()?;
        if let (&[(_, range)], []) = (after.as_slice(), rest) {
            *inner.get_mut(first)? = range;
            continue;
        }
        let (&(_, range), others) = after.split_first()?;
        if range.stride != 1 || !others.iter().all(is_whole) {
            return None;
        }
        // Number of elements per index of the first dimension, on either side.
        let step: i64 = others.iter().map(|o| o.0).product();
        let unit: i64 = rest.iter().filter_map(|&d| from.get(d)).product();
        let (start, limit) = (range.start * step, range.limit * step);
        if start % unit != 0 || limit % unit != 0 {
            return None;
        }
        *inner.get_mut(first)? = SliceDim { start: start / unit, limit: limit / unit, stride: 1 };
    }
    let part = cx.slice(x, inner)?;
    Some(cx.add_same_shape(Op::reshape(), &[part]))
}

/// Moves a slice before a windowed reduction, whose windows are independent.
fn slice_reduce_window(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (windows, ranges) = slice_of(cx, id)?;
    let Op::ReduceWindow(mut a) = cx.module[windows].op.clone() else { return None };
    let &[x, init] = cx.module[windows].operands.as_slice() else { return None };
    let (sizes, all, taken) = (cx.array(x)?.dims, cx.array(windows)?.dims, cx.array(id)?.dims);
    let mut inner: Vec<SliceDim> =
        sizes.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
    for (d, w) in a.window.dims.iter_mut().enumerate() {
        let (range, part) = (*ranges.get(d)?, inner.get_mut(d)?);
        if all.get(d) == taken.get(d) {
            continue;
        }
        if w.lhs_dilate != 1 || w.rhs_dilate < 1 || w.size < 1 || w.stride < 1 {
            return None;
        }
        // The start of the first selected window and the end of the last one.
        let stride = w.stride.checked_mul(range.stride)?;
        let first = range.start.checked_mul(w.stride)?.checked_sub(w.pad_low)?;
        let reach = (w.size - 1).checked_mul(w.rhs_dilate)?.checked_add(1)?;
        let end =
            (taken.get(d)?.checked_sub(1)?).checked_mul(stride)?.checked_add(first)?.checked_add(reach)?;
        let (start, limit) = (first.clamp(0, part.limit), end.clamp(0, part.limit));
        if start >= limit {
            return None; // The windows contain only padding.
        }
        *part = SliceDim { start, limit, stride: 1 };
        let (pad_low, pad_high) = (start.checked_sub(first)?, end.checked_sub(limit)?);
        *w = WindowDim { stride, pad_low, pad_high, ..*w };
    }
    let part = cx.slice(x, inner)?;
    Some(cx.add_same_shape(Op::ReduceWindow(a), &[part, init]))
}

/// Moves a gather before a pad. The gather must select the padded dimensions completely. The result must have
/// no more elements than the padded array, so that no element is padded several times.
fn gather_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Gather(mut a) = cx.module[id].op.clone() else { return None };
    let (pad, indices) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let Op::Pad(p) = cx.module[pad].op.clone() else { return None };
    let (x, value) = (cx.operand(pad, 0)?, cx.operand(pad, 1)?);
    let (from, middle, to) = (cx.array(x)?, cx.array(pad)?, cx.array(id)?);
    let fewer = to.checked_element_count()? <= middle.checked_element_count()?;
    if !fewer
        || !cx.used_only_by(pad, id)
        || from.dims.contains(&0)
        || a.reads_nothing()
        || !a.offset_dims.is_sorted()
    {
        return None;
    }
    let none = PaddingDim { low: 0, high: 0, interior: 0 };
    let (mut padding, mut dims) = (vec![none; to.rank()], to.dims.clone());
    // The operand dimensions that windows have. Their order is that of `offset_dims` in the result.
    let left_out = |d: &i64| a.collapsed_slice_dims.contains(d) || a.operand_batching_dims.contains(d);
    let windows: Vec<i64> = (0..from.rank() as i64).filter(|d| !left_out(d)).collect();
    for (d, &p) in p.padding.iter().enumerate().filter(|(_, p)| **p != none) {
        let place = windows.iter().position(|&w| w == d as i64)?;
        let place = index(*a.offset_dims.get(place)?)?;
        let size = a.slice_sizes.get_mut(d)?;
        if Some(&*size) != middle.dims.get(d) || p.low < 0 || p.high < 0 || p.interior < 0 {
            return None;
        }
        *size = *from.dims.get(d)?;
        *dims.get_mut(place)? = *size;
        *padding.get_mut(place)? = p;
    }
    let shape = ArrayShape::new(from.element_type, dims);
    let gathered = cx.add(shape, Op::Gather(a), &[x, indices]);
    Some(cx.add_same_shape(Op::pad(padding), &[gathered, value]))
}
