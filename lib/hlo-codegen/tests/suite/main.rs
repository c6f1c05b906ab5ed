//! Tests of the code generator: of compiled code through the crate's public interface, and of a few internals.
//! They are one program, because each further program would be linked separately.

mod compile;
mod effects;
mod jit;
mod kernels;
mod locations;
mod long_programs;
mod names;
mod ops;
mod programs;
mod prune;
mod target;
mod types;
