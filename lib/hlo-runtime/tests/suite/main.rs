//! Tests the functions that compiled code calls against simple reference implementations. All tests are in
//! one binary, because each further binary would have to be linked separately.

mod common;
mod conv;
mod copies;
mod copy;
mod dot;
mod draw;
mod fft;
mod join;
mod line_pairs;
mod linear_algebra;
mod rng;
mod rounding;
mod rows;
mod small_matrices;
mod sort;
mod symbols;
mod transpose;
