//! Tests the functions that compiled code calls against simple reference implementations. All tests are in
//! one binary, because each further binary would have to be linked separately.

mod common;
mod conv;
mod copy;
mod dot;
mod fft;
mod linear_algebra;
mod rng;
mod sort;
