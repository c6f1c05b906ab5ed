//! Random numbers without an explicit state: `rng` and `rng-get-and-update-state`.
//!
//! Each instruction has its own stream and a counter of its draws in this run. Number `i` of draw `n` comes
//! from one Philox block. Its key is the seed of the context, and its counter is `(i, n, stream)`, of 64, 32
//! and 32 bits. Each half of the block yields a 53-bit number in `[0, 1)`.

use crate::rng::{LANES, philox};
use hlo_runtime_core::{Context, DrawDesc, Error, Shared};

/// Fills `out` with random numbers and increments the draw counter. Returns 0, or 1 with a message in the
/// context.
///
/// # Safety
/// `ctx` must point to a live [`Context`], `desc` to a descriptor, and `draws` to the stream's counter. `a`
/// and `b` must be readable, and `out` must be writable for `count` numbers that overlap nothing else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_rng(
    ctx: *const Context,
    desc: *const DrawDesc,
    draws: *mut i64,
    a: *const f64,
    b: *const f64,
    out: *mut f64,
) -> i32 {
    /// Number of random numbers of a task.
    const TASK_NUMBERS: usize = 1 << 12;
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*ctx).guard("rng", || {
            let desc = &*desc;
            let count =
                usize::try_from(desc.count).map_err(|_| Error(format!("the size is {}", desc.count)))?;
            let (a, b) = (a.read_unaligned(), b.read_unaligned());
            let number: fn(u64, u64, f64, f64) -> f64 = match desc.distribution {
                0 => uniform,
                1 => normal,
                other => return Err(Error(format!("unknown distribution {other}"))),
            };
            let first = counter(desc.stream, draws);
            let key = (*ctx).seed();
            let out = Shared::new(out);
            (*ctx).for_each(count.div_ceil(TASK_NUMBERS), |task| {
                let end = count.min((task + 1) * TASK_NUMBERS);
                for at in (task * TASK_NUMBERS..end).step_by(LANES) {
                    let [w0, w1, w2, w3] = philox(key, first | at as u128);
                    for i in 0..LANES.min(end - at) {
                        let half = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
                        let x = number(half(w0[i], w1[i]), half(w2[i], w3[i]), a, b);
                        out.get().add(at + i).write_unaligned(x);
                    }
                }
            });
            Ok(())
        })
    }
}

/// Writes the two words of the stream's next state and increments the draw counter. The 128-bit state starts
/// at the seed (low word) and the stream (high word), and grows by `delta` with each draw. Returns 0.
///
/// # Safety
/// `ctx` must point to a live [`Context`], `draws` to the stream's counter, and `out` to two writable words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_rng_state(
    ctx: *const Context,
    draws: *mut i64,
    stream: i64,
    delta: i64,
    out: *mut u64,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let first = u128::from((*ctx).seed()) | u128::from(stream as u64) << 64;
        let steps = draws.read() as u64;
        draws.write((steps as i64).wrapping_add(1));
        let state = first.wrapping_add((i128::from(delta) as u128).wrapping_mul(u128::from(steps)));
        out.write_unaligned(state as u64);
        out.add(1).write_unaligned((state >> 64) as u64);
    }
    0
}

/// Returns the Philox counter of the first number of a draw, and increments the draw counter.
///
/// # Safety
/// `draws` must point to the stream's counter.
unsafe fn counter(stream: i64, draws: *mut i64) -> u128 {
    // SAFETY: guaranteed by the caller.
    let number = unsafe { draws.read() };
    // SAFETY: as above.
    unsafe { draws.write(number.wrapping_add(1)) };
    u128::from(number as u32) << 64 | u128::from(stream as u32) << 96
}

/// Converts the upper 53 bits of `word` to a number in `[0, 1)`.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a uniform number in `[a, b)`. A result that rounds to `b` is moved below `b`.
pub fn uniform(first: u64, _second: u64, a: f64, b: f64) -> f64 {
    let x = a + unit(first) * (b - a);
    if x >= b { b - b.abs() * f64::EPSILON } else { x }
}

/// Returns a normal number with mean `a` and standard deviation `b`, by the Box-Muller transform.
fn normal(first: u64, second: u64, a: f64, b: f64) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - unit(first))).sqrt();
    a + b * (radius * libm::cos(2.0 * std::f64::consts::PI * unit(second)))
}
