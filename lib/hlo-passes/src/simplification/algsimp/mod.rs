//! `algsimp`: algebraic simplification, a set of local rewrites.
//!
//! Every rewrite preserves the bits of the result. Rewrites that are valid for real numbers but not for NaN,
//! infinities, signed zeros or wrapping integers are omitted. The files in `rules/` contain rules. A pattern
//! that the language of rules cannot express is a function, and the tables list them.

mod arithmetic;
mod cancel;
mod chains;
mod compare;
mod concatenate;
mod convert;
mod dot;
mod indexing;
mod iota;
mod movement;
mod progression;
mod reassociate;
mod reduce;
mod reduced;
mod shape;
mod slice;
mod start_indices;
mod top_k;
mod tuples;
mod updates;
mod windows;
mod written;

pub use convert::keeps_every_value;
pub(crate) use dot::BATCH_OF_ONE;
pub use slice::{concatenate_concatenate, slice_concatenate};

use crate::pass_info::PassInfo;
use crate::rewriting;
use crate::simplification::{reduce_window_to_reduce, tuple_simplifier};
use crate::support::rewrite::Pattern;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "algsimp",
    summary: "simplify expressions by local algebraic rewrites that keep every bit",
    example: "\
HloModule algsimp

ENTRY e {
  x = s32[4] parameter(0)
  zero = s32[] constant(0)
  zeros = s32[4] broadcast(zero), dimensions={}
  sum = s32[4] add(x, zeros)
  ROOT twice = s32[4] reverse(sum), dimensions={}
}
",
    rules: Some(&rewriting::ALGSIMP),
    patterns: TABLES,
    ..PassInfo::PLAIN
};

/// All patterns, in the order in which they are tried on an instruction, after the rules.
static TABLES: &[&[Pattern]] = &[
    arithmetic::PATTERNS,
    cancel::PATTERNS,
    compare::PATTERNS,
    reassociate::PATTERNS,
    convert::PATTERNS,
    shape::PATTERNS,
    chains::PATTERNS,
    iota::PATTERNS,
    slice::PATTERNS,
    concatenate::PATTERNS,
    movement::PATTERNS,
    indexing::PATTERNS,
    updates::PATTERNS,
    written::PATTERNS,
    start_indices::PATTERNS,
    reduce::PATTERNS,
    reduced::PATTERNS,
    windows::PATTERNS,
    reduce_window_to_reduce::WHOLE_WINDOW,
    dot::PATTERNS,
    tuples::PATTERNS,
    top_k::PATTERNS,
    tuple_simplifier::ELEMENT_OF_TUPLE,
];
