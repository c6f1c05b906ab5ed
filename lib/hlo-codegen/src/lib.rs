//! HLO to MLIR to machine code.
//!
//! ```text
//! Module → hlo_plan::Plan → kernels and the host function in MLIR → object files → Executable
//! ```

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
mod transfers;

pub use builder::SourceFile;
pub use compile::{CompileOptions, Stage, compile, emit};
pub use executable::{Executable, RunError, Timings};
