//! `algsimp`: algebraic simplification, a set of local rewrites.
//!
//! Every rewrite keeps the bits of the result: what holds for real numbers but not for NaN, infinities, signed
//! zeros or wrapping integers is not done. One function is one pattern; the tables list them.

mod arithmetic;
mod convert;
mod dot;
mod indexing;
mod logic;
mod reduce;
mod shape;
mod slice;

use crate::PassInfo;
use crate::simplification::tuple_simplifier;
use crate::support::rewrite::Pattern;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "algsimp",
    summary: "algebraic simplification by local rewrites that keep every bit",
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
    patterns: TABLES,
    ..PassInfo::PLAIN
};

/// Every pattern, in the order in which they are tried on an instruction.
static TABLES: &[&[Pattern]] = &[
    arithmetic::PATTERNS,
    logic::PATTERNS,
    convert::PATTERNS,
    shape::PATTERNS,
    slice::PATTERNS,
    indexing::PATTERNS,
    reduce::PATTERNS,
    dot::PATTERNS,
    tuple_simplifier::ELEMENT_OF_TUPLE,
];
