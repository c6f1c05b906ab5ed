//! The execution layer: a Rust program compiles HLO programs once and runs them many times, on arrays that
//! stay on the device.
//!
//! A [`Client`] compiles modules into [`Executable`]s, by the passes and one of two engines: compiled code or
//! the interpreter. Executables take and return [`Buffer`]s, arrays in the layouts that the program requires.
//!
//! # Example
//! ```
//! use hlo_client::{Client, CompileOptions};
//! use hlo_ir::{ElementType, Literal, Shape};
//!
//! let client = Client::local();
//! let program = client.compile_text("HloModule axpy
//! ENTRY main {
//!   a = f32[] parameter(0)
//!   x = f32[3] parameter(1)
//!   y = f32[3] parameter(2)
//!   b = f32[3] broadcast(a), dimensions={}
//!   p = f32[3] multiply(b, x)
//!   ROOT s = f32[3] add(p, y)
//! }", &CompileOptions::default())?;
//! let vector = |values: &[f32]| Literal::from_elements(Shape::array(ElementType::F32, [3]), values);
//! let result = program.run(&[
//!     Literal::scalar(ElementType::F32, 2f32),
//!     vector(&[1.0, 2.0, 3.0]),
//!     vector(&[0.5, 0.5, 0.5]),
//! ])?;
//! assert_eq!(result.elements::<f32>(), [2.5, 4.5, 6.5]);
//! # Ok::<(), hlo_client::Error>(())
//! ```

/// Tests the examples of `docs/library.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;

mod boundary;
mod buffer;
mod cache;
mod client;
mod custom_calls;
mod device;
mod devices;
mod donation;
mod executable;
mod execution;
mod local;
mod options;
mod partition;
mod passes;
mod polymorphic;
mod queue;
#[cfg(feature = "remote")]
mod remote;
mod time_limit;
mod waits;

pub use boundary::padded_inputs;
pub use buffer::Buffer;
pub use cache::CacheStatistics;
pub use client::{Client, ClientOptions};
pub use device::Device;
pub use devices::DeviceRunOptions;
pub use donation::Argument;
pub use executable::{Arguments, Executable, Results};
pub use execution::{AsyncDeviceRunOptions, AsyncRunOptions, Execution};
pub use hlo_communicator::{InProcess, World, run_data};
pub use hlo_ir::budget::Budget;
pub use hlo_ir::program::{CompileOptions, Engine, Error, Passes, Refusal, RunOptions};
pub use hlo_passes::{CustomPartition, CustomPartitioner, Partitioned, Placed};
#[cfg(feature = "remote")]
pub use hlo_remote::{Address, ConnectOptions, Tls};
pub use hlo_runtime_core::{MAX_THREADS, StandardFloats};
pub use options::ENGINES;
pub use partition::{Inspected, Partition, partition, partition_with};
pub use passes::{Prepared, lower, prepare};
pub use polymorphic::PolymorphicExecutable;
pub use waits::{Wait, WaitEvent, Waits};

/// Internals that the tests of this crate call.
#[cfg(feature = "codegen")]
#[doc(hidden)]
pub mod internals {
    pub use crate::cache::folder::{own_suffix, packed, unpacked};
}
