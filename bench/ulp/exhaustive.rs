//! The error of a function at every bit pattern of `f32`.
//!
//! The reference is the compiled `f64` function: its error, which the table has, is some 2⁻²⁹ of a last place of `f32`.
//! The interpreter's functions, which are others, being right to half a last place everywhere, so is the reference.

use crate::engine::{Engine, Function};
use crate::measure::{Reference, Worst};
use hlo_ir::{AlignedBytes, ElementType, FloatFormat};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// The patterns that are computed at a time.
const CHUNK: u32 = 1 << 14;

/// The patterns that are compared at a time; a divisor of [`CHUNK`].
const BLOCK: usize = 1 << 7;

/// The greatest error over every `step`th bit pattern. Says on standard error how far it is.
pub fn error(name: &str, engine: Engine, step: u32) -> Result<Worst, String> {
    let chunks = u32::MAX / step / CHUNK + 1;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u32;
    let (done, start) = (AtomicU32::new(0), Instant::now());
    let part = |first: u32| -> Result<Worst, String> {
        let pair = Pair::new(name, engine)?;
        let mut worst = Worst::default();
        for chunk in (first..chunks).step_by(threads as usize) {
            // The last numbers of the last chunk are the first of all.
            let patterns = (0..CHUNK).map(|i| (chunk * CHUNK).wrapping_add(i).wrapping_mul(step));
            pair.record(patterns.map(f32::from_bits).collect(), &mut worst)?;
            let before = u64::from(done.fetch_add(1, Ordering::Relaxed));
            let percent = |done: u64| done * 10 / u64::from(chunks) * 10;
            if percent(before + 1) != percent(before) {
                let seconds = start.elapsed().as_secs_f64();
                eprintln!("{name} of f32, {engine}: {} % in {seconds:.0} s", percent(before + 1));
            }
        }
        Ok(worst)
    };
    std::thread::scope(|scope| {
        let part = &part;
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        let mut worst = Worst::default();
        for part in parts {
            let found = part.join().map_err(|_| "a thread panicked".to_string())??;
            // Of equal errors the one at the least pattern: the same for any number of threads.
            let pattern = |w: &Worst| w.at.first().map(|&x| (x as f32).to_bits());
            if found.error > worst.error || found.error == worst.error && pattern(&found) < pattern(&worst) {
                worst = found;
            }
        }
        eprintln!("{name} of f32, {engine}: {:.4} at {:?}", worst.error, worst.at);
        Ok(worst)
    })
}

/// A function and its reference.
struct Pair {
    function: Function,
    reference: Function,
}

impl Pair {
    fn new(name: &str, engine: Engine) -> Result<Self, String> {
        let function = |engine, ty| Function::new(engine, name, ty, 1, CHUNK as usize);
        Ok(Self {
            function: function(engine, ElementType::F32)?,
            reference: function(Engine::Compiled, ElementType::F64)?,
        })
    }

    fn record(&self, x: Vec<f32>, worst: &mut Worst) -> Result<(), String> {
        let wide: Vec<f64> = x.iter().map(|&x| x.into()).collect();
        let want = self.reference.run(&[AlignedBytes::from_slice(bytemuck::cast_slice(&wide))])?;
        let got = self.function.run(&[AlignedBytes::from_slice(bytemuck::cast_slice(&x))])?;
        let (got, want): (&[f32], &[f64]) = (bytemuck::cast_slice(&got), bytemuck::cast_slice(&want));
        // Most numbers are nearer than what was seen already, which is found out without a branch.
        let bound = worst.error;
        for start in (0..x.len()).step_by(BLOCK) {
            let pairs = got[start..start + BLOCK].iter().zip(&want[start..start + BLOCK]);
            let fine = pairs.fold(true, |fine, (&got, &want)| fine & is_within(got, want, bound));
            if fine {
                continue;
            }
            for n in start..start + BLOCK {
                let error = Reference::from(want[n]).error(&FloatFormat::F32, got[n].into());
                worst.record(error, || vec![x[n].into()]);
            }
        }
        Ok(())
    }
}

/// True if the distance is no more than `bound` units in the last place for certain, and signs, infinities and NaNs are
/// right.
fn is_within(got: f32, want: f64, bound: f64) -> bool {
    // By 2^-exponent, which is one of a normal number of `f32`.
    let field = (want.to_bits() >> 52 & 0x7ff).clamp(897, 1150);
    let scale = f64::from_bits((0x7fe - field) << 52);
    let near = (f64::from(got) - want).abs() * scale * f64::from(1 << 23) <= bound;
    let same_sign = (got.to_bits() >> 31) == (want.to_bits() >> 63) as u32;
    let same = (got.to_bits() == (want as f32).to_bits()) & ((got == 0.0) | got.is_infinite());
    (near & same_sign & (got != 0.0)) | same | (got.is_nan() & want.is_nan())
}
