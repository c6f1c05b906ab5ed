//! HLO to MLIR to machine code.
//!
//! ```text
//! Module → plan (expand, schedule, buffers) → kernels and the host function in MLIR → object files → Executable
//! ```

pub mod buffers;
pub mod builder;
pub mod compile;
pub mod elem;
pub mod executable;
pub mod host;
pub mod jit;
pub mod kernel_table;
pub mod kernels;
pub mod math;
pub mod ops;
pub mod plan;
pub mod schedule;
mod transfers;

pub use compile::{CompileOptions, Stage, compile, emit};
pub use executable::{Executable, RunError, Timings};
