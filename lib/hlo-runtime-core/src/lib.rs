//! The types that compiled code, the runtime functions and the planner share: the [`Context`] with its
//! threads, error slot and transfers, the codes of element types, the [`descriptors`](DotDesc) of calls, and
//! working memory.
//!
//! The crate depends on no numerical library, so that the planner builds without one.
//!
//! # Example
//! ```
//! use hlo_runtime_core::{Context, Error};
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! let context = Context::new(2);
//! let sum = AtomicUsize::new(0);
//! context.for_each(10, |i| {
//!     sum.fetch_add(i, Ordering::Relaxed);
//! });
//! assert_eq!(sum.into_inner(), 45);
//!
//! // Several chunks may fail. The error is always that of the lowest chunk.
//! let failing = |i| if i % 4 == 3 { Err(Error(format!("chunk {i}"))) } else { Ok(()) };
//! assert_eq!(context.try_for_each(10, failing), Err(Error("chunk 3".into())));
//! ```

mod account;
mod context;
mod custom_call;
mod descriptors;
mod element;
mod error;
mod feed;
mod float_mode;
mod pool;
mod scratch;
mod transfers;

pub use context::{
    Context, CustomCalls, Function, MAX_THREADS, ParallelBody, Shared, WatchWords, default_threads,
    hlo_rt_call, hlo_rt_fail, hlo_rt_parallel_for, hlo_rt_watch,
};
pub use custom_call::hlo_rt_custom_call;
pub use descriptors::{
    CholeskyDesc, Combiner, Comparator, ConvDesc, ConvDim, CopyDesc, DotDesc, DrawDesc, Exchange, FftDesc,
    FftKind, JoinDesc, KeyKind, KeyOrder, MAX_COPY_RANK, MAX_FFT_RANK, MAX_SPATIAL, RowsDesc,
    SORT_DESC_WORDS, SORT_KEY_WORDS, SolveDesc, SortDesc, SortKey, TopKDesc,
};
pub use element::{Accumulator, ElementCode, Number, Truth, accumulator, has_product};
pub use error::Error;
pub use feed::{hlo_rt_receive, hlo_rt_transmit, hlo_rt_zero};
pub use float_mode::StandardFloats;
pub use scratch::{Filled, Scratch};
pub use transfers::Transfers;
