//! Plans of Fourier transforms of lines: twiddle factors and the decomposition of a length. `rustfft` plans
//! complex lines, and `realfft` plans real lines.
//!
//! The algorithms of both crates are generic in the number type and large. A separate crate compiles them for
//! f32 and f64 once, in parallel with other crates. No function here is generic, so callers do not compile any
//! of the code again.
//!
//! # Example
//! The transform of an impulse is constant:
//!
//! ```
//! use hlo_fft::{FftDirection, FftPlans, Precision};
//! use rustfft::num_complex::Complex;
//!
//! let plans = FftPlans::default();
//! let mut line = [1.0, 0.0, 0.0, 0.0].map(|re| Complex::new(re, 0.0));
//! f64::complex(&plans, 4, FftDirection::Forward).process(&mut line);
//! assert_eq!(line, [Complex::new(1.0, 0.0); 4]);
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use realfft::RealFftPlanner;
pub use realfft::{ComplexToReal, RealToComplex};
use rustfft::FftPlanner;
pub use rustfft::{Fft, FftDirection, FftNum};

/// The plans created so far, for both precisions. A plan is created once, and requesting it again allocates
/// no memory.
pub struct FftPlans {
    single: Mutex<Planner<f32>>,
    double: Mutex<Planner<f64>>,
}

impl Default for FftPlans {
    // A derived function would be compiled in each crate that calls it, and with it all algorithms.
    #[inline(never)]
    fn default() -> Self {
        Self { single: Mutex::default(), double: Mutex::default() }
    }
}

/// The real number types that have transforms: f32 and f64.
pub trait Precision: FftNum + PartialOrd {
    /// Returns the transform of lines of `length` complex numbers, without scaling.
    fn complex(plans: &FftPlans, length: usize, direction: FftDirection) -> Arc<dyn Fft<Self>>;
    /// Returns the transform of lines of `length` reals to the first half of their spectrum, `length / 2 + 1`
    /// numbers.
    fn forward_real(plans: &FftPlans, length: usize) -> Arc<dyn RealToComplex<Self>>;
    /// Returns the transform of the first half of a spectrum, `length / 2 + 1` numbers, to lines of `length`
    /// reals, without scaling.
    fn inverse_real(plans: &FftPlans, length: usize) -> Arc<dyn ComplexToReal<Self>>;
    /// Returns the greatest power of two that is at most the absolute value. Returns 1 for 0 and for the
    /// smallest and largest numbers, so that products and quotients with it neither underflow nor overflow.
    fn near_power_of_two(self) -> Self;
}

/// Implements [`Precision`] for a type. The second argument is the field of [`FftPlans`] with its plans.
macro_rules! precision {
    ($t:ident, $field:ident) => {
        impl Precision for $t {
            fn complex(plans: &FftPlans, length: usize, direction: FftDirection) -> Arc<dyn Fft<$t>> {
                let mut planner = plans.$field.lock().unwrap_or_else(PoisonError::into_inner);
                let Planner { complex, complex_plans, .. } = &mut *planner;
                let plan = complex_plans.entry((length, direction == FftDirection::Inverse));
                plan.or_insert_with(|| complex.plan_fft(length, direction)).clone()
            }

            fn forward_real(plans: &FftPlans, length: usize) -> Arc<dyn RealToComplex<$t>> {
                plans.$field.lock().unwrap_or_else(PoisonError::into_inner).real.plan_fft_forward(length)
            }

            fn inverse_real(plans: &FftPlans, length: usize) -> Arc<dyn ComplexToReal<$t>> {
                plans.$field.lock().unwrap_or_else(PoisonError::into_inner).real.plan_fft_inverse(length)
            }

            fn near_power_of_two(self) -> $t {
                // Clears the sign and the significand.
                let power = <$t>::from_bits(self.to_bits() & <$t>::INFINITY.to_bits());
                let far = $t::MAX.sqrt();
                if power > 1.0 / far && power < far { power } else { 1.0 }
            }
        }
    };
}

precision!(f32, single);
precision!(f64, double);

struct Planner<T: FftNum> {
    complex: FftPlanner<T>,
    /// The plans of `complex`, by length and by whether the transform is inverse. `complex` would compute and
    /// allocate again for each request.
    complex_plans: HashMap<(usize, bool), Arc<dyn Fft<T>>>,
    real: RealFftPlanner<T>,
}

impl<T: FftNum> Default for Planner<T> {
    fn default() -> Self {
        Self { complex: FftPlanner::new(), complex_plans: HashMap::new(), real: RealFftPlanner::new() }
    }
}
