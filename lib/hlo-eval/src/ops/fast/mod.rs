//! Fast paths: the same results as the definitions in the parent folder, to the bit, but computed for many
//! elements at a time.
//!
//! The file of an operation calls its fast path unless [`crate::Options::definitions_only`] is set. The tests
//! in `tests/suite/fast_paths` compare the two. If a function returns a `bool`, it says whether the fast path
//! applied.

pub(super) mod convolution;
pub(super) mod dot;
mod fold;
pub(super) mod gather;
pub(super) mod iota;
mod lanes;
pub(super) mod map;
pub(super) mod pad;
pub(super) mod reduce;
pub(super) mod reduce_window;
pub(super) mod scalar_while;
pub(crate) mod walk;
mod wide_lanes;

/// Number of result elements that pass through a program at a time.
const LANES: usize = 256;
