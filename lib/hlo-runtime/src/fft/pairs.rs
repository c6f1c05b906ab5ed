//! Transforms of two real lines of odd length at a time, as the real and imaginary parts of one complex line.
//! A transform of a single real line takes half the work of a complex one only for even lengths.
//!
//! Each line is first divided by a power of two so that its largest number is near 1. Then the rounding
//! errors of one line do not affect the other.

use hlo_fft::{Fft, FftNum, Precision};
use hlo_runtime_core::{Error, Filled};
use num_complex::Complex;
use std::sync::Arc;

use super::zeros;

/// Plans and buffers for pairs of lines of `n` real numbers.
pub struct Pairs<T: FftNum> {
    plan: Arc<dyn Fft<T>>,
    line: Filled<Complex<T>>,
    scratch: Filled<Complex<T>>,
}

impl<T: Precision> Pairs<T> {
    /// Creates the buffers for `plan`, the plan of complex lines of this length in the direction of the
    /// transform.
    ///
    /// # Errors
    /// Fails if there is no memory for the buffers.
    pub fn new(plan: &Arc<dyn Fft<T>>) -> Result<Self, Error> {
        let scratch = zeros::<T>(plan.get_inplace_scratch_len())?;
        Ok(Self { plan: plan.clone(), line: zeros::<T>(plan.len())?, scratch })
    }

    /// Computes the first halves of the spectra of two lines.
    pub fn forward(&mut self, from: [&[T]; 2], to: [&mut [Complex<T>]; 2]) {
        let scales = from.map(scale);
        // The quotients are exact, because the scales are powers of two.
        let [a, b] = scales.map(|scale| T::one() / scale);
        for (z, (&x, &y)) in self.line.iter_mut().zip(from[0].iter().zip(from[1])) {
            *z = Complex::new(x * a, y * b);
        }
        self.plan.process_with_scratch(&mut self.line, &mut self.scratch);
        let [a, b] = scales.map(|scale| scale / (T::one() + T::one()));
        let [to_first, to_second] = to;
        let ([first, firsts @ ..], [second, seconds @ ..]) = (to_first, to_second) else { return };
        let Some((middle, rest)) = self.line.split_first() else { return };
        *first = Complex::new(middle.re * scales[0], T::zero());
        *second = Complex::new(middle.im * scales[1], T::zero());
        for ((z, w), (first, second)) in
            rest.iter().zip(rest.iter().rev()).zip(firsts.iter_mut().zip(seconds))
        {
            // (z + w̄) / 2 and (z - w̄) / 2i.
            *first = Complex::new((z.re + w.re) * a, (z.im - w.im) * a);
            *second = Complex::new((z.im + w.im) * b, (w.re - z.re) * b);
        }
    }

    /// Computes two lines from the first halves of their spectra, and multiplies them by `factor`. The
    /// imaginary parts of the spectra at 0 are ignored.
    pub fn inverse(&mut self, from: [&[Complex<T>]; 2], to: [&mut [T]; 2], factor: T) {
        let scales = from.map(|line| scale(parts(line)));
        let [a, b] = scales.map(|scale| T::one() / scale);
        let Some((middle, rest)) = self.line.split_first_mut() else { return };
        let (below, above) = rest.split_at_mut(rest.len() / 2);
        for (k, (x, y)) in from[0].iter().zip(from[1]).enumerate() {
            let (x, y) = (Complex::new(x.re * a, x.im * a), Complex::new(y.re * b, y.im * b));
            if k == 0 {
                *middle = Complex::new(x.re, y.re);
                continue;
            }
            // x + i·y, and in the second half x̄ + i·ȳ.
            below[k - 1] = Complex::new(x.re - y.im, x.im + y.re);
            above[below.len() - k] = Complex::new(x.re + y.im, y.re - x.im);
        }
        self.plan.process_with_scratch(&mut self.line, &mut self.scratch);
        let [a, b] = scales.map(|scale| scale * factor);
        let [first, second] = to;
        for (z, (first, second)) in self.line.iter().zip(first.iter_mut().zip(second)) {
            (*first, *second) = (z.re * a, z.im * b);
        }
    }
}

/// Returns complex numbers as alternating real and imaginary parts.
fn parts<T: FftNum>(line: &[Complex<T>]) -> &[T] {
    // SAFETY: a complex number is `repr(C)` with its two parts and nothing else.
    unsafe { std::slice::from_raw_parts(line.as_ptr().cast(), 2 * line.len()) }
}

/// Returns a power of two near the largest absolute value of `numbers`.
fn scale<T: Precision>(numbers: &[T]) -> T {
    // Many lanes, so that the loop uses vectors.
    const LANES: usize = 16;
    let larger = |most: T, x: T| if x.abs() > most { x.abs() } else { most };
    let mut most = [T::zero(); LANES];
    let (groups, rest) = numbers.as_chunks::<LANES>();
    for group in groups {
        for (most, &x) in most.iter_mut().zip(group) {
            *most = larger(*most, x);
        }
    }
    most.into_iter().chain(rest.iter().copied()).fold(T::zero(), larger).near_power_of_two()
}
