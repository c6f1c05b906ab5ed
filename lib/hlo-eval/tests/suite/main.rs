//! Tests of the interpreter, by family of operations. They are one program, because each additional test
//! program must be linked separately.

mod access;
mod common;
mod computations;
mod contraction;
mod data_movement;
mod devices;
mod dynamic;
mod effects;
mod elementwise;
mod fast_paths;
mod index;
mod lapack;
mod linear_algebra;
mod walk;
