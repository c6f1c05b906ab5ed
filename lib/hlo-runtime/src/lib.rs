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

mod account;
mod context;
mod conv;
mod copies;
mod copy;
mod custom_call;
mod dot;
mod draw;
mod element;
mod feed;
mod fft;
mod gemm;
mod join;
pub mod linalg;
mod pool;
mod rng;
mod rows;
mod scratch;
mod sort;
mod symbols;

pub use context::{
    Context, Error, Function, MAX_THREADS, ParallelBody, Shared, WatchWords, default_threads, hlo_rt_call,
    hlo_rt_context_create, hlo_rt_context_destroy, hlo_rt_context_error, hlo_rt_fail, hlo_rt_parallel_for,
    hlo_rt_watch,
};
pub use conv::{ConvDesc, ConvDim, MAX_SPATIAL, hlo_rt_conv};
pub use copies::{CopyEntry, CopyPlace, hlo_rt_addresses, hlo_rt_copies};
pub use copy::{CopyDesc, MAX_COPY_RANK, hlo_rt_copy_strided};
pub use custom_call::{CustomCalls, hlo_rt_custom_call};
pub use dot::{DotDesc, hlo_rt_dot};
pub use draw::{DrawDesc, hlo_rt_rng, hlo_rt_rng_state};
pub use element::{ElementCode, Number, has_product};
pub use feed::{Transfers, hlo_rt_receive, hlo_rt_transmit, hlo_rt_zero};
pub use fft::{FftDesc, FftKind, MAX_FFT_RANK, hlo_rt_fft};
pub use join::{JoinDesc, hlo_rt_join};
pub use linalg::{CholeskyDesc, SolveDesc, hlo_rt_cholesky, hlo_rt_triangular_solve};
pub use rng::{hlo_rt_rng_philox, hlo_rt_rng_three_fry};
pub use rows::{RowsDesc, hlo_rt_move_rows};
pub use sort::{
    Comparator, KeyKind, KeyOrder, SORT_DESC_WORDS, SORT_KEY_WORDS, SortDesc, SortKey, TopKDesc, hlo_rt_sort,
    hlo_rt_sort_keys, hlo_rt_sort_partial_keys, hlo_rt_top_k,
};
pub use symbols::{ArgType, Symbol, symbols};
