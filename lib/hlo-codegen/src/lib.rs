//! Code generation: compiles HLO to MLIR and to machine code.
//!
//! ```text
//! Module → hlo_plan::Plan → hlo_kernel::KernelTable → kernels and the host function in MLIR → object files → Executable
//! ```

pub mod aot;
pub mod builder;
mod code_cache;
mod collectives;
mod compile;
mod devices;
mod elem;
mod executable;
mod host;
pub mod jit;
mod kernel_functions;
mod kernels;
mod math;
mod ops;
mod transfers;

pub use builder::SourceFile;
pub use code_cache::{CodeCache, CodeKey};
pub use compile::{CompileOptions, Stage, compile, emit, emit_for};
pub use devices::DeviceRun;
pub use executable::{Executable, Input, RunError, Timings};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::aot::link::object_of_text;
    pub use crate::aot::names::identifiers;
    pub use crate::aot::prune::prune;
    pub use crate::elem::{Elem, load, store};
    pub use crate::kernels::emit_kernel;
    pub use crate::math::narrow::Format;
    pub use crate::ops::Unsupported;
    pub use crate::ops::convert::bitcast_convert;
    pub use crate::ops::elementwise::emit as emit_elementwise;
    pub use crate::ops::reducer::emit_reducer_op;
}
