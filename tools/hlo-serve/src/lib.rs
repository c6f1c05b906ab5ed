//! A server for programs in HLO: it compiles and runs them for its clients. `hlo-serve` is its command line; its clients are
//! `hlo_remote::RemoteClient`, and whoever speaks the protocol of `lib/hlo-remote/proto`.
//!
//! Calls come to `service`. A session has what a client holds, an account says how much memory that takes, programs are in a
//! cache that all share, and runs and compilations wait in fair queues for a thread.

mod account;
mod allocator;
mod budget;
mod cache;
mod compile;
mod config;
mod connection;
mod counters;
mod listen;
mod meter;
mod queue;
mod run;
mod server;
mod service;
mod session;
mod shared;
mod statistics;
mod transfer;

pub use config::{Config, Limits, ServerTls};
pub use server::{Server, Stop};
pub use statistics::{json, table};
