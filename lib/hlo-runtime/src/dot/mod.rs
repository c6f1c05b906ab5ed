//! Matrix products: validates the descriptor and selects an algorithm by element types and shape.
//!
//! A product is `out[b, i, j] = Σ_k lhs[b, i, k] · rhs[b, k, j]` with a stride for every dimension, so that
//! one function handles all layouts and transpositions.

mod faer;
mod long_contraction;
mod packed;
mod plain;
mod rows;
mod vector;

use hlo_runtime_core::{Accumulator, Context, DotDesc, ElementCode, Error, Truth, accumulator};
use num_complex::Complex;

/// The validated sizes of a [`DotDesc`].
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
}

/// Computes a batch of matrix products; see [`DotDesc`]. Returns 0, or 1 with a message in the context.
///
/// Sums accumulate in f32 for f16, bf16 and f32, and in f64 for f64. Integer sums wrap. For `pred`, the
/// product is a logical and, and the sum a logical or. The result is rounded once, to the output type. Long
/// sums in f32 are computed in parts. Products of bf16 matrices use the processor's instruction for pairs if
/// they are thin or if the instruction is faster than f32. That instruction treats subnormal operands as zero
/// and flushes subnormal sums. The order of summation is unspecified. It is fixed for a shape on one machine
/// and does not depend on the number of threads.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. At every element that the descriptor
/// reaches, `lhs` and `rhs` must be readable and `out` writable. `out` must not overlap the operands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_dot(
    ctx: *const Context,
    desc: *const DotDesc,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc) = unsafe { (&*ctx, &*desc) };
    // SAFETY: guaranteed by the caller.
    ctx.guard("dot", || unsafe { dot::<true>(ctx, desc, lhs, rhs, out) })
}

/// As [`hlo_rt_dot`], but returns an error for products whose sums are f64 or complex. An ahead-of-time
/// program without such products links a tenth of the code.
///
/// # Safety
/// As for [`hlo_rt_dot`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_dot_narrow(
    ctx: *const Context,
    desc: *const DotDesc,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc) = unsafe { (&*ctx, &*desc) };
    // SAFETY: guaranteed by the caller.
    ctx.guard("dot", || unsafe { dot::<false>(ctx, desc, lhs, rhs, out) })
}

/// Computes a product. `WIDE` is whether sums in f64 and complex numbers are supported.
///
/// # Safety
/// As for [`hlo_rt_dot`].
unsafe fn dot<const WIDE: bool>(
    ctx: &Context,
    desc: &DotDesc,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
) -> Result<(), Error> {
    let size = |v: i64, name: &str| usize::try_from(v).map_err(|_| Error(format!("{name} is {v}")));
    let sizes = Sizes {
        batch: size(desc.batch, "the batch size")?,
        m: size(desc.m, "the number of rows")?,
        n: size(desc.n, "the number of columns")?,
        k: size(desc.k, "the contracted size")?,
    };
    if sizes.batch == 0 || sizes.m == 0 || sizes.n == 0 {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    if let Some(result) = unsafe { long_contraction::dot(ctx, desc, sizes, (lhs, rhs, out)) } {
        return result;
    }
    if is_better_transposed(desc, sizes) {
        let flipped = Sizes { m: sizes.n, n: sizes.m, ..sizes };
        // SAFETY: the transposed product accesses the same elements.
        return unsafe { oriented::<WIDE>(ctx, &desc.transposed(), flipped, rhs, lhs, out) };
    }
    // SAFETY: guaranteed by the caller.
    unsafe { oriented::<WIDE>(ctx, desc, sizes, lhs, rhs, out) }
}

/// Returns whether to compute `outᵀ = rhsᵀ · lhsᵀ` instead. The kernels' vectors are most efficient if the
/// columns of the result are adjacent. If one operand is much larger than the other arrays, its layout
/// decides instead: it is read by columns as the right operand, or by rows as the left one.
fn is_better_transposed(desc: &DotDesc, sizes: Sizes) -> bool {
    const MAX_NARROW_SIZE: usize = 32;
    let Sizes { m, n, k, .. } = sizes;
    if n <= MAX_NARROW_SIZE && m.min(k) >= 2 * MAX_NARROW_SIZE && desc.lhs_m_stride == 1 {
        return true;
    }
    if m <= MAX_NARROW_SIZE && n.min(k) >= 2 * MAX_NARROW_SIZE && desc.rhs_k_stride == 1 {
        return true;
    }
    desc.out_n_stride.unsigned_abs() != 1 && desc.out_m_stride.unsigned_abs() == 1
}

/// # Safety
/// As for [`hlo_rt_dot`], with valid sizes.
unsafe fn oriented<const WIDE: bool>(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
) -> Result<(), Error> {
    let [l, r, o] = [desc.lhs_type, desc.rhs_type, desc.out_type].map(ElementCode::from_code);
    let (l, r, o) = (l?, r?, o?);
    let uniform = l == r && r == o;
    let accumulator = accumulator(l, r, o)?;
    // SAFETY: guaranteed by the caller.
    if let Some(result) = unsafe { vector::dot(ctx, desc, sizes, [l, r, o], (lhs, rhs, out)) } {
        return result;
    }
    // SAFETY: guaranteed by the caller.
    if let Some(result) = unsafe { packed::dot(ctx, desc, sizes, [l, r, o], accumulator, (lhs, rhs, out)) } {
        return result;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        match accumulator {
            Accumulator::F64 | Accumulator::C64 | Accumulator::C128 if !WIDE => {
                Err(Error("internal error: a product in wide numbers".into()))
            }
            Accumulator::F64 if uniform => faer::dot::<f64>(ctx, desc, sizes, lhs, rhs, out),
            Accumulator::C64 if uniform => faer::dot::<Complex<f32>>(ctx, desc, sizes, lhs, rhs, out),
            Accumulator::C128 if uniform => faer::dot::<Complex<f64>>(ctx, desc, sizes, lhs, rhs, out),
            Accumulator::F32 => plain::dot::<f32>(ctx, desc, sizes, [l, r, o], lhs, rhs, out),
            Accumulator::F64 => plain::dot::<f64>(ctx, desc, sizes, [l, r, o], lhs, rhs, out),
            Accumulator::C64 => plain::dot::<Complex<f32>>(ctx, desc, sizes, [l, r, o], lhs, rhs, out),
            Accumulator::C128 => plain::dot::<Complex<f64>>(ctx, desc, sizes, [l, r, o], lhs, rhs, out),
            Accumulator::I32 => plain::dot::<i32>(ctx, desc, sizes, [l, r, o], lhs, rhs, out),
            Accumulator::I64 => plain::dot::<i64>(ctx, desc, sizes, [l, r, o], lhs, rhs, out),
            Accumulator::Pred => plain::dot::<Truth>(ctx, desc, sizes, [l, r, o], lhs, rhs, out),
        }
    }
}
