//! Passes that make an expression another one, simpler or cheaper, of the same value.

pub(crate) mod algsimp;
pub(crate) mod constant_folding;
pub(crate) mod cse;
pub(crate) mod dce;
pub(crate) mod reduce_window_rewriter;
pub(crate) mod reshape_mover;
pub(crate) mod transpose_folding;
pub(crate) mod tuple_simplifier;

use crate::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &algsimp::INFO,
    &constant_folding::INFO,
    &cse::INFO,
    &dce::INFO,
    &reduce_window_rewriter::INFO,
    &reshape_mover::INFO,
    &transpose_folding::INFO,
    &tuple_simplifier::INFO,
];
