//! Code generation: compiles HLO to MLIR and to machine code.
//!
//! ```text
//! Module → hlo_plan::Plan → kernels and the host function in MLIR → object files → Executable
//! ```

pub mod aot;
pub mod builder;
mod code_cache;
mod compile;
mod devices;
mod elem;
mod executable;
mod host;
pub mod jit;
mod kernel_table;
pub mod kernels;
mod math;
mod ops;
mod transfers;

pub use builder::SourceFile;
pub use code_cache::{CodeCache, CodeKey};
pub use compile::{CompileOptions, Stage, compile, emit, emit_for};
pub use devices::DeviceRun;
pub use executable::{Executable, Input, RunError, Timings};
