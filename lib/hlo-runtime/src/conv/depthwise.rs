//! Depthwise convolutions of f32, one output feature to each input feature, features side by side in memory:
//! vectors of features are multiplied and added directly.

use super::Buffers;
use super::geometry::Geometry;
use crate::context::{Context, Shared};

/// Features of one block: four AVX-512 registers of sums.
const BLOCK: usize = 64;
/// Multiply-adds that a task should have at least.
const TASK: usize = 1 << 17;

/// True when this algorithm computes the convolution.
pub(super) fn applies(g: &Geometry) -> bool {
    let neighbours = [g.lhs_group_stride, g.rhs_out_stride, g.out_feature_stride].iter().all(|&s| s == 4);
    g.group_in == 1 && g.group_out == 1 && g.lhs_feature_stride == g.lhs_group_stride && neighbours
}

/// # Safety
/// As for [`super::hlo_rt_conv`]; [`applies`] must be true.
pub(super) unsafe fn conv(ctx: &Context, g: &Geometry, buffers: Buffers) {
    let line = g.dims.last().map_or(1, |d| d.out_size);
    let lines = g.pixels / line;
    let a_line = line.saturating_mul(g.out_features).saturating_mul(g.positions).max(1);
    let grain = (TASK / a_line).clamp(1, lines);
    // SAFETY: lines of pixels are written by one task each.
    let buffers = unsafe { Shared::new(buffers) };
    ctx.for_each(lines.div_ceil(grain), |chunk| {
        for pixel in chunk * grain * line..g.pixels.min((chunk + 1) * grain * line) {
            // SAFETY: the caller's promise; the features are checked.
            unsafe {
                #[cfg(target_arch = "x86_64")]
                {
                    if is_x86_feature_detected!("avx512f") {
                        pixel_avx512(g, buffers.get(), pixel);
                        continue;
                    }
                    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        pixel_avx2(g, buffers.get(), pixel);
                        continue;
                    }
                }
                one_pixel::<false>(g, buffers.get(), pixel);
            }
        }
    });
}

/// # Safety
/// As for [`conv`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn pixel_avx512(g: &Geometry, buffers: Buffers, pixel: usize) {
    // SAFETY: the caller's promise.
    unsafe { one_pixel::<true>(g, buffers, pixel) }
}

/// # Safety
/// As for [`conv`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn pixel_avx2(g: &Geometry, buffers: Buffers, pixel: usize) {
    // SAFETY: the caller's promise.
    unsafe { one_pixel::<true>(g, buffers, pixel) }
}

/// # Safety
/// As for [`conv`].
#[inline(always)]
unsafe fn one_pixel<const FMA: bool>(g: &Geometry, buffers: Buffers, pixel: usize) {
    /// Window positions whose offsets are found once for all features.
    const KNOWN: usize = 64;
    let (b, at) = g.pixel(pixel);
    let input = b as isize * g.lhs_batch_stride;
    let mut offsets = [(0isize, 0isize); KNOWN];
    let mut begin = 0;
    loop {
        let end = g.positions.min(begin + KNOWN);
        let mut used = 0;
        for position in begin..end {
            let window = g.window(position);
            if let Some(offset) = g.lhs_offset(at, window) {
                offsets[used] = (input + offset, g.rhs_offset(window));
                used += 1;
            }
        }
        let out = buffers.out.wrapping_offset(g.out_offset(pixel)).cast::<f32>();
        for f in (0..g.out_features).step_by(BLOCK) {
            let n = BLOCK.min(g.out_features - f);
            let mut sums = [0f32; BLOCK];
            // SAFETY: the offsets and features are inside the operands and the output.
            unsafe {
                if begin > 0 {
                    std::ptr::copy_nonoverlapping(out.add(f), sums.as_mut_ptr(), n);
                }
                for &(lhs, rhs) in &offsets[..used] {
                    let x = buffers.lhs.offset(lhs).cast::<f32>().add(f);
                    let y = buffers.rhs.offset(rhs).cast::<f32>().add(f);
                    if n == BLOCK {
                        multiply_add::<FMA, BLOCK>(&mut sums, x, y, BLOCK);
                    } else {
                        multiply_add::<FMA, BLOCK>(&mut sums, x, y, n);
                    }
                }
                std::ptr::copy_nonoverlapping(sums.as_ptr(), out.add(f), n);
            }
        }
        begin = end;
        if begin >= g.positions {
            break;
        }
    }
}

/// `sums[i] += x[i] * y[i]` for `i < n <= N`.
///
/// # Safety
/// `x` and `y` must be readable for `n` elements.
#[inline(always)]
unsafe fn multiply_add<const FMA: bool, const N: usize>(
    sums: &mut [f32; N],
    x: *const f32,
    y: *const f32,
    n: usize,
) {
    for (i, sum) in sums[..n].iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        let (x, y) = unsafe { (x.add(i).read_unaligned(), y.add(i).read_unaligned()) };
        *sum = if FMA { x.mul_add(y, *sum) } else { *sum + x * y };
    }
}
