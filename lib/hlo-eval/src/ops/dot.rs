//! `dot`.

use super::accumulate::{Factor, factor_type, rounding};
use super::convert::converted;
use super::data_movement::gather_walk;
use super::{Result, array, dimensions, result_array, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{Walk, count, row_major_strides};
use hlo_ir::attr::DotAttrs;
use hlo_ir::{ArrayShape, Dims, ElementType, Instruction, Literal};

/// `dot` (semantics, "DotGeneral"): the result's dimensions are the batch dimensions, then the free ones of the
/// left operand, then those of the right one.
pub(super) fn dot(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &DotAttrs,
) -> Result<Literal> {
    let [lhs, rhs] = take(operands)?;
    let shape = result_array(instr)?;
    let ty = factor_type(&[array(&lhs)?.element_type, array(&rhs)?.element_type], shape.element_type);
    let (lhs, lhs_sizes) = arrange(ev, lhs, ty, &attrs.lhs_batch_dims, &attrs.lhs_contracting_dims, true)?;
    let (rhs, rhs_sizes) = arrange(ev, rhs, ty, &attrs.rhs_batch_dims, &attrs.rhs_contracting_dims, false)?;
    let sizes = Sizes { batch: lhs_sizes[0], m: lhs_sizes[1], n: rhs_sizes[1], k: lhs_sizes[2] };
    let fits = rhs_sizes[0] == sizes.batch && rhs_sizes[2] == sizes.k;
    if !fits || shape.element_count() != sizes.results() {
        return Err(EvalError::new("the operands of dot do not fit each other or the result"));
    }
    ev.charge(sizes.results().saturating_mul(sizes.k))?;
    let mut result = ev.allocate(shape)?;
    match ty {
        ElementType::F32 => multiply::<f32>(&sizes, &lhs, &rhs, &mut result, shape.element_type),
        ElementType::F64 => multiply::<f64>(&sizes, &lhs, &rhs, &mut result, shape.element_type),
        ElementType::C64 => multiply::<[f32; 2]>(&sizes, &lhs, &rhs, &mut result, shape.element_type),
        ElementType::C128 => multiply::<[f64; 2]>(&sizes, &lhs, &rhs, &mut result, shape.element_type),
        _ => multiply::<i64>(&sizes, &lhs, &rhs, &mut result, shape.element_type),
    }
    ev.release(lhs);
    ev.release(rhs);
    Ok(result)
}

/// A batch of products of m×k by k×n.
struct Sizes {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
}

impl Sizes {
    fn results(&self) -> usize {
        self.batch.saturating_mul(self.m).saturating_mul(self.n)
    }
}

/// An operand as factors, dimensions in the order batch, free, contracting (`free_first`) or batch, contracting,
/// free, with the numbers of elements of batch, free and contracting dimensions.
fn arrange(
    ev: &mut Evaluator<'_>,
    value: Literal,
    ty: ElementType,
    batch: &[i64],
    contracting: &[i64],
    free_first: bool,
) -> Result<(Literal, [usize; 3])> {
    let dims = array(&value)?.dims.clone();
    let batch = dimensions(batch, dims.len())?;
    let contracting = dimensions(contracting, dims.len())?;
    let free: Vec<usize> =
        (0..dims.len()).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect();
    let size = |which: &[usize]| count(&which.iter().map(|&d| dims[d]).collect::<Dims>());
    let sizes = [size(&batch), size(&free), size(&contracting)];
    let (second, third) =
        if free_first { (&free[..], &contracting[..]) } else { (&contracting[..], &free[..]) };
    let order: Vec<usize> = batch.iter().chain(second).chain(third).copied().collect();
    let mut value = value;
    if !order.iter().copied().eq(0..dims.len()) {
        let strides = row_major_strides(&dims);
        let walk = Walk { offset: 0, strides: order.iter().map(|&d| strides[d]).collect() };
        let shape = ArrayShape::new(array(&value)?.element_type, order.iter().map(|&d| dims[d]));
        value = gather_walk(ev, &shape, value, &walk)?;
    }
    Ok((converted(ev, value, ty)?, sizes))
}

/// The products, in strips of columns so that the right operand's strip stays in cache.
fn multiply<T: Factor>(s: &Sizes, lhs: &Literal, rhs: &Literal, result: &mut Literal, ty: ElementType) {
    const STRIP: usize = 128;
    let round = rounding::<T>(ty);
    let (lhs, rhs) = (crate::kernel::elements::<T>(lhs.bytes()), crate::kernel::elements::<T>(rhs.bytes()));
    let (out, size) = (result.bytes_mut(), ty.byte_size());
    let mut sums = [T::ZERO; STRIP];
    for b in 0..s.batch {
        let (lhs, rhs) = (&lhs[b * s.m * s.k..], &rhs[b * s.k * s.n..]);
        for first in (0..s.n).step_by(STRIP) {
            let sums = &mut sums[..STRIP.min(s.n - first)];
            for i in 0..s.m {
                sums.fill(T::ZERO);
                for k in 0..s.k {
                    T::add_products(sums, lhs[i * s.k + k], &rhs[k * s.n + first..][..sums.len()]);
                }
                let start = ((b * s.m + i) * s.n + first) * size;
                round(&[bytemuck::cast_slice(sums)], &mut out[start..start + sums.len() * size]);
            }
        }
    }
}
