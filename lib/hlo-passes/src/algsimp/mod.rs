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
use crate::support::rewrite::{Pattern, apply_patterns};
use crate::tuple_simplifier::ELEMENT_OF_TUPLE;
use hlo_ir::Module;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "algsimp",
    summary: "algebraic simplification by local rewrites that keep every bit",
    options: &[],
    build: |_| Box::new(|module: &mut Module| Ok(apply_patterns(module, &patterns()))),
};

/// Every pattern, in the order in which they are tried on an instruction.
fn patterns() -> Vec<&'static Pattern> {
    let tables = [
        arithmetic::PATTERNS,
        logic::PATTERNS,
        convert::PATTERNS,
        shape::PATTERNS,
        slice::PATTERNS,
        indexing::PATTERNS,
        reduce::PATTERNS,
        dot::PATTERNS,
    ];
    tables.into_iter().flatten().chain([&ELEMENT_OF_TUPLE]).collect()
}

/// The names and one-line descriptions of the patterns, for the documentation.
pub fn pattern_summaries() -> Vec<(&'static str, &'static str)> {
    patterns().into_iter().map(|p| (p.name, p.summary)).collect()
}
