//! Compiled code against expectations, as the callers of the crate see it. One program, as each one more is linked anew.

mod effects;
mod kernels;
mod long;
mod programs;
mod types;
