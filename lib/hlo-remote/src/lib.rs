//! The protocol of `hlo-serve` and its client, which runs HLO programs on a server.
//!
//! A [`RemoteClient`] is a session with a server. It compiles modules into [`RemoteExecutable`]s, which take
//! and return [`RemoteBuffer`]s: arrays on the server. The server frees an array when the last reference in
//! this process is dropped, or when the session ends for any reason. All calls block. They may come from
//! several threads, and from within a `tokio` runtime.
//!
//! # Example
//! ```no_run
//! use hlo_ir::{ElementType, Literal};
//! use hlo_remote::{CompileOptions, RemoteClient, RunOptions};
//!
//! let client = RemoteClient::connect("unix:/run/hlo.sock")?;
//! let program = client.compile_text(
//!     "HloModule twice ENTRY e { x = f32[] parameter(0) ROOT y = f32[] add(x, x) }",
//!     &CompileOptions::default(),
//! )?;
//! let x = client.buffer_from_literal(&Literal::scalar(ElementType::F32, 2f32), &program.parameters()[0])?;
//! let y = program.execute(&[&x], RunOptions::default())?;
//! assert_eq!(y[0].to_literal()?.elements::<f32>(), [4.0]);
//! # Ok::<(), hlo_remote::Error>(())
//! ```

mod address;
mod buffer;
mod client;
mod connect;
mod error;
mod executable;
pub mod proto;
mod run;
mod runtime;
mod session;
pub mod wire;

pub use address::Address;
pub use buffer::RemoteBuffer;
pub use client::{RemoteClient, RemoteDevice, statistics};
pub use connect::{ConnectOptions, Tls};
pub use executable::RemoteExecutable;
pub use hlo_ir::program::{CompileOptions, Engine, Error, Passes, Refusal, RunOptions};
pub use run::Run;
