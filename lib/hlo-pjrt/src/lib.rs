//! A plugin for JAX, and for whatever else runs its programs through the PJRT C API: the API over `hlo-client`.
//!
//! The caller loads the shared library, asks [`GetPjrtApi`] for the table of functions, and does everything through that. What the
//! table has is said in [`sys::table`], what pointers may be in [`sys`]. Objects of the caller's are those of [`client`],
//! [`device`], [`buffer`], [`executable`], [`event`] and [`fault`]; functions are in `slots`. Nothing unwinds into the caller.
//!
//! docs/jax.md says how it is used. [`python`] is another interface, for the Python module `hlo` (docs/python.md).

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
mod memories;
mod options;
pub mod partitioners;
pub mod platform;
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

/// The table of the API's functions.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const sys::table::Api {
    &raw const sys::table::API
}
