//! `ragged-dot` and `scaled-dot`.

use super::accumulate::{Factor, factor_type, rounding};
use super::convert::converted;
use super::{Result, array, dimension, dimensions, dot, result_array, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::row_major_strides;
use crate::kernel::{elements, elements_mut};
use hlo_ir::attr::{DotAttrs, RaggedDotAttrs};
use hlo_ir::{ArrayShape, Dims, ElementType, Instruction, Literal};

/// `scaled-dot`: the product of the operands multiplied with their scales. A scale belongs to a block of elements
/// along each dimension, a scalar to all.
pub(super) fn scaled_dot(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &DotAttrs,
) -> Result<Literal> {
    let [lhs, rhs, lhs_scale, rhs_scale] = take(operands)?;
    let f64s = [&lhs, &rhs, &lhs_scale, &rhs_scale].map(|v| array(v).map(|a| a.element_type));
    let wide = f64s.into_iter().collect::<Result<Vec<_>>>()?.contains(&ElementType::F64);
    let wide = if wide || result_array(instr)?.element_type == ElementType::F64 {
        ElementType::F64
    } else {
        ElementType::F32
    };
    let lhs = scaled(ev, lhs, lhs_scale, wide, &block_sizes(ev, instr, 0))?;
    let rhs = scaled(ev, rhs, rhs_scale, wide, &block_sizes(ev, instr, 1))?;
    dot::dot(ev, instr, vec![lhs, rhs], attrs)
}

/// How many elements of an operand have a scale in common, dimension by dimension, as the module declares it.
fn block_sizes(ev: &Evaluator<'_>, instr: &Instruction, side: usize) -> Vec<usize> {
    let declared = |n: usize| instr.operands.get(n).and_then(|&o| ev.module[o].shape.as_array());
    let (Some(value), Some(scale)) = (declared(side), declared(side + 2)) else { return Vec::new() };
    let sizes = value.dims.iter().zip(&scale.dims);
    sizes.map(|(&n, &blocks)| (n.max(1) / blocks.max(1)).max(1) as usize).collect()
}

/// The elements times the scales of their blocks.
fn scaled(
    ev: &mut Evaluator<'_>,
    value: Literal,
    scale: Literal,
    wide: ElementType,
    blocks: &[usize],
) -> Result<Literal> {
    let dims = array(&value)?.dims.clone();
    let strides = row_major_strides(&array(&scale)?.dims);
    let value = converted(ev, value, wide)?;
    let scale = converted(ev, scale, wide)?;
    let mut value = ev.make_unique(value)?;
    let mut index = vec![0; dims.len()];
    let count = array(&value)?.element_count();
    ev.charge(count)?;
    for at in 0..count {
        unravel(at, &dims, &mut index);
        // Which of the blocks along each dimension it is in.
        let mut block = 0;
        for ((&index, &size), &stride) in index.iter().zip(blocks).zip(&strides) {
            block += index / size * stride as usize;
        }
        if wide == ElementType::F64 {
            let factor = elements::<f64>(scale.bytes()).get(block).copied().unwrap_or(1.0);
            elements_mut::<f64>(value.bytes_mut())[at] *= factor;
        } else {
            let factor = elements::<f32>(scale.bytes()).get(block).copied().unwrap_or(1.0);
            elements_mut::<f32>(value.bytes_mut())[at] *= factor;
        }
    }
    ev.release(scale);
    Ok(value)
}

/// The index of element number `at`.
fn unravel(mut at: usize, dims: &[i64], index: &mut [usize]) {
    for (i, &n) in index.iter_mut().zip(dims).rev() {
        let n = (n.max(1)) as usize;
        *i = at % n;
        at /= n;
    }
}

/// What the groups of the left operand's ragged dimension mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It is a free dimension: each group has a matrix of its own on the right.
    Free,
    /// It is contracted: each group has a sum of its own.
    Contracting,
    /// It is a batch dimension: groups only say which elements are padding, whose results don't matter.
    Batch,
}

/// A `ragged-dot` with its dimensions sorted by their roles.
struct Ragged {
    mode: Mode,
    ragged: usize,
    /// The right operand's dimension that counts groups.
    group: Option<usize>,
    /// The left operand's dimensions that group sizes depend on.
    before: Vec<usize>,
    batch: [Vec<usize>; 2],
    contracting: [Vec<usize>; 2],
    free: [Vec<usize>; 2],
    dims: [Dims; 2],
}

impl Ragged {
    fn new(lhs: &ArrayShape, rhs: &ArrayShape, sizes: &ArrayShape, attrs: &RaggedDotAttrs) -> Result<Ragged> {
        let list = |numbers: &Dims, a: &ArrayShape| dimensions(numbers, a.rank()).map(|d| d.to_vec());
        let batch = [list(&attrs.lhs_batch_dims, lhs)?, list(&attrs.rhs_batch_dims, rhs)?];
        let contracting = [list(&attrs.lhs_contracting_dims, lhs)?, list(&attrs.rhs_contracting_dims, rhs)?];
        let group = attrs.rhs_group_dims.first().map(|&d| dimension(d, rhs.rank())).transpose()?;
        let others = |side: usize, rank: usize, without: Option<usize>| {
            let taken = |d: &usize| batch[side].contains(d) || contracting[side].contains(d);
            (0..rank).filter(|d| !taken(d) && Some(*d) != without).collect::<Vec<_>>()
        };
        let free = [others(0, lhs.rank(), None), others(1, rhs.rank(), group)];
        let ragged = attrs.lhs_ragged_dims.first().copied().unwrap_or(-1);
        let ragged = dimension(ragged, lhs.rank())?;
        let mode = match (batch[0].contains(&ragged), contracting[0].contains(&ragged)) {
            (true, _) => Mode::Batch,
            (_, true) => Mode::Contracting,
            (false, false) => Mode::Free,
        };
        let until = |list: &[usize]| list.iter().copied().take_while(|&d| d != ragged).collect::<Vec<_>>();
        let mut before = until(&batch[0]);
        match mode {
            Mode::Free => before.extend(until(&free[0])),
            Mode::Contracting => before.extend(until(&contracting[0])),
            Mode::Batch => {}
        }
        // One vector of sizes for all.
        before.truncate(sizes.rank().saturating_sub(1));
        let dims = [lhs.dims.clone(), rhs.dims.clone()];
        Ok(Ragged { mode, ragged, group, before, batch, contracting, free, dims })
    }
}

/// `ragged-dot`: a product whose left operand consists of groups along its ragged dimension. Group sizes count from
/// the dimension's start; what is in no group gives 0.
pub(super) fn ragged_dot(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &RaggedDotAttrs,
) -> Result<Literal> {
    let [lhs, rhs, sizes] = take(operands)?;
    let shape = result_array(instr)?;
    let ty = factor_type(&[array(&lhs)?.element_type, array(&rhs)?.element_type], shape.element_type);
    let ragged = Ragged::new(array(&lhs)?, array(&rhs)?, array(&sizes)?, attrs)?;
    let sizes = converted(ev, sizes, ElementType::S64)?;
    let (lhs, rhs) = (converted(ev, lhs, ty)?, converted(ev, rhs, ty)?);
    let terms: usize = ragged.contracting[0].iter().map(|&d| ragged.dims[0][d].max(0) as usize).product();
    ev.charge(shape.element_count().saturating_mul(terms))?;
    let mut result = ev.allocate(shape)?;
    let values = (&lhs, &rhs, &sizes);
    match ty {
        ElementType::F32 => multiply::<f32>(&ragged, shape, terms, values, &mut result)?,
        ElementType::F64 => multiply::<f64>(&ragged, shape, terms, values, &mut result)?,
        ElementType::C64 => multiply::<[f32; 2]>(&ragged, shape, terms, values, &mut result)?,
        ElementType::C128 => multiply::<[f64; 2]>(&ragged, shape, terms, values, &mut result)?,
        _ => multiply::<i64>(&ragged, shape, terms, values, &mut result)?,
    }
    ev.release(lhs);
    ev.release(rhs);
    Ok(result)
}

/// The sums, element by element.
fn multiply<T: Factor>(
    r: &Ragged,
    shape: &ArrayShape,
    terms: usize,
    (lhs, rhs, sizes): (&Literal, &Literal, &Literal),
    result: &mut Literal,
) -> Result<()> {
    let round = rounding::<T>(shape.element_type);
    let strides = [row_major_strides(&r.dims[0]), row_major_strides(&r.dims[1])];
    let flat = |side: usize, index: &[usize]| -> usize {
        index.iter().zip(&strides[side]).map(|(&i, &s)| i * s as usize).sum()
    };
    let (lhs, rhs) = (elements::<T>(lhs.bytes()), elements::<T>(rhs.bytes()));
    let groups = array(sizes)?.dims.last().copied().unwrap_or(0).max(0) as usize;
    let sizes = elements::<i64>(sizes.bytes());
    let mut index = vec![0; shape.rank()];
    let (mut left, mut right) = (vec![0; r.dims[0].len()], vec![0; r.dims[1].len()]);
    let summed: Vec<i64> = r.contracting[0].iter().map(|&d| r.dims[0][d]).collect();
    let mut term = vec![0; summed.len()];
    let size = shape.element_type.byte_size();
    let out_of_place = || EvalError::new("the operands of ragged-dot do not fit each other or the result");
    for (at, out) in result.bytes_mut().chunks_exact_mut(size).enumerate() {
        unravel(at, &shape.dims, &mut index);
        let mut position = index.iter().copied();
        let mut next = || position.next().ok_or_else(out_of_place);
        let own_group = if r.mode == Mode::Contracting { Some(next()?) } else { None };
        for (&l, &r) in r.batch[0].iter().zip(&r.batch[1]) {
            left[l] = next()?;
            right[r] = left[l];
        }
        for &d in &r.free[0] {
            left[d] = next()?;
        }
        for &d in &r.free[1] {
            right[d] = next()?;
        }
        let mut sum = [T::ZERO];
        for k in 0..terms {
            unravel(k, &summed, &mut term);
            for (i, (&l, &r)) in r.contracting[0].iter().zip(&r.contracting[1]).enumerate() {
                left[l] = term[i];
                right[r] = term[i];
            }
            if r.mode != Mode::Batch {
                // The row of group sizes that holds for this element.
                let row = r.before.iter().fold(0, |row, &d| row * r.dims[0][d].max(0) as usize + left[d]);
                let sizes = sizes.get(row * groups..(row + 1) * groups).unwrap_or_default();
                let Some(group) = group_of(sizes, left[r.ragged]) else { continue };
                match (r.group, own_group) {
                    (Some(d), _) => right[d] = group,
                    (None, Some(own)) if own != group => continue,
                    (None, _) => {}
                }
            }
            let (x, y) = (lhs.get(flat(0, &left)), rhs.get(flat(1, &right)));
            let (Some(&x), Some(y)) = (x, y) else { return Err(out_of_place()) };
            T::add_products(&mut sum, x, std::slice::from_ref(y));
        }
        round(&[bytemuck::cast_slice(&sum)], out);
    }
    Ok(())
}

/// The group that a position is in. A negative size is none.
fn group_of(sizes: &[i64], position: usize) -> Option<usize> {
    let mut end = 0i64;
    sizes.iter().position(|&size| {
        let start = end;
        end = end.wrapping_add(size.max(0));
        (start..end).contains(&(position as i64))
    })
}
