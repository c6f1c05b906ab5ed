//! The interpreter against expectations, by family of operations. One program, as each one more is linked anew.

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
mod linear_algebra;
