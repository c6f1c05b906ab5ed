//! Products of any element types in cache-sized blocks. Operands are converted to the accumulator type block
//! by block, so that the inner loop is contiguous and vectorizes.

use super::Sizes;
use hlo_runtime_core::{Context, DotDesc, ElementCode, Error, Number, Scratch, Shared};

/// The number of rows, columns and contracted elements of one block.
const BLOCK_M: usize = 16;
const BLOCK_N: usize = 256;
const BLOCK_K: usize = 64;

/// # Safety
/// As for [`super::hlo_rt_dot`]. `types` must be the types of lhs, rhs and out.
pub(super) unsafe fn dot<T: Number>(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    types: [ElementCode; 3],
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
) -> Result<(), Error> {
    let (rows, columns) = (sizes.m.div_ceil(BLOCK_M), sizes.n.div_ceil(BLOCK_N));
    let per_product =
        rows.checked_mul(columns).ok_or_else(|| Error("the product has too many blocks".into()))?;
    let blocks = per_product
        .checked_mul(sizes.batch)
        .ok_or_else(|| Error("the product has too many blocks".into()))?;
    // SAFETY: blocks write disjoint parts of `out`.
    let buffers = unsafe { Shared::new((lhs, rhs, out)) };
    ctx.try_for_each(blocks, |block| {
        let (b, rest) = (block / per_product, block % per_product);
        let (i0, j0) = (rest / columns * BLOCK_M, rest % columns * BLOCK_N);
        // SAFETY: the block is inside the product, which the caller guarantees to be valid.
        unsafe { one_block::<T>(desc, sizes, types, buffers.get(), [b, i0, j0]) }
    })
}

/// # Safety
/// As for [`dot`]; `[b, i0, j0]` must be inside the product.
unsafe fn one_block<T: Number>(
    desc: &DotDesc,
    sizes: Sizes,
    [lhs_type, rhs_type, out_type]: [ElementCode; 3],
    (lhs, rhs, out): (*const u8, *const u8, *mut u8),
    [b, i0, j0]: [usize; 3],
) -> Result<(), Error> {
    let (mb, nb) = ((sizes.m - i0).min(BLOCK_M), (sizes.n - j0).min(BLOCK_N));
    let scratch = Scratch::new::<T>(BLOCK_M * BLOCK_N + BLOCK_K * BLOCK_N + BLOCK_M * BLOCK_K)?;
    // SAFETY: the buffer contains the three blocks consecutively; they are filled before they are read.
    let (sums, right, left) = unsafe {
        let p = scratch.pointer::<T>();
        (0..BLOCK_M * BLOCK_N).for_each(|i| p.add(i).write(T::ZERO));
        let q = p.add(BLOCK_M * BLOCK_N);
        (0..BLOCK_K * BLOCK_N).for_each(|i| q.add(i).write(T::ZERO));
        (
            std::slice::from_raw_parts_mut(p, BLOCK_M * BLOCK_N),
            std::slice::from_raw_parts_mut(q, BLOCK_K * BLOCK_N),
            q.add(BLOCK_K * BLOCK_N),
        )
    };
    let at = |strides: [i64; 3], indices: [usize; 3], code: ElementCode| {
        let elements: i64 = strides.iter().zip(indices).map(|(s, i)| s.wrapping_mul(i as i64)).sum();
        elements as isize * code.byte_size() as isize
    };
    let lhs_strides = [desc.lhs_batch_stride, desc.lhs_m_stride, desc.lhs_k_stride];
    let rhs_strides = [desc.rhs_batch_stride, desc.rhs_k_stride, desc.rhs_n_stride];
    let out_strides = [desc.out_batch_stride, desc.out_m_stride, desc.out_n_stride];
    for k0 in (0..sizes.k).step_by(BLOCK_K) {
        let kb = (sizes.k - k0).min(BLOCK_K);
        // SAFETY: the indices are inside the operands, and the scratch blocks inside the buffer.
        unsafe {
            for k in 0..kb {
                let row = rhs.offset(at(rhs_strides, [b, k0 + k, j0], rhs_type));
                load_row::<T>(rhs_type, row, desc.rhs_n_stride, &mut right[k * BLOCK_N..][..nb]);
            }
            for i in 0..mb {
                let row = lhs.offset(at(lhs_strides, [b, i0 + i, k0], lhs_type));
                let left = std::slice::from_raw_parts_mut(left.add(i * BLOCK_K), kb);
                load_row::<T>(lhs_type, row, desc.lhs_k_stride, left);
            }
        }
        for (i, sums) in sums.chunks_exact_mut(BLOCK_N).take(mb).enumerate() {
            for k in 0..kb {
                // SAFETY: written above.
                let a = unsafe { left.add(i * BLOCK_K + k).read() };
                for (sum, &b) in sums[..nb].iter_mut().zip(&right[k * BLOCK_N..][..nb]) {
                    *sum = sum.mul_add(a, b);
                }
            }
        }
    }
    for i in 0..mb {
        for j in 0..nb {
            // SAFETY: the indices are inside the output.
            unsafe {
                let p = out.offset(at(out_strides, [b, i0 + i, j0 + j], out_type));
                sums[i * BLOCK_N + j].store(out_type, p);
            }
        }
    }
    Ok(())
}

/// Loads and converts `into.len()` elements of type `code` that are `stride` elements apart.
///
/// # Safety
/// The elements must be readable, and `into` must be writable (its contents need not be initialized).
unsafe fn load_row<T: Number>(code: ElementCode, row: *const u8, stride: i64, into: &mut [T]) {
    let step = stride as isize * code.byte_size() as isize;
    for (i, to) in into.iter_mut().enumerate() {
        // SAFETY: guaranteed by the caller.
        *to = unsafe { T::load(code, row.offset(step.wrapping_mul(i as isize))) };
    }
}
