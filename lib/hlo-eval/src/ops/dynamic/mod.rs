//! Dynamic dimensions: `set-dimension-size`, `get-dimension-size`, `dynamic-reshape`, and all other
//! operations on arrays with sizes that are known only at run time.
//!
//! A value is the array with its actual sizes, under a static shape. The operations themselves do not handle
//! dynamic dimensions. Before an instruction runs on operands whose sizes differ from the declared ones, it
//! is rewritten for the actual sizes ([`realize`]):
//!
//! - Dimensions that the operation pairs must have the same size. A static dimension of its full size may be
//!   paired with a smaller one. As in XLA, it is then truncated to the smaller size.
//! - Slices end at the end of the array, whatever their declared size.
//! - Shape inference computes the sizes of the result from the actual sizes.

mod rule;
mod sizes;

use super::moved::{moved, same};
use super::support::{Result, array, declared_array, dimension, result_array};
use crate::context::Context;
use crate::error::EvalError;
use hlo_ir::attr::{Window, WindowDim};
use hlo_ir::{ArrayShape, Dims, Instruction, Literal, Module, Op, ReshapedSize, Shape, ops::infer_shape};
use rule::{Place, Sizes, rule};

pub(super) use sizes::{dynamic_reshape, get_dimension_size, set_dimension_size};

/// Checks whether an operand's sizes differ from the declared ones, or the result is dynamic.
pub(crate) fn has_dynamic_sizes<'a>(
    module: &Module,
    instr: &Instruction,
    operands: impl Iterator<Item = &'a Literal>,
) -> bool {
    instr.shape.is_dynamic()
        || instr.operands.iter().zip(operands).any(|(&o, v)| !same_sizes(&module[o].shape, v.shape()))
}

fn same_sizes(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => a.dims == b.dims,
        (Shape::Tuple(a), Shape::Tuple(b)) => a.iter().zip(b).all(|(a, b)| same_sizes(a, b)),
        _ => true,
    }
}

/// Checks whether a value of shape `real` may be declared with shape `declared`: no dimension is larger.
pub(super) fn is_within(real: &Shape, declared: &Shape) -> bool {
    match (real, declared) {
        (Shape::Array(r), Shape::Array(d)) => {
            let below = r.dims.iter().zip(&d.dims).all(|(r, d)| r <= d);
            r.element_type == d.element_type && r.rank() == d.rank() && below
        }
        (Shape::Tuple(r), Shape::Tuple(d)) => {
            r.len() == d.len() && r.iter().zip(d).all(|(r, d)| is_within(r, d))
        }
        _ => real == declared,
    }
}

/// Returns the instruction for the operands' actual sizes, or `None` if the instruction accepts the values as
/// they are. Operands that are longer than those they are paired with are truncated.
pub(crate) fn realize(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: &mut [Literal],
) -> Result<Option<Instruction>> {
    let (sizes, paired) = rule(instr, operands)?;
    for places in &paired {
        agree(cx, instr, operands, places)?;
    }
    let mut real = instr.clone();
    let shape = match sizes {
        Sizes::Carried => return Ok(None),
        Sizes::Bounds => {
            if let Op::Constant(a) = &mut real.op {
                a.literal = sized(a.literal.clone());
            }
            instr.shape.clone()
        }
        Sizes::Operand => operands.first().ok_or_else(missing)?.shape().clone(),
        Sizes::Elementwise => {
            let rank = result_array(instr)?.rank();
            let of_rank = |o: &&Literal| o.shape().as_array().is_some_and(|a| a.rank() == rank);
            operands.iter().find(of_rank).ok_or_else(missing)?.shape().clone()
        }
        Sizes::Inferred => {
            cut_attributes(instr, &mut real.op, operands, cx)?;
            let shapes: Vec<&Shape> = operands.iter().map(Literal::shape).collect();
            let inferred =
                infer_shape(cx.module, &real.op, &shapes).map_err(|e| EvalError::new(e.message))?;
            // Sizes that do not depend on the operands' sizes are those of the declared shape.
            inferred.unwrap_or_else(|| instr.shape.clone())
        }
        Sizes::Broadcast(dimensions) => {
            let mut shape = result_array(instr)?.clone();
            for (&d, &size) in dimensions.iter().zip(&operand_array(operands, 0)?.dims) {
                let d = dimension(d, shape.rank())?;
                shape.dims[d] = size;
            }
            shape.into()
        }
        Sizes::Prefix => {
            let mut shape = result_array(instr)?.clone();
            let known = &operand_array(operands, 0)?.dims;
            shape.dims.iter_mut().zip(known).for_each(|(d, &size)| *d = size);
            shape.into()
        }
        Sizes::Reshaped(inferred) => reshaped(cx.module, instr, operands, inferred)?.into(),
        Sizes::Padded => padded(instr, operands)?.into(),
    };
    real.shape = with_sizes(&instr.shape, &shape);
    Ok(Some(real))
}

fn operand_array(operands: &[Literal], n: usize) -> Result<&ArrayShape> {
    array(operands.get(n).ok_or_else(missing)?)
}

fn missing() -> EvalError {
    EvalError::internal("an operand is missing")
}

/// Returns the declared shape with the sizes of another shape, as a static shape.
fn with_sizes(declared: &Shape, real: &Shape) -> Shape {
    match (declared, real) {
        (Shape::Array(d), Shape::Array(r)) => {
            let layout = d.layout.clone().filter(|_| d.rank() == r.rank());
            ArrayShape { layout, ..ArrayShape::new(d.element_type, r.dims.iter().copied()) }.into()
        }
        (Shape::Tuple(d), Shape::Tuple(r)) if d.len() == r.len() => {
            Shape::Tuple(d.iter().zip(r).map(|(d, r)| with_sizes(d, r)).collect())
        }
        _ => declared.clone(),
    }
}

/// Returns the value with a static shape of its actual sizes.
pub(crate) fn sized(value: Literal) -> Literal {
    if !value.shape().is_dynamic() {
        return value;
    }
    if value.shape().is_tuple() {
        return Literal::tuple(value.tuple_elements().iter().cloned().map(sized).collect());
    }
    let shape = with_sizes(value.shape(), value.shape());
    value.with_shape(shape)
}

/// Returns the value with each static dimension extended to its declared size, filled with zeros.
pub(crate) fn declared(value: Literal, shape: &Shape) -> Result<Literal> {
    match (shape, value.shape()) {
        (Shape::Array(d), Shape::Array(v)) if d.dims != v.dims => {
            if d.rank() != v.rank() {
                return Err(EvalError::internal(format!("a value of shape {v} where {d} is declared")));
            }
            let sizes: Dims =
                (0..d.rank()).map(|i| if d.is_dynamic_dim(i) { v.dims[i] } else { d.dims[i] }).collect();
            let no_memory = || EvalError::memory(format!("there is no memory for a result of shape {shape}"));
            value.resized(&sizes).ok_or_else(no_memory)
        }
        (Shape::Tuple(d), Shape::Tuple(_)) if !same_sizes(shape, value.shape()) => {
            let elements = value.tuple_elements().iter().cloned().zip(d);
            Ok(Literal::tuple(elements.map(|(v, d)| declared(v, d)).collect::<Result<_>>()?))
        }
        _ => Ok(value),
    }
}

/// Truncates the paired dimensions at `places` to the smallest of their sizes. A longer dimension must be
/// static and have its full size.
fn agree(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: &mut [Literal],
    places: &[Place],
) -> Result<()> {
    let size = |operands: &[Literal], &(o, d): &Place| -> Result<i64> {
        let a = operand_array(operands, o)?;
        Ok(a.dims[dimension(d as i64, a.rank())?])
    };
    let mut smallest: Option<(Place, i64)> = None;
    for place in places {
        let n = size(operands, place)?;
        if smallest.is_none_or(|(_, least)| n < least) {
            smallest = Some((*place, n));
        }
    }
    // Without dimensions there is nothing to truncate.
    let Some((least, size_wanted)) = smallest else { return Ok(()) };
    for &(o, d) in places {
        let n = size(operands, &(o, d))?;
        if n == size_wanted {
            continue;
        }
        let name = |o: usize| instr.operands.get(o).map_or("", |&id| &*cx.module[id].name);
        let declared = instr.operands.get(o).and_then(|&id| cx.module[id].shape.as_array());
        if !declared.is_some_and(|a| !a.is_dynamic_dim(d) && a.dims.get(d) == Some(&n)) {
            return Err(EvalError::new(format!(
                "dimension {d} of `{}` has {n} elements at run time and dimension {} of `{}` has {size_wanted}, \
                 which must be as many for {}",
                name(o),
                least.1,
                name(least.0),
                instr.op.name(),
            )));
        }
        let mut dims = operand_array(operands, o)?.dims.clone();
        dims[d] = size_wanted;
        operands[o] = cut(cx, operands[o].clone(), dims)?;
    }
    Ok(())
}

/// Returns the beginning of an array.
fn cut(cx: &mut Context<'_>, value: Literal, dims: Dims) -> Result<Literal> {
    let shape = ArrayShape::new(array(&value)?.element_type, dims);
    moved(cx, &shape, value, same)
}

/// Reduces sizes in attributes or other operands to the available sizes: slices end at the end of the array.
fn cut_attributes(
    instr: &Instruction,
    op: &mut Op,
    operands: &mut [Literal],
    cx: &mut Context<'_>,
) -> Result<()> {
    let available = operand_array(operands, 0)?.dims.clone();
    match op {
        Op::Slice(a) => {
            for (range, &size) in a.slice.iter_mut().zip(&available) {
                range.limit = range.limit.min(size);
                range.start = range.start.min(range.limit);
            }
        }
        Op::DynamicSlice(a) => {
            a.dynamic_slice_sizes.iter_mut().zip(&available).for_each(|(s, &size)| *s = size.min(*s));
        }
        Op::Gather(a) => {
            let dropped = |d: &i64| a.collapsed_slice_dims.contains(d) || a.operand_batching_dims.contains(d);
            for (d, (s, &size)) in a.slice_sizes.iter_mut().zip(&available).enumerate() {
                if !dropped(&(d as i64)) {
                    *s = size.min(*s);
                }
            }
        }
        Op::DynamicUpdateSlice => cut_to(cx, operands, 1, &available)?,
        Op::SelectAndScatter(a) => {
            let places: Option<Dims> = window_places(&available, &a.window);
            let places = places.ok_or_else(|| EvalError::new("the window does not fit the array"))?;
            cut_to(cx, operands, 1, &places)?;
        }
        Op::ScaledDot(_) => {
            for side in 0..2 {
                let blocks = blocks_of(cx.module, instr, operands, side)?;
                cut_to(cx, operands, side + 2, &blocks)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns the number of blocks that the actual elements of a scaled operand are in. The size of a block is
/// that of the declared shapes.
fn blocks_of(module: &Module, instr: &Instruction, operands: &[Literal], side: usize) -> Result<Dims> {
    let (value, scale) = (declared_array(module, instr, side)?, declared_array(module, instr, side + 2)?);
    let (real, has) = (operand_array(operands, side)?, operand_array(operands, side + 2)?);
    let ranks = [value.rank(), real.rank(), has.rank()];
    if scale.rank() > value.rank() || ranks != [value.rank(), value.rank(), scale.rank()] {
        return Err(EvalError::internal(format!("scales of shape {has} for {real}")));
    }
    let mut blocks = Dims::new();
    for (d, &n) in scale.dims.iter().enumerate() {
        // Without blocks there are no elements.
        let block = value.dims[d] / n.max(1);
        let size = real.dims[d];
        let wanted = if block > 0 { size / block + i64::from(size % block != 0) } else { n };
        let found = has.dims[d];
        if found < wanted || (found > wanted && scale.is_dynamic_dim(d)) {
            return Err(EvalError::new(format!(
                "dimension {d} of operand {side} has {size} elements at run time, which are {wanted} blocks of {block}, \
                 but there are scales for {found}"
            )));
        }
        blocks.push(wanted);
    }
    Ok(blocks)
}

/// Truncates operand `n` where it is longer than `sizes`.
fn cut_to(cx: &mut Context<'_>, operands: &mut [Literal], n: usize, sizes: &[i64]) -> Result<()> {
    let has = &operand_array(operands, n)?.dims;
    let wanted: Dims = has.iter().zip(sizes).map(|(&d, &s)| d.min(s)).collect();
    if wanted != *has {
        operands[n] = cut(cx, operands[n].clone(), wanted)?;
    }
    Ok(())
}

/// Returns the number of positions of a window, for each dimension.
fn window_places(dims: &[i64], window: &Window) -> Option<Dims> {
    let places = |(&size, w): (&i64, &WindowDim)| -> Option<i64> {
        let dilated =
            |n: i64, by: i64| if n == 0 { Some(0) } else { (n - 1).checked_mul(by)?.checked_add(1) };
        let base = dilated(size, w.lhs_dilate)?.checked_add(w.pad_low)?.checked_add(w.pad_high)?;
        let room = base.checked_sub(dilated(w.size, w.rhs_dilate)?)?;
        Some(if room < 0 { 0 } else { room.checked_div(w.stride)? + 1 })
    };
    dims.iter().zip(&window.dims).map(places).collect()
}

/// Returns the actual sizes of a reshape's result.
fn reshaped(
    module: &Module,
    instr: &Instruction,
    operands: &[Literal],
    inferred: Option<i64>,
) -> Result<ArrayShape> {
    let real = operand_array(operands, 0)?;
    let to = result_array(instr)?;
    let declared = declared_array(module, instr, 0)?;
    let smaller: Vec<bool> = real.dims.iter().zip(&declared.dims).map(|(r, d)| r != d).collect();
    if matches!(instr.op, Op::Bitcast) && smaller.contains(&true) {
        let plain = declared.is_row_major() && to.is_row_major() && declared.element_type == to.element_type;
        if !plain {
            return Err(EvalError::new(format!(
                "a bitcast of {declared} with the sizes {real} to {to} has no meaning: what is padding is not said"
            )));
        }
    }
    let sizes = hlo_ir::reshaped_sizes(declared, &smaller, to, inferred)?;
    let mut shape = to.clone();
    for (d, size) in sizes.into_iter().enumerate() {
        match size {
            ReshapedSize::Bound => {}
            ReshapedSize::Same(from) => shape.dims[d] = real.dims[from],
            ReshapedSize::Quotient { of, by, .. } => {
                let elements: i64 = real.dims[of].iter().product();
                if by == 0 || elements % by != 0 {
                    return Err(EvalError::new(format!(
                        "{elements} elements, of {real} at run time, do not divide into {by} parts of one size: \
                         no {to} has them"
                    )));
                }
                shape.dims[d] = elements / by;
            }
        }
    }
    Ok(shape)
}

/// Returns the actual sizes of a `pad`'s result. If more elements are removed than exist, the size is 0.
fn padded(instr: &Instruction, operands: &[Literal]) -> Result<ArrayShape> {
    let real = operand_array(operands, 0)?;
    let Op::Pad(attrs) = &instr.op else { return Err(EvalError::new("not a pad")) };
    let sizes = real.dims.iter().zip(&attrs.padding).map(|(&size, p)| {
        let between = size.saturating_sub(1).max(0).saturating_mul(p.interior);
        size.saturating_add(between).saturating_add(p.low).saturating_add(p.high).max(0)
    });
    Ok(ArrayShape::new(real.element_type, sizes))
}
