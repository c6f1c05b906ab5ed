//! Mathematics as straight-line code that LLVM vectorises: no calls, no branches, no tables.
//!
//! The functions take and give `f32` or `f64` values ([`F`]); docs/numerics.md states their accuracy.

pub mod narrow;
pub mod value;

pub use value::{F, I, P};
