//! Products of f64, c64 and c128 with `faer`. For f32 see [`crate::gemm`].
//!
//! The shape alone determines the blocks of the output. Each block is one sequential `faer` product, so the
//! bits do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use hlo_runtime_core::{Context, DotDesc, Error, Shared};

use super::Sizes;
use crate::linalg::by_faer;

/// The number of multiply-adds of a task. Smaller products of a batch share a task.
const TASK_MULTIPLY_ADDS: usize = 1 << 20;

/// # Safety
/// As for [`super::hlo_rt_dot`]; every operand has element type `T`.
pub(super) unsafe fn dot<T: ComplexField>(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
) -> Result<(), Error> {
    let Sizes { batch, m, n, k } = sizes;
    let (block_m, block_n) = blocks(m, n, k);
    let (rows, columns) = (m.div_ceil(block_m), n.div_ceil(block_n));
    let tile = |task: usize, buffers: (*const T, *const T, *mut T)| {
        let (b, rest) = (task / (rows * columns), task % (rows * columns));
        let (i, j) = (rest / columns * block_m, rest % columns * block_n);
        let (mb, nb) = (block_m.min(m - i), block_n.min(n - j));
        let at = |batch: i64, outer: i64, o: usize| {
            (batch.wrapping_mul(b as i64)).wrapping_add(outer.wrapping_mul(o as i64)) as isize
        };
        // SAFETY: the block is inside the product, which the caller guarantees to be valid; blocks are
        // disjoint.
        unsafe {
            let lhs = MatRef::from_raw_parts(
                buffers.0.offset(at(desc.lhs_batch_stride, desc.lhs_m_stride, i)),
                mb,
                k,
                desc.lhs_m_stride as isize,
                desc.lhs_k_stride as isize,
            );
            let rhs = MatRef::from_raw_parts(
                buffers.1.offset(at(desc.rhs_batch_stride, desc.rhs_n_stride, j)),
                k,
                nb,
                desc.rhs_k_stride as isize,
                desc.rhs_n_stride as isize,
            );
            let start = at(desc.out_batch_stride, desc.out_m_stride, i) + at(0, desc.out_n_stride, j);
            let out = MatMut::from_raw_parts_mut(
                buffers.2.offset(start),
                mb,
                nb,
                desc.out_m_stride as isize,
                desc.out_n_stride as isize,
            );
            by_faer(|| matmul(out, Accum::Replace, lhs, rhs, T::one_impl(), Par::Seq));
        }
    };
    // SAFETY: tasks write disjoint parts of `out`.
    let buffers = unsafe { Shared::new((lhs.cast::<T>(), rhs.cast::<T>(), out.cast::<T>())) };
    let tasks =
        batch.checked_mul(rows * columns).ok_or_else(|| Error("the product has too many blocks".into()))?;
    // Small products of a batch share a task.
    let grain = (TASK_MULTIPLY_ADDS / (m * n).saturating_mul(k).max(1)).clamp(1, tasks);
    ctx.for_each(tasks.div_ceil(grain), |chunk| {
        for task in chunk * grain..tasks.min((chunk + 1) * grain) {
            tile(task, buffers.get());
        }
    });
    Ok(())
}

/// Returns the size of the block that one task computes. It is the whole product if that is small. Otherwise
/// the longer side is halved until the block is small enough.
fn blocks(m: usize, n: usize, k: usize) -> (usize, usize) {
    let (mut bm, mut bn) = (m, n);
    while bm.saturating_mul(bn).saturating_mul(k) > TASK_MULTIPLY_ADDS * 8 && bm * bn > 128 * 128 {
        if bm >= bn { bm = bm.div_ceil(2) } else { bn = bn.div_ceil(2) }
    }
    (bm, bn)
}
