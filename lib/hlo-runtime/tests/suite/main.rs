//! The functions that compiled code calls, against plainly written references. One program, as each one more is linked anew.

mod common;
mod conv;
mod copy;
mod dot;
mod fft;
mod linear_algebra;
mod rng;
mod sort;
