//! Dynamic dimensions: `set-dimension-size`, `get-dimension-size`, `dynamic-reshape`, and what every other
//! operation is on arrays of the sizes that they have at run time.
//!
//! A value is the array of its real size, under a static shape. So that operations need to know nothing of dynamic
//! dimensions, an instruction whose operands have other sizes than the module declares is first made into the one on
//! arrays of those sizes ([`realize`]):
//! - Dimensions that the operation pairs must have one size. A static dimension of its full size may be paired with a
//!   smaller one: as in XLA, as much is taken of its beginning.
//! - Slices end where the array ends, whichever size was asked for.
//! - The sizes of the result follow by shape inference from the real ones.

use super::data_movement::gather_walk;
use super::{Result, array, dimension, result_array, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{Walk, copy_bytes};
use hlo_ir::attr::{Window, WindowDim};
use hlo_ir::{ArrayShape, Dims, Instruction, Literal, Module, Op, ReshapedSize, Shape, ops::infer_shape};

/// A dimension of an operand: the operand's number and the dimension's.
type Place = (usize, usize);

/// How the sizes of a result follow from the operands'.
enum Sizes {
    /// The operation takes values as they are: what it gives has the sizes of what it was given or computed.
    Carried,
    /// The bounds: no operand has a say.
    Bounds,
    /// Those of the first operand, as it is or part by part.
    Operand,
    /// Those that the operands share, scalars aside.
    Elementwise,
    /// By shape inference.
    Inferred,
    /// Mapped by `dimensions`.
    Broadcast(Dims),
    /// Those of the operand, and bounds for the dimension that it has more.
    Prefix,
    /// Kept, split or merged.
    Reshaped(Option<i64>),
    /// As `pad`, but never below 0.
    Padded,
}

/// True if the instruction's operands do not all have the sizes that the module declares, or its result is dynamic.
pub(crate) fn is_involved<'a>(
    module: &Module,
    instr: &Instruction,
    operands: impl Iterator<Item = &'a Literal>,
) -> bool {
    is_dynamic(&instr.shape)
        || instr.operands.iter().zip(operands).any(|(&o, v)| !same_sizes(&module[o].shape, v.shape()))
}

/// True if a dimension of any array in it is dynamic.
pub(crate) fn is_dynamic(shape: &Shape) -> bool {
    match shape {
        Shape::Array(a) => !a.is_static(),
        Shape::Tuple(t) => t.iter().any(is_dynamic),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
    }
}

fn same_sizes(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => a.dims == b.dims,
        (Shape::Tuple(a), Shape::Tuple(b)) => a.iter().zip(b).all(|(a, b)| same_sizes(a, b)),
        _ => true,
    }
}

/// The instruction on arrays of the sizes that the operands have, which are cut where they are longer than what
/// they are paired with. `None` if the instruction takes values as they are.
pub(crate) fn realize(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: &mut [Literal],
) -> Result<Option<Instruction>> {
    let (sizes, paired) = rule(instr, operands)?;
    for places in &paired {
        agree(ev, instr, operands, places)?;
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
        Sizes::Operand => operands.first().map_or_else(|| instr.shape.clone(), |o| o.shape().clone()),
        Sizes::Elementwise => {
            let rank = result_array(instr)?.rank();
            let of_rank = |o: &&Literal| o.shape().as_array().is_some_and(|a| a.rank() == rank);
            operands.iter().find(of_rank).map_or_else(|| instr.shape.clone(), |o| o.shape().clone())
        }
        Sizes::Inferred => {
            cut_attributes(&mut real.op, operands, ev)?;
            let shapes: Vec<&Shape> = operands.iter().map(Literal::shape).collect();
            let inferred =
                infer_shape(ev.module, &real.op, &shapes).map_err(|e| EvalError::new(e.message))?;
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
        Sizes::Reshaped(inferred) => reshaped(ev.module, instr, operands, inferred)?.into(),
        Sizes::Padded => padded(instr, operands)?.into(),
    };
    real.shape = with_sizes(&instr.shape, &shape);
    Ok(Some(real))
}

fn operand_array(operands: &[Literal], n: usize) -> Result<&ArrayShape> {
    array(operands.get(n).ok_or_else(|| EvalError::new("an operand is missing"))?)
}

/// The declared shape with the sizes of another one, static.
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

/// The value under a static shape: its sizes are the ones that it has.
pub(crate) fn sized(value: Literal) -> Literal {
    if !is_dynamic(value.shape()) {
        return value;
    }
    if value.shape().is_tuple() {
        return Literal::tuple(value.tuple_elements().iter().cloned().map(sized).collect());
    }
    let shape = with_sizes(value.shape(), value.shape());
    value.with_shape(shape)
}

/// The value with every dimension that is declared static as large as it is declared, continued with zeros.
pub(crate) fn declared(value: Literal, shape: &Shape) -> Result<Literal> {
    match (shape, value.shape()) {
        (Shape::Array(d), Shape::Array(v)) if d.dims != v.dims => {
            let sizes: Dims = (0..d.rank().min(v.rank()))
                .map(|i| if d.is_dynamic_dim(i) { v.dims[i] } else { d.dims[i] })
                .collect();
            let no_memory = || EvalError::new(format!("there is no memory for a result of shape {shape}"));
            value.resized(&sizes).ok_or_else(no_memory)
        }
        (Shape::Tuple(d), Shape::Tuple(_)) if !same_sizes(shape, value.shape()) => {
            let elements = value.tuple_elements().iter().cloned().zip(d);
            Ok(Literal::tuple(elements.map(|(v, d)| declared(v, d)).collect::<Result<_>>()?))
        }
        _ => Ok(value),
    }
}

/// Makes the dimensions at `places`, which the operation pairs, one size: that of the smallest. A longer one must be
/// static and of its full size; it is cut.
fn agree(
    ev: &mut Evaluator<'_>,
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
    let Some((least, size_wanted)) = smallest else { return Ok(()) };
    for &(o, d) in places {
        let n = size(operands, &(o, d))?;
        if n == size_wanted {
            continue;
        }
        let name = |o: usize| instr.operands.get(o).map_or("", |&id| &*ev.module[id].name);
        let declared = instr.operands.get(o).and_then(|&id| ev.module[id].shape.as_array());
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
        operands[o] = cut(ev, operands[o].clone(), dims)?;
    }
    Ok(())
}

/// The beginning of an array.
fn cut(ev: &mut Evaluator<'_>, value: Literal, dims: Dims) -> Result<Literal> {
    let walk = Walk::dense(&array(&value)?.dims);
    let shape = ArrayShape::new(array(&value)?.element_type, dims);
    gather_walk(ev, &shape, value, &walk)
}

/// How an instruction's sizes follow, and which dimensions of its operands it pairs.
fn rule(instr: &Instruction, operands: &[Literal]) -> Result<(Sizes, Vec<Vec<Place>>)> {
    let rank = |o: usize| operands.get(o).and_then(|v| v.shape().as_array()).map_or(0, ArrayShape::rank);
    // The same dimensions of the operands of a range, but one.
    let alike = |which: std::ops::Range<usize>, but: Option<i64>| -> Vec<Vec<Place>> {
        let all = which.clone().map(rank).max().unwrap_or(0);
        let places = |d: usize| which.clone().filter(|&o| rank(o) == all).map(|o| (o, d)).collect();
        (0..all).filter(|&d| Some(d as i64) != but).map(places).collect()
    };
    // Dimensions of one operand with those of another.
    let pairs = |(a, of_a): (usize, &[i64]), (b, of_b): (usize, &[i64])| -> Vec<Vec<Place>> {
        of_a.iter().zip(of_b).map(|(&x, &y)| vec![(a, x as usize), (b, y as usize)]).collect()
    };
    let n = operands.len();
    Ok(match &instr.op {
        Op::Parameter(_)
        | Op::Tuple
        | Op::GetTupleElement(_)
        | Op::SetDimensionSize(_)
        | Op::GetDimensionSize(_)
        | Op::DynamicReshape
        | Op::Call(_)
        | Op::Conditional(_)
        | Op::Fusion(_)
        | Op::While(_)
        | Op::AfterAll
        | Op::PartitionId
        | Op::ReplicaId
        | Op::AsyncDone(_)
        | Op::AsyncStart(_)
        | Op::AsyncUpdate(_)
        | Op::CopyDone
        | Op::CopyStart(_)
        | Op::CustomCall(_)
        | Op::Infeed(_)
        | Op::Outfeed(_)
        | Op::Recv(_)
        | Op::RecvDone(_)
        | Op::Send(_)
        | Op::SendDone(_)
        | Op::AllGatherDone
        | Op::AllGatherStart(_)
        | Op::AllReduceDone
        | Op::AllReduceStart(_)
        | Op::CollectivePermuteDone
        | Op::CollectivePermuteStart(_) => (Sizes::Carried, vec![]),

        Op::Constant(_) | Op::Iota(_) | Op::Rng(_) | Op::RngGetAndUpdateState(_) => (Sizes::Bounds, vec![]),

        Op::Copy | Op::OptBarrier | Op::Domain(_) | Op::AddDependency => (Sizes::Operand, vec![]),

        Op::Select if operands.get(1).is_some_and(|v| v.shape().is_tuple()) => (Sizes::Carried, vec![]),
        Op::Abs
        | Op::Acos
        | Op::Acosh
        | Op::Asin
        | Op::Asinh
        | Op::Atanh
        | Op::Cbrt
        | Op::Ceil
        | Op::Cosine
        | Op::Cosh
        | Op::CountLeadingZeros
        | Op::Erf
        | Op::Exponential
        | Op::ExponentialMinusOne
        | Op::Floor
        | Op::Imag
        | Op::IsFinite
        | Op::Log
        | Op::LogPlusOne
        | Op::Logistic
        | Op::Negate
        | Op::Not
        | Op::PopulationCount
        | Op::Real
        | Op::RoundNearestAfz
        | Op::RoundNearestEven
        | Op::Rsqrt
        | Op::Sign
        | Op::Sine
        | Op::Sinh
        | Op::Sqrt
        | Op::Tan
        | Op::Tanh
        | Op::Convert
        | Op::ReducePrecision(_)
        | Op::Add
        | Op::And
        | Op::Atan2
        | Op::Compare(_)
        | Op::Complex
        | Op::Divide
        | Op::Maximum
        | Op::Minimum
        | Op::Mulhi
        | Op::Multiply
        | Op::Or
        | Op::Power
        | Op::Remainder
        | Op::ShiftLeft
        | Op::ShiftRightArithmetic
        | Op::ShiftRightLogical
        | Op::StochasticConvert
        | Op::Subtract
        | Op::Xor
        | Op::Clamp
        | Op::Select
        | Op::Map(_) => (Sizes::Elementwise, alike(0..n, None)),

        Op::BitcastConvert => (Sizes::Prefix, vec![]),
        Op::Broadcast(a) => (Sizes::Broadcast(a.dimensions.clone()), vec![]),
        Op::Reshape(a) => (Sizes::Reshaped(a.inferred_dimension), vec![]),
        Op::Bitcast => (Sizes::Reshaped(None), vec![]),
        Op::Pad(_) => (Sizes::Padded, vec![]),
        Op::Concatenate(a) => (Sizes::Inferred, alike(0..n, Some(a.dimension()))),
        Op::Sort(_) => (Sizes::Inferred, alike(0..n, None)),
        Op::Reduce(_) | Op::ReduceWindow(_) => (Sizes::Inferred, alike(0..n / 2, None)),
        Op::Dot(a) => {
            let mut both = pairs((0, &a.lhs_batch_dims), (1, &a.rhs_batch_dims));
            both.extend(pairs((0, &a.lhs_contracting_dims), (1, &a.rhs_contracting_dims)));
            (Sizes::Inferred, both)
        }
        Op::Convolution(a) if a.feature_groups() == 1 => {
            let labels = &a.dim_labels;
            (Sizes::Inferred, pairs((0, &[labels.input_feature]), (1, &[labels.kernel_input_feature])))
        }
        Op::Gather(a) => {
            let batch = pairs((0, &a.operand_batching_dims), (1, &a.start_indices_batching_dims));
            (Sizes::Inferred, batch)
        }
        Op::Scatter(a) => {
            let inputs = n / 2;
            let mut all = alike(0..inputs, None);
            all.extend(pairs((0, &a.input_batching_dims), (inputs, &a.scatter_indices_batching_dims)));
            let of_indices = (0..rank(inputs)).filter(|&d| d as i64 != a.index_vector_dim);
            let of_updates = (0..rank(inputs + 1)).filter(|&d| !a.update_window_dims.contains(&(d as i64)));
            for (x, y) in of_indices.zip(of_updates) {
                let mut places = vec![(inputs, x)];
                places.extend((inputs + 1..n).map(|u| (u, y)));
                all.push(places);
            }
            all.extend(
                a.update_window_dims.iter().map(|&d| (inputs + 1..n).map(|u| (u, d as usize)).collect()),
            );
            (Sizes::Inferred, all)
        }
        Op::BatchNormTraining(a) | Op::BatchNormInference(a) | Op::BatchNormGrad(a) => {
            let feature = a.feature_index as usize;
            let of_rank = |o: usize| if rank(o) == rank(0) && rank(0) != 1 { feature } else { 0 };
            (Sizes::Inferred, vec![(0..n).map(|o| (o, of_rank(o))).collect()])
        }
        Op::Convolution(_)
        | Op::Reverse(_)
        | Op::Slice(_)
        | Op::Transpose(_)
        | Op::DynamicSlice(_)
        | Op::DynamicUpdateSlice
        | Op::SelectAndScatter(_)
        | Op::TopK(_)
        | Op::Scan(_)
        | Op::Cholesky(_)
        | Op::Fft(_)
        | Op::TriangularSolve(_)
        | Op::RaggedDot(_)
        | Op::ScaledDot(_)
        | Op::RngBitGenerator(_)
        | Op::AllGather(_)
        | Op::AllReduce(_)
        | Op::AllToAll(_)
        | Op::CollectiveBroadcast(_)
        | Op::CollectivePermute(_)
        | Op::RaggedAllToAll(_)
        | Op::ReduceScatter(_) => (Sizes::Inferred, vec![]),
    })
}

/// Cuts what attributes or other operands say of sizes down to what is there: slices end where the array ends.
fn cut_attributes(op: &mut Op, operands: &mut [Literal], ev: &mut Evaluator<'_>) -> Result<()> {
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
        Op::DynamicUpdateSlice => cut_to(ev, operands, 1, &available)?,
        Op::SelectAndScatter(a) => {
            let places: Option<Dims> = window_places(&available, &a.window);
            let places = places.ok_or_else(|| EvalError::new("the window does not fit the array"))?;
            cut_to(ev, operands, 1, &places)?;
        }
        _ => {}
    }
    Ok(())
}

/// Cuts operand `n` where it is longer than `sizes`.
fn cut_to(ev: &mut Evaluator<'_>, operands: &mut [Literal], n: usize, sizes: &[i64]) -> Result<()> {
    let has = &operand_array(operands, n)?.dims;
    let wanted: Dims = has.iter().zip(sizes).map(|(&d, &s)| d.min(s)).collect();
    if wanted != *has {
        operands[n] = cut(ev, operands[n].clone(), wanted)?;
    }
    Ok(())
}

/// How often a window fits, dimension by dimension.
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

/// The real sizes of a reshape's result.
fn reshaped(
    module: &Module,
    instr: &Instruction,
    operands: &[Literal],
    inferred: Option<i64>,
) -> Result<ArrayShape> {
    let real = operand_array(operands, 0)?;
    let to = result_array(instr)?;
    let declared = instr.operands.first().and_then(|&o| module[o].shape.as_array()).unwrap_or(real);
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

/// The real sizes of `pad`'s result; where more is taken away than there is, 0.
fn padded(instr: &Instruction, operands: &[Literal]) -> Result<ArrayShape> {
    let real = operand_array(operands, 0)?;
    let Op::Pad(attrs) = &instr.op else { return Err(EvalError::new("not a pad")) };
    let sizes = real.dims.iter().zip(&attrs.padding).map(|(&size, p)| {
        let between = size.saturating_sub(1).max(0).saturating_mul(p.interior);
        size.saturating_add(between).saturating_add(p.low).saturating_add(p.high).max(0)
    });
    Ok(ArrayShape::new(real.element_type, sizes))
}

/// `set-dimension-size` (semantics, "SetDimensionSize"): the first elements of the dimension. One that is made larger
/// than the array is continued with zeros.
pub(super) fn set_dimension_size(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    number: i64,
) -> Result<Literal> {
    let [operand, size] = take(operands)?;
    let bounds = result_array(instr)?;
    let d = dimension(number, bounds.rank())?;
    let wanted = size.integer_at(0).ok_or_else(|| EvalError::new("the size must be an integer"))?;
    let size = i64::try_from(wanted).ok().filter(|n| (0..=bounds.dims[d]).contains(n)).ok_or_else(|| {
        EvalError::new(format!(
            "the size of dimension {d} is set to {wanted}, which is not from 0 to its bound, {}",
            bounds.dims[d]
        ))
    })?;
    let from = array(&operand)?.clone();
    let mut shape =
        ArrayShape { layout: bounds.layout.clone(), ..ArrayShape::new(from.element_type, from.dims.clone()) };
    shape.dims[d] = size;
    if shape.dims == from.dims {
        return super::structural::relabel(operand, &shape.into());
    }
    let mut result = ev.allocate(&shape)?;
    let mut kept = from.dims.clone();
    kept[d] = kept[d].min(size);
    let (source, target) = (Walk::dense(&from.dims), Walk::dense(&shape.dims));
    copy_bytes(from.element_type.byte_size(), &kept, operand.bytes(), &source, result.bytes_mut(), &target)?;
    ev.release(operand);
    Ok(result)
}

/// `get-dimension-size` (semantics, "GetDimensionSize"). A dimension that is declared static has the size that it is
/// declared with, as in XLA, even if it is part of what was dynamic.
pub(super) fn get_dimension_size(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: &[Literal],
    number: i64,
) -> Result<Literal> {
    let real = operand_array(operands, 0)?;
    let declared = instr.operands.first().and_then(|&o| ev.module[o].shape.as_array()).unwrap_or(real);
    let d = dimension(number, real.rank())?;
    let size = if declared.is_dynamic_dim(d) { real.dims[d] } else { declared.dims[d] };
    let size = i32::try_from(size).map_err(|_| EvalError::new("the size does not fit an s32"))?;
    super::structural::relabel(Literal::scalar(result_array(instr)?.element_type, size), &instr.shape)
}

/// `dynamic-reshape`: the elements in row-major order under the sizes that the operands say.
pub(super) fn dynamic_reshape(instr: &Instruction, mut operands: Vec<Literal>) -> Result<Literal> {
    let bounds = result_array(instr)?;
    if operands.len() != bounds.rank() + 1 {
        return Err(EvalError::new(format!("{} sizes for rank {}", operands.len() - 1, bounds.rank())));
    }
    let sizes = operands.split_off(1);
    let [operand] = take(operands)?;
    let mut shape = bounds.clone();
    shape.dynamic.clear();
    for (d, size) in sizes.iter().enumerate() {
        let bound = bounds.dims[d];
        let wanted = size.integer_at(0).ok_or_else(|| EvalError::new("sizes must be integers"))?;
        let allowed = if bounds.is_dynamic_dim(d) { 0..=bound } else { bound..=bound };
        shape.dims[d] = i64::try_from(wanted).ok().filter(|n| allowed.contains(n)).ok_or_else(|| {
            EvalError::new(format!(
                "the size of dimension {d} is {wanted}, which does not fit {}",
                instr.shape
            ))
        })?;
    }
    let (has, wanted) = (array(&operand)?.element_count(), shape.element_count());
    if has != wanted {
        return Err(EvalError::new(format!(
            "the operand has {has} elements, {}, the sizes are those of {wanted}, {shape}",
            operand.shape()
        )));
    }
    Ok(operand.with_shape(shape.into()))
}
