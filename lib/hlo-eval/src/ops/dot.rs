//! `dot`.

use super::accumulate::{Factor, factor_type, rounding, with_factor};
use super::fast;
use super::pointwise::converted;
use super::support::{Result, array, dimensions, result_array, take};
use crate::context::Context;
use crate::error::EvalError;
use crate::index::{indices, pick, position};
use crate::kernel::elements;
use hlo_ir::attr::DotAttrs;
use hlo_ir::{ArrayShape, Dims, Instruction, Literal};

/// The dimension numbers of a `dot`, for both operands: `DotDimensionNumbers` of the semantics.
pub(super) struct DotDims {
    pub(super) batch: [Vec<usize>; 2],
    pub(super) contracting: [Vec<usize>; 2],
    /// The other dimensions, in order.
    pub(super) free: [Vec<usize>; 2],
}

/// `dot` (semantics, "DotGeneral"): sums of products over the contracting dimensions. The result has the
/// batch dimensions, then the free dimensions of the left operand, then those of the right operand. A free
/// dimension is neither batch nor contracting.
pub(super) fn dot(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &DotAttrs,
) -> Result<Literal> {
    let [lhs, rhs] = take(operands)?;
    let shape = result_array(instr)?;
    let dims = DotDims::new(array(&lhs)?, array(&rhs)?, shape, attrs)?;
    let ty = factor_type(&[array(&lhs)?.element_type, array(&rhs)?.element_type], shape.element_type);
    if !cx.definitions_only() {
        return fast::dot::dot(cx, &dims, shape, lhs, rhs, ty);
    }
    let (lhs, rhs) = (converted(cx, lhs, ty)?, converted(cx, rhs, ty)?);
    let mut result = cx.allocate(shape)?;
    with_factor!(ty, T => sums_of_products::<T>(cx, &dims, &lhs, &rhs, &mut result))?;
    cx.release(lhs);
    cx.release(rhs);
    Ok(result)
}

impl DotDims {
    /// Reads the dimension numbers, and checks the sizes of paired dimensions and of the result.
    fn new(lhs: &ArrayShape, rhs: &ArrayShape, result: &ArrayShape, attrs: &DotAttrs) -> Result<Self> {
        let list = |numbers: &Dims, a: &ArrayShape| dimensions(numbers, a.rank()).map(|d| d.to_vec());
        let batch = [list(&attrs.lhs_batch_dims, lhs)?, list(&attrs.rhs_batch_dims, rhs)?];
        let contracting = [list(&attrs.lhs_contracting_dims, lhs)?, list(&attrs.rhs_contracting_dims, rhs)?];
        let free = |side: usize, rank: usize| {
            let taken = |d: &usize| batch[side].contains(d) || contracting[side].contains(d);
            (0..rank).filter(|d| !taken(d)).collect::<Vec<usize>>()
        };
        let free = [free(0, lhs.rank()), free(1, rhs.rank())];
        let same = |pairs: &[Vec<usize>; 2]| pick(&lhs.dims, &pairs[0]) == pick(&rhs.dims, &pairs[1]);
        let mut sizes = pick(&lhs.dims, &batch[0]);
        sizes.extend(pick(&lhs.dims, &free[0]));
        sizes.extend(pick(&rhs.dims, &free[1]));
        if !same(&batch) || !same(&contracting) || sizes != result.dims {
            return Err(EvalError::new("the operands of dot do not fit each other or the result"));
        }
        Ok(Self { batch, contracting, free })
    }
}

/// Computes each element of the result as the sum of products over all indices of the contracting dimensions,
/// in order.
fn sums_of_products<T: Factor>(
    cx: &mut Context<'_>,
    dims: &DotDims,
    lhs: &Literal,
    rhs: &Literal,
    result: &mut Literal,
) -> Result<()> {
    let (lhs_dims, rhs_dims) = (&array(lhs)?.dims, &array(rhs)?.dims);
    let (lhs, rhs) = (elements::<T>(lhs.bytes())?, elements::<T>(rhs.bytes())?);
    let shape = array(result)?.clone();
    let round = rounding::<T>(shape.element_type);
    let mut lhs_index: Dims = smallvec::smallvec![0; lhs_dims.len()];
    let mut rhs_index: Dims = smallvec::smallvec![0; rhs_dims.len()];
    let out = result.bytes_mut().chunks_exact_mut(shape.element_type.byte_size());
    for (index, out) in indices(&shape.dims).zip(out) {
        let (batch, free) = index.split_at(dims.batch[0].len());
        let (lhs_free, rhs_free) = free.split_at(dims.free[0].len());
        put(&mut lhs_index, &dims.batch[0], batch);
        put(&mut rhs_index, &dims.batch[1], batch);
        put(&mut lhs_index, &dims.free[0], lhs_free);
        put(&mut rhs_index, &dims.free[1], rhs_free);
        let mut sum = [T::ZERO];
        for contracted in indices(&pick(lhs_dims, &dims.contracting[0])) {
            put(&mut lhs_index, &dims.contracting[0], &contracted);
            put(&mut rhs_index, &dims.contracting[1], &contracted);
            let (x, y) = (lhs[position(&lhs_index, lhs_dims)?], rhs[position(&rhs_index, rhs_dims)?]);
            T::add_products(&mut sum, x, &[y]);
            cx.charge(1)?;
        }
        round(&[bytemuck::cast_slice(&sum)], out)?;
    }
    Ok(())
}

/// Sets the dimensions `dims` of an index.
pub(super) fn put(index: &mut [i64], dims: &[usize], values: &[i64]) {
    dims.iter().zip(values).for_each(|(&d, &i)| index[d] = i);
}
