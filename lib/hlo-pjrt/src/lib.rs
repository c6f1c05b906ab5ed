//! A PJRT plugin for JAX and other programs that use the PJRT C API. It implements the API on top of
//! `hlo-client`.
//!
//! The caller loads the shared library, gets the table of functions from [`GetPjrtApi`], and uses only that
//! table. [`sys::table`] contains the table, and [`sys`] the rules for pointers. The caller's objects are in
//! [`client`], [`device`], [`buffer`], [`executable`], [`event`] and [`fault`]. The functions are in `slots`.
//! Panics do not unwind into the caller.
//!
//! docs/jax.md explains how to use the plugin. [`python`] is a separate interface for the Python module `hlo`
//! (docs/python.md).

pub mod buffer;
pub mod callbacks;
pub mod client;
mod compile;
pub mod device;
mod element;
pub mod engines;
mod estimate;
pub mod event;
pub mod executable;
mod execute;
pub mod fault;
pub mod ffi;
mod in_order;
mod inspect;
pub mod layouts;
mod leaf;
mod memories;
mod options;
mod order;
pub mod partitioners;
pub mod platform;
mod policy;
pub mod pool;
pub mod program;
pub mod promise;
pub mod python;
mod shardings;
mod slots;
pub mod source;
mod strided;
pub mod sys;
mod task;
pub mod topology;
mod user_data;

/// Returns the table of the API's functions.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const sys::table::Api {
    &raw const sys::table::API
}

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::element::{element_type, number};
    pub use crate::estimate::{compilation, interpreted_run};
    pub use crate::in_order::InOrder;
    pub use crate::strided::Strided;
    pub use crate::task::{Task, TaskReference};
}
