//! Plans of Fourier transforms of lines: twiddle factors and the decomposition of a length, by `rustfft` for complex
//! lines and `realfft` for real ones.
//!
//! Their algorithms are generic in the number type and large: compiling them for f32 and f64 takes minutes of
//! optimised code, which a crate of its own takes once and beside everything else. No function here is generic, so
//! nothing of it is compiled again by those who call.
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

/// The plans made so far, of both precisions. A plan is made once, and asking for it again allocates nothing.
#[derive(Default)]
pub struct FftPlans {
    single: Mutex<Planner<f32>>,
    double: Mutex<Planner<f64>>,
}

/// The real numbers that have transforms: f32 and f64.
pub trait Precision: FftNum + PartialOrd {
    /// The transform of lines of `length` complex numbers, without a scale.
    fn complex(plans: &FftPlans, length: usize, direction: FftDirection) -> Arc<dyn Fft<Self>>;
    /// The transform of lines of `length` reals to the first half of their spectrum, `length / 2 + 1` numbers.
    fn forward_real(plans: &FftPlans, length: usize) -> Arc<dyn RealToComplex<Self>>;
    /// The transform of the first half of a spectrum, `length / 2 + 1` numbers, to lines of `length` reals, without a
    /// scale.
    fn inverse_real(plans: &FftPlans, length: usize) -> Arc<dyn ComplexToReal<Self>>;
    /// The power of two that is at most the absolute value; 1 for 0 and the smallest and largest numbers, which products and
    /// quotients with it must not lose.
    fn near_power_of_two(self) -> Self;
}

/// Implements [`Precision`] for a type by the field of [`FftPlans`] that keeps its plans.
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
                // The sign and the significand are left out.
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
    /// What `complex` made, by length and whether it is the inverse: it thinks anew, and allocates, for each question.
    complex_plans: HashMap<(usize, bool), Arc<dyn Fft<T>>>,
    real: RealFftPlanner<T>,
}

impl<T: FftNum> Default for Planner<T> {
    fn default() -> Self {
        Self { complex: FftPlanner::new(), complex_plans: HashMap::new(), real: RealFftPlanner::new() }
    }
}
