//! A server that compiles and runs HLO programs for its clients. `hlo-serve` is its command line. Clients use
//! `hlo_remote::RemoteClient`, or the protocol in `lib/hlo-remote/proto` directly.
//!
//! `service` handles calls. A session holds a client's objects, and an account counts their memory. All
//! clients share a cache of programs. Runs and compilations wait in fair queues for a thread.

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
