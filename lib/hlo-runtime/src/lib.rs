//! What compiled HLO code calls at run time: threads, matrix products, convolutions, random bits, sorts and
//! large copies, linear algebra, as `extern "C"` functions over raw buffers.
//!
//! The crate knows neither the IR nor MLIR, so that ahead-of-time objects can link it. Three rules hold for
//! every function:
//!
//! - **The same bits.** The work is split by shapes only, never by the number of threads, and partial results
//!   combine in a fixed order.
//! - **Nothing unwinds into compiled code.** A function that can fail returns 0 or an error code and leaves a
//!   message in the [`Context`].
//! - **No steady-state allocation.** Working memory comes from per-thread buffers that are kept between calls.
//!
//! [`symbols`] lists every exported function with its address and its signature.

mod conv;
mod copies;
mod copy;
mod dot;
mod draw;
mod fft;
mod gemm;
mod join;
pub mod linalg;
mod rng;
mod rows;
mod sort;
mod symbols;

pub use conv::hlo_rt_conv;
pub use copies::{CopyEntry, CopyPlace, hlo_rt_addresses, hlo_rt_copies};
pub use copy::hlo_rt_copy_strided;
pub use dot::hlo_rt_dot;
pub use draw::{hlo_rt_rng, hlo_rt_rng_state};
pub use fft::hlo_rt_fft;
pub use hlo_runtime_core::*;
pub use join::hlo_rt_join;
pub use linalg::{hlo_rt_cholesky, hlo_rt_triangular_solve};
pub use rng::{hlo_rt_rng_philox, hlo_rt_rng_three_fry};
pub use rows::hlo_rt_move_rows;
pub use sort::{hlo_rt_sort, hlo_rt_sort_keys, hlo_rt_sort_partial_keys, hlo_rt_top_k};
pub use symbols::{ArgType, Symbol, symbols};
