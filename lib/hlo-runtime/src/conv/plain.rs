//! Convolutions of any element types with direct loops.

use super::Buffers;
use super::geometry::Geometry;
use hlo_runtime_core::{Context, Error, Number, Scratch, Shared};

/// The minimum number of multiply-adds of a task.
const MIN_TASK_MULTIPLY_ADDS: usize = 1 << 14;

/// # Safety
/// As for [`super::hlo_rt_conv`].
pub(super) unsafe fn conv<T: Number>(ctx: &Context, g: &Geometry, buffers: Buffers) -> Result<(), Error> {
    let a_pixel = g.out_features.saturating_mul(g.positions).saturating_mul(g.group_in).max(1);
    let grain = (MIN_TASK_MULTIPLY_ADDS / a_pixel).clamp(1, g.pixels);
    // SAFETY: guaranteed by the caller.
    let zeros = !unsafe { g.has_finite_weights::<T>(buffers.rhs) };
    // SAFETY: one task writes each pixel.
    let buffers = unsafe { Shared::new(buffers) };
    ctx.try_for_each(g.pixels.div_ceil(grain), |chunk| {
        let scratch = Scratch::new::<[isize; 2]>(g.positions)?;
        for pixel in chunk * grain..g.pixels.min((chunk + 1) * grain) {
            // SAFETY: guaranteed by the caller; the scratch buffer has room for the offsets of every
            // position.
            unsafe { one_pixel::<T>(g, buffers.get(), pixel, zeros, scratch.pointer()) };
        }
        Ok(())
    })
}

/// Sums the window of a pixel. With `zeros`, the sum includes the products with the zeros of the padding and
/// between elements.
///
/// # Safety
/// As for [`conv`]; `offsets` must be writable for every window position.
unsafe fn one_pixel<T: Number>(
    g: &Geometry,
    buffers: Buffers,
    pixel: usize,
    zeros: bool,
    offsets: *mut [isize; 2],
) {
    let [lhs_type, rhs_type, out_type] = g.types;
    let (b, at) = g.pixel(pixel);
    // Stores positions on input elements from the front, and positions on zeros from the back.
    let (mut used, mut empty) = (0, 0);
    for position in 0..g.positions {
        let window = g.window(position);
        // SAFETY: `used + empty <= position < g.positions`.
        unsafe {
            if let Some(lhs) = g.lhs_offset(&at, &window) {
                offsets.add(used).write([lhs, g.rhs_offset(window)]);
                used += 1;
            } else if zeros {
                empty += 1;
                offsets.add(g.positions - empty).write([0, g.rhs_offset(window)]);
            }
        }
    }
    // SAFETY: written above.
    let (offsets, holes) = unsafe {
        (
            std::slice::from_raw_parts(offsets, used),
            std::slice::from_raw_parts(offsets.add(g.positions - empty), empty),
        )
    };
    for f in 0..g.out_features {
        let group = f / g.group_out;
        let lhs = b as isize * g.lhs_batch_stride + group as isize * g.lhs_group_stride;
        let rhs = f as isize * g.rhs_out_stride;
        let mut sum = T::ZERO;
        // SAFETY: the offsets are inside the operands and the output.
        unsafe {
            for &[lhs_offset, rhs_offset] in offsets {
                for z in 0..g.group_in as isize {
                    let x =
                        T::load(lhs_type, buffers.lhs.offset(lhs + lhs_offset + z * g.lhs_feature_stride));
                    let y = T::load(rhs_type, buffers.rhs.offset(rhs + rhs_offset + z * g.rhs_in_stride));
                    sum = sum.mul_add(x, y);
                }
            }
            for &[_, rhs_offset] in holes {
                for z in 0..g.group_in as isize {
                    let y = T::load(rhs_type, buffers.rhs.offset(rhs + rhs_offset + z * g.rhs_in_stride));
                    sum = sum.mul_add(T::ZERO, y);
                }
            }
            let out = buffers.out.offset(g.out_offset(pixel) + f as isize * g.out_feature_stride);
            sum.store(out_type, out);
        }
    }
}
