//! The functions that compiled HLO code calls at run time: threads, matrix products, convolutions, random
//! bits, sorts, large copies and linear algebra. They are `extern "C"` functions over raw buffers.
//!
//! The crate knows neither the IR nor MLIR, so that ahead-of-time objects can link it. All functions follow
//! three rules:
//!
//! - **Reproducible bits.** The work is split by shapes only, never by the number of threads, and partial
//!   results combine in a fixed order.
//! - **Nothing unwinds into compiled code.** A function that can fail returns 0 or an error code, and records
//!   a message in the [`Context`].
//! - **No steady-state allocation.** Working memory comes from per-thread buffers that are kept between
//!   calls. Exchanges between devices are an exception.
//!
//! [`symbols`] lists every exported function with its address and its signature.
//!
//! # Example
//! The product of a row and a column, called as compiled code does:
//!
//! ```
//! use hlo_runtime::{Context, DotDesc, ElementCode, hlo_rt_dot};
//!
//! let (row, column, mut product) = ([1.0f32, 2.0, 3.0], [4.0f32, 5.0, 6.0], [0.0f32]);
//! let f32 = ElementCode::F32 as i64;
//! let desc = DotDesc {
//!     lhs_type: f32, rhs_type: f32, out_type: f32,
//!     batch: 1, m: 1, n: 1, k: 3,
//!     lhs_k_stride: 1, rhs_k_stride: 1,
//!     ..DotDesc::default()
//! };
//! let context = Context::new(1);
//! // SAFETY: both operands have 3 elements, the result has one, and they do not overlap.
//! let status = unsafe {
//!     hlo_rt_dot(&context, &desc, row.as_ptr().cast(), column.as_ptr().cast(), product.as_mut_ptr().cast())
//! };
//! assert_eq!((status, context.take_error()), (0, None));
//! assert_eq!(product, [1.0 * 4.0 + 2.0 * 5.0 + 3.0 * 6.0]);
//! ```

mod collective;
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

pub use collective::{
    hlo_rt_all_reduce, hlo_rt_device_id, hlo_rt_exchange, hlo_rt_exchange_rows, hlo_rt_reduce_scatter,
};
pub use conv::hlo_rt_conv;
pub use copies::{CopyEntry, CopyPlace, hlo_rt_addresses, hlo_rt_copies};
pub use copy::hlo_rt_copy_strided;
pub use dot::{hlo_rt_dot, hlo_rt_dot_narrow};
pub use draw::{hlo_rt_rng, hlo_rt_rng_state};
pub use fft::hlo_rt_fft;
pub use hlo_runtime_core::*;
pub use join::hlo_rt_join;
pub use linalg::{hlo_rt_cholesky, hlo_rt_triangular_solve};
pub use rng::{hlo_rt_rng_philox, hlo_rt_rng_three_fry};
pub use rows::hlo_rt_move_rows;
pub use sort::{hlo_rt_sort, hlo_rt_sort_keys, hlo_rt_sort_partial_keys, hlo_rt_top_k};
pub use symbols::{ArgType, Symbol, symbols};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::conv::lines::round;
    pub use crate::draw::uniform;
    pub use crate::fft::pairs::Pairs;
    pub use crate::gemm::transpose_words;
}
