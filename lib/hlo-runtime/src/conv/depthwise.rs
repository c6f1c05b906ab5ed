//! Depthwise convolutions of f32, one output feature to each input feature, features side by side in memory:
//! vectors of features are multiplied and added directly.

use super::geometry::Geometry;
use super::{Buffers, MAX_SPATIAL};
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

/// One position of the window.
struct Position {
    window: [usize; MAX_SPATIAL],
    /// Bytes from the start of the filter.
    rhs: isize,
}

/// A convolution with its window positions.
struct Windows<'a> {
    g: &'a Geometry,
    positions: &'a [Position],
    /// Whether the zeros of the padding and between elements are multiplied, too.
    zeros: bool,
}

/// # Safety
/// As for [`super::hlo_rt_conv`]; [`applies`] must be true.
pub(super) unsafe fn conv(ctx: &Context, g: &Geometry, buffers: Buffers) {
    let line = g.dims.last().map_or(1, |d| d.out_size);
    let lines = g.pixels / line;
    let a_line = line.saturating_mul(g.out_features).saturating_mul(g.positions).max(1);
    let grain = (TASK / a_line).clamp(1, lines);
    // Where each window position is, found once for all pixels.
    let positions: Vec<Position> = (0..g.positions)
        .map(|position| {
            let window = g.window(position);
            Position { window, rhs: g.rhs_offset(window) }
        })
        .collect();
    // SAFETY: the caller's promise.
    let zeros = !unsafe { g.has_finite_weights::<f32>(buffers.rhs) };
    let g = Windows { g, positions: &positions, zeros };
    let g = &g;
    // SAFETY: lines of pixels are written by one task each.
    let buffers = unsafe { Shared::new(buffers) };
    ctx.for_each(lines.div_ceil(grain), |chunk| {
        for pixel in chunk * grain * line..g.g.pixels.min((chunk + 1) * grain * line) {
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
unsafe fn pixel_avx512(g: &Windows<'_>, buffers: Buffers, pixel: usize) {
    // SAFETY: the caller's promise.
    unsafe { one_pixel::<true>(g, buffers, pixel) }
}

/// # Safety
/// As for [`conv`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn pixel_avx2(g: &Windows<'_>, buffers: Buffers, pixel: usize) {
    // SAFETY: the caller's promise.
    unsafe { one_pixel::<true>(g, buffers, pixel) }
}

/// # Safety
/// As for [`conv`].
#[inline(always)]
unsafe fn one_pixel<const FMA: bool>(windows: &Windows<'_>, buffers: Buffers, pixel: usize) {
    /// Window positions whose offsets are found once for all features.
    const KNOWN: usize = 64;
    let g = windows.g;
    let (b, at) = g.pixel(pixel);
    let input = b as isize * g.lhs_batch_stride;
    let mut offsets = [(0isize, 0isize); KNOWN];
    let mut begin = 0;
    loop {
        let end = g.positions.min(begin + KNOWN);
        // Positions on the input from the front, those on zeros from the back.
        let (mut used, mut empty) = (0, KNOWN);
        for position in &windows.positions[begin..end] {
            if let Some(offset) = g.lhs_offset(&at, &position.window) {
                offsets[used] = (input + offset, position.rhs);
                used += 1;
            } else if windows.zeros {
                empty -= 1;
                offsets[empty] = (0, position.rhs);
            }
        }
        let out = buffers.out.wrapping_offset(g.out_offset(pixel)).cast::<f32>();
        let known = [&offsets[..used], &offsets[empty..]];
        for f in (0..g.out_features).step_by(BLOCK) {
            // SAFETY: the offsets and features are inside the operands and the output.
            unsafe {
                let buffers = Buffers {
                    lhs: buffers.lhs.add(4 * f),
                    rhs: buffers.rhs.add(4 * f),
                    out: out.add(f).cast(),
                };
                match g.out_features - f {
                    BLOCK.. => block::<FMA, 64>(known, buffers, begin > 0),
                    n => {
                        // The rest in narrower blocks.
                        let mut at = 0;
                        while at < n {
                            let next = Buffers {
                                lhs: buffers.lhs.add(4 * at),
                                rhs: buffers.rhs.add(4 * at),
                                out: buffers.out.add(4 * at),
                            };
                            at += match n - at {
                                16.. => block::<FMA, 16>(known, next, begin > 0),
                                4.. => block::<FMA, 4>(known, next, begin > 0),
                                _ => block::<FMA, 1>(known, next, begin > 0),
                            };
                        }
                        n
                    }
                };
            }
        }
        begin = end;
        if begin >= g.positions {
            break;
        }
    }
}

/// Sums the window of `N` neighbouring features, on top of the output if `add`; returns `N`. The offsets are those of
/// window positions on the input, then on zeros.
///
/// # Safety
/// The operands must be readable at the offsets, and the output writable, for `N` features.
#[inline(always)]
unsafe fn block<const FMA: bool, const N: usize>(
    [offsets, holes]: [&[(isize, isize)]; 2],
    buffers: Buffers,
    add: bool,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let out = buffers.out.cast::<[f32; N]>();
        let mut sums = if add { out.read_unaligned() } else { [0f32; N] };
        for &(lhs, rhs) in offsets {
            let x = buffers.lhs.offset(lhs).cast::<[f32; N]>().read_unaligned();
            let y = buffers.rhs.offset(rhs).cast::<[f32; N]>().read_unaligned();
            for i in 0..N {
                sums[i] = if FMA { x[i].mul_add(y[i], sums[i]) } else { sums[i] + x[i] * y[i] };
            }
        }
        for &(_, rhs) in holes {
            let y = buffers.rhs.offset(rhs).cast::<[f32; N]>().read_unaligned();
            for i in 0..N {
                sums[i] += 0.0 * y[i];
            }
        }
        out.write_unaligned(sums);
    }
    N
}
