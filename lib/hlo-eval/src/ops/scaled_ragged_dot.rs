//! `ragged-dot` and `scaled-dot`.

use super::accumulate::{Factor, factor_type, rounding, with_factor};
use super::dot::{self, put};
use super::elementwise;
use super::pointwise::converted;
use super::support::{Result, array, declared_array, dimension, dimensions, result_array, take};
use crate::context::Context;
use crate::element::{Elements, apply, load, store};
use crate::error::EvalError;
use crate::index::{count, indices, pick, position};
use crate::kernel::elements;
use hlo_ir::attr::{DotAttrs, RaggedDotAttrs};
use hlo_ir::{ArrayShape, Dims, ElementType, ElementwiseOp, Instruction, Literal};

/// `scaled-dot`: the product of the operands after multiplication with their scales. A scale applies to a
/// block of elements along each dimension. A scalar applies to all elements.
pub(super) fn scaled_dot(
    cx: &mut Context<'_>,
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
    let lhs_blocks = block_sizes(cx, instr, 0)?;
    let rhs_blocks = block_sizes(cx, instr, 1)?;
    let lhs = scaled(cx, lhs, lhs_scale, wide, &lhs_blocks)?;
    let rhs = scaled(cx, rhs, rhs_scale, wide, &rhs_blocks)?;
    dot::dot(cx, instr, vec![lhs, rhs], attrs)
}

/// Returns the number of elements of an operand that share a scale, for each dimension of the scale, by the
/// declared shapes.
fn block_sizes(cx: &Context<'_>, instr: &Instruction, side: usize) -> Result<Vec<i64>> {
    let value = declared_array(cx.module, instr, side)?;
    let scale = declared_array(cx.module, instr, side + 2)?;
    if scale.rank() != 0 && scale.rank() != value.rank() {
        return Err(EvalError::internal(format!("scales of shape {scale} for {value}")));
    }
    let sizes = value.dims.iter().zip(&scale.dims);
    // Without elements or blocks there is no element with a scale.
    Ok(sizes.map(|(&n, &blocks)| n.checked_div(blocks).map_or(1, |size| size.max(1))).collect())
}

/// Multiplies the elements by the scales of their blocks.
fn scaled(
    cx: &mut Context<'_>,
    value: Literal,
    scale: Literal,
    wide: ElementType,
    block_sizes: &[i64],
) -> Result<Literal> {
    let dims = array(&value)?.dims.clone();
    let value = converted(cx, value, wide)?;
    let scale = converted(cx, scale, wide)?;
    let mut value = cx.make_unique(value)?;
    cx.charge(array(&value)?.element_count())?;
    let multiply = elementwise::kernel(ElementwiseOp::Multiply, &[wide, wide], wide)?;
    let (size, scales) = (wide.byte_size(), Elements::of(&scale)?);
    let mut values = value.bytes_mut().chunks_exact_mut(size);
    for (index, element) in indices(&dims).zip(&mut values) {
        // The index of the block along each dimension. A scalar scale applies to all elements.
        let block: Dims = index.iter().zip(block_sizes).map(|(&i, &size)| i / size).collect();
        let product = apply(&multiply, &[(load(element, size, 0)?, size), (scales.at(&block)?, size)], size)?;
        store(element, size, 0, product)?;
    }
    cx.release(scale);
    Ok(value)
}

/// The role of the left operand's ragged dimension, which decides what its groups mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A free dimension: each group has a matrix of its own on the right.
    Free,
    /// A contracting dimension: each group has a sum of its own.
    Contracting,
    /// A batch dimension: the groups only mark which elements are padding. The results of padding are
    /// unspecified.
    Batch,
}

/// A `ragged-dot` with its dimensions by role.
struct Ragged {
    mode: Mode,
    ragged: usize,
    /// The group dimension of the right operand.
    group: Option<usize>,
    /// The dimensions of the left operand that group sizes depend on.
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
        let ragged = attrs.lhs_ragged_dims.first();
        let ragged = ragged.ok_or_else(|| EvalError::new("ragged-dot without a ragged dimension"))?;
        let ragged = dimension(*ragged, lhs.rank())?;
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
        // One vector of sizes applies to all.
        before.truncate(sizes.rank().saturating_sub(1));
        let dims = [lhs.dims.clone(), rhs.dims.clone()];
        Ok(Ragged { mode, ragged, group, before, batch, contracting, free, dims })
    }
}

/// `ragged-dot`: a product whose left operand consists of groups along its ragged dimension. The groups are
/// contiguous and begin at index 0 of the dimension. Elements outside of all groups result in 0.
pub(super) fn ragged_dot(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &RaggedDotAttrs,
) -> Result<Literal> {
    let [lhs, rhs, sizes] = take(operands)?;
    let shape = result_array(instr)?;
    let ty = factor_type(&[array(&lhs)?.element_type, array(&rhs)?.element_type], shape.element_type);
    let ragged = Ragged::new(array(&lhs)?, array(&rhs)?, array(&sizes)?, attrs)?;
    let sizes = converted(cx, sizes, ElementType::S64)?;
    let (lhs, rhs) = (converted(cx, lhs, ty)?, converted(cx, rhs, ty)?);
    let terms = count(&pick(&ragged.dims[0], &ragged.contracting[0]));
    cx.charge(shape.element_count().saturating_mul(terms))?;
    let mut result = cx.allocate(shape)?;
    let values = (&lhs, &rhs, &sizes);
    with_factor!(ty, T => multiply::<T>(&ragged, shape, values, &mut result))?;
    cx.release(lhs);
    cx.release(rhs);
    Ok(result)
}

/// Computes each element of the result as the sum of products over all indices of the contracting dimensions.
/// The dimensions of the result are the groups (if each has a sum of its own), then the batch, left free and
/// right free dimensions.
fn multiply<T: Factor>(
    r: &Ragged,
    shape: &ArrayShape,
    (lhs, rhs, sizes): (&Literal, &Literal, &Literal),
    result: &mut Literal,
) -> Result<()> {
    let round = rounding::<T>(shape.element_type);
    let (lhs, rhs) = (elements::<T>(lhs.bytes())?, elements::<T>(rhs.bytes())?);
    let size_dims = &array(sizes)?.dims;
    let sizes = elements::<i64>(sizes.bytes())?;
    let own_dims = usize::from(r.mode == Mode::Contracting);
    let (batches, lhs_frees, rhs_frees) = (r.batch[0].len(), r.free[0].len(), r.free[1].len());
    if shape.rank() != own_dims + batches + lhs_frees + rhs_frees {
        return Err(EvalError::new("the operands of ragged-dot do not fit the result"));
    }
    let mut left: Dims = smallvec::smallvec![0; r.dims[0].len()];
    let mut right: Dims = smallvec::smallvec![0; r.dims[1].len()];
    let out = result.bytes_mut().chunks_exact_mut(shape.element_type.byte_size());
    for (index, out) in indices(&shape.dims).zip(out) {
        let (own_group, rest) = index.split_at(own_dims);
        let (batch, free) = rest.split_at(batches);
        put(&mut left, &r.batch[0], batch);
        put(&mut right, &r.batch[1], batch);
        put(&mut left, &r.free[0], &free[..lhs_frees]);
        put(&mut right, &r.free[1], &free[lhs_frees..]);
        let mut sum = [T::ZERO];
        for contracted in indices(&pick(&r.dims[0], &r.contracting[0])) {
            put(&mut left, &r.contracting[0], &contracted);
            put(&mut right, &r.contracting[1], &contracted);
            if r.mode != Mode::Batch {
                let Some(group) = group_of(sizes, size_dims, &pick(&left, &r.before), left[r.ragged])? else {
                    continue; // Elements outside of all groups result in 0.
                };
                match (r.group, own_group) {
                    (Some(d), _) => right[d] = group,
                    (None, &[own]) if own != group => continue,
                    (None, _) => {}
                }
            }
            let (x, y) = (lhs[position(&left, &r.dims[0])?], rhs[position(&right, &r.dims[1])?]);
            T::add_products(&mut sum, x, &[y]);
        }
        round(&[bytemuck::cast_slice(&sum)], out)?;
    }
    Ok(())
}

/// Returns the group of a position in the ragged dimension, by the vector of group sizes at `before`. A
/// negative size counts as 0.
fn group_of(sizes: &[i64], dims: &[i64], before: &[i64], position_in: i64) -> Result<Option<i64>> {
    let groups = *dims.last().ok_or_else(|| EvalError::internal("group sizes without a dimension"))?;
    let mut end = 0i64;
    for group in 0..groups {
        let mut index: Dims = before.into();
        index.push(group);
        let start = end;
        end = end.wrapping_add(sizes[position(&index, dims)?].max(0));
        if (start..end).contains(&position_in) {
            return Ok(Some(group));
        }
    }
    Ok(None)
}
