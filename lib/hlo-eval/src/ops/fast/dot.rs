//! `dot` as a batch of matrix products, computed in strips of columns.

use crate::context::Context;
use crate::index::{count, pick};
use crate::kernel::elements;
use crate::ops::accumulate::{Factor, rounding, with_factor};
use crate::ops::dot::DotDims;
use crate::ops::moved::moved;
use crate::ops::pointwise::converted;
use crate::ops::support::{Result, array};
use hlo_ir::{ArrayShape, ElementType, Literal};

/// The sizes of a batch of products of m×k by k×n matrices.
struct Sizes {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
}

/// Computes a product with factors of type `ty`. The shapes of operands and result are already checked.
pub(in crate::ops) fn dot(
    cx: &mut Context<'_>,
    dims: &DotDims,
    shape: &ArrayShape,
    lhs: Literal,
    rhs: Literal,
    ty: ElementType,
) -> Result<Literal> {
    let size = |of: &Literal, which: &[usize]| {
        Ok::<usize, crate::error::EvalError>(count(&pick(&array(of)?.dims, which)))
    };
    let sizes = Sizes {
        batch: size(&lhs, &dims.batch[0])?,
        m: size(&lhs, &dims.free[0])?,
        n: size(&rhs, &dims.free[1])?,
        k: size(&lhs, &dims.contracting[0])?,
    };
    let lhs = arrange(cx, lhs, ty, [&dims.batch[0], &dims.free[0], &dims.contracting[0]])?;
    let rhs = arrange(cx, rhs, ty, [&dims.batch[1], &dims.contracting[1], &dims.free[1]])?;
    cx.charge(shape.element_count().saturating_mul(sizes.k))?;
    let mut result = cx.allocate(shape)?;
    with_factor!(ty, T => multiply::<T>(&sizes, &lhs, &rhs, &mut result, shape.element_type))?;
    cx.release(lhs);
    cx.release(rhs);
    Ok(result)
}

/// Converts an operand to factors, with its dimensions in the given order.
fn arrange(cx: &mut Context<'_>, value: Literal, ty: ElementType, order: [&[usize]; 3]) -> Result<Literal> {
    let (order, shape) = (order.concat(), array(&value)?);
    if order.iter().copied().eq(0..shape.rank()) {
        return converted(cx, value, ty);
    }
    let arranged = ArrayShape::new(shape.element_type, pick(&shape.dims, &order));
    let value = moved(cx, &arranged, value, |arranged, operand| {
        order.iter().zip(arranged).for_each(|(&d, &i)| operand[d] = i);
    })?;
    converted(cx, value, ty)
}

/// Computes the products in strips of columns, so that the right operand's strip stays in cache.
fn multiply<T: Factor>(
    s: &Sizes,
    lhs: &Literal,
    rhs: &Literal,
    result: &mut Literal,
    ty: ElementType,
) -> Result<()> {
    const STRIP: usize = 128;
    let round = rounding::<T>(ty);
    let (lhs, rhs) = (elements::<T>(lhs.bytes())?, elements::<T>(rhs.bytes())?);
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
                round(&[bytemuck::cast_slice(sums)], &mut out[start..start + sums.len() * size])?;
            }
        }
    }
    Ok(())
}
