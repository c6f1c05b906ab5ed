//! Fast paths: the same results as the definitions beside this folder, to the bit, by more elements at a time.
//!
//! Each is used where its operation's file calls it, unless [`crate::Options::definitions_only`] is set;
//! `tests/suite/fast_paths.rs` compares both. A function that gives a `bool` says whether it applied.

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
pub(super) mod walk;
mod wide_lanes;

/// How many result elements go through a program at a time.
const LANES: usize = 256;
