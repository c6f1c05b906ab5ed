//! Mathematical functions as straight-line code that LLVM vectorizes: no calls, no branches, no tables.
//!
//! The functions map `f32` or `f64` values ([`F`]) to values of the same type. docs/numerics.md lists their
//! accuracy.

pub mod erf;
pub mod exp;
pub mod log;
pub mod narrow;
mod payne_hanek;
pub mod power;
pub mod trig;
pub mod value;

pub use value::{F, I, P};
