//! Convolutions: validates the descriptor and selects an algorithm.

mod axis;
mod dilated;
mod direct;
mod geometry;
mod grouped;
pub(crate) mod lines;
mod order;
mod packed;
mod panel;
mod plain;

use hlo_runtime_core::{Accumulator, Context, ConvDesc, Error, Truth, accumulator};
use num_complex::Complex;

use geometry::Geometry;

/// Computes a convolution; see [`ConvDesc`]. Returns 0, or 1 with a message in the context.
///
/// Sums accumulate as in [`crate::hlo_rt_dot`].
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. At every element that the descriptor
/// reaches, `lhs` and `rhs` must be readable and `out` writable. `out` must not overlap the operands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_conv(
    ctx: *const Context,
    desc: *const ConvDesc,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc) = unsafe { (&*ctx, &*desc) };
    // SAFETY: guaranteed by the caller.
    ctx.guard("convolution", || unsafe { conv(ctx, desc, Buffers { lhs, rhs, out }) })
}

/// The operands and the output.
#[derive(Clone, Copy)]
struct Buffers {
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
}

/// # Safety
/// As for [`hlo_rt_conv`].
unsafe fn conv(ctx: &Context, desc: &ConvDesc, buffers: Buffers) -> Result<(), Error> {
    let geometry = Geometry::new(desc)?;
    if geometry.pixels == 0 {
        return Ok(());
    }
    let [l, r, o] = geometry.types;
    let accumulator = accumulator(l, r, o)?;
    let g = &geometry;
    // SAFETY: guaranteed by the caller; the sums have the accumulator's type.
    unsafe {
        match accumulator {
            Accumulator::F32 => by_size::<f32>(ctx, g, accumulator, buffers),
            Accumulator::F64 => by_size::<f64>(ctx, g, accumulator, buffers),
            Accumulator::C64 => by_size::<Complex<f32>>(ctx, g, accumulator, buffers),
            Accumulator::C128 => by_size::<Complex<f64>>(ctx, g, accumulator, buffers),
            Accumulator::I32 => by_size::<i32>(ctx, g, accumulator, buffers),
            Accumulator::I64 => by_size::<i64>(ctx, g, accumulator, buffers),
            Accumulator::Pred => by_size::<Truth>(ctx, g, accumulator, buffers),
        }
    }
}

/// Selects the algorithm by the sizes.
///
/// # Safety
/// As for [`hlo_rt_conv`]; `T` must be the type of `accumulator`.
unsafe fn by_size<T: direct::Tiles>(
    ctx: &Context,
    g: &Geometry,
    accumulator: Accumulator,
    buffers: Buffers,
) -> Result<(), Error> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if g.positions == 0 {
            return plain::conv::<T>(ctx, g, buffers);
        }
        if let Some(result) = grouped::conv::<T>(ctx, g, buffers) {
            return result;
        }
        let most = match accumulator {
            Accumulator::F32 | Accumulator::I32 => packed::cost(g),
            _ => f64::INFINITY,
        };
        if direct::conv::<T>(ctx, g, buffers, most)? {
            return Ok(());
        }
        match accumulator {
            Accumulator::F32 | Accumulator::I32 if !dilated::is_dilated(g) => {
                packed::conv(ctx, g, accumulator, buffers)
            }
            Accumulator::F32 | Accumulator::I32 if g.has_finite_weights::<T>(buffers.rhs) => {
                dilated::for_each_class(g, |g, offset| {
                    let out = buffers.out.wrapping_offset(offset);
                    packed::conv(ctx, g, accumulator, Buffers { out, ..buffers })
                })
            }
            _ => plain::conv::<T>(ctx, g, buffers),
        }
    }
}
