//! Tests of compiled code through the crate's public interface. They are one program, because each further
//! program would be linked separately.

mod effects;
mod kernels;
mod long_programs;
mod programs;
mod types;
