//! Passes that replace expressions by simpler or cheaper ones with the same value.

pub(crate) mod algsimp;
pub(crate) mod batch_dot_simplification;
pub(crate) mod constant_folding;
pub(crate) mod convert_mover;
pub(crate) mod cse;
pub(crate) mod dce;
pub(crate) mod dot_strength_reduction;
pub(crate) mod excess_precision;
pub(crate) mod literal_canonicalizer;
pub(crate) mod reduce_window_rewriter;
pub(crate) mod reduce_window_to_reduce;
pub(crate) mod reshape_mover;
pub(crate) mod simplify_sorts;
pub(crate) mod transpose_folding;
pub(crate) mod tuple_simplifier;
pub(crate) mod zero_sized_hlo_elimination;

use crate::pass_info::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &algsimp::INFO,
    &batch_dot_simplification::INFO,
    &constant_folding::INFO,
    &convert_mover::INFO,
    &cse::INFO,
    &dce::INFO,
    &dot_strength_reduction::INFO,
    &excess_precision::INFO,
    &literal_canonicalizer::INFO,
    &reduce_window_rewriter::INFO,
    &reduce_window_to_reduce::INFO,
    &reshape_mover::INFO,
    &simplify_sorts::INFO,
    &transpose_folding::INFO,
    &tuple_simplifier::INFO,
    &zero_sized_hlo_elimination::INFO,
];
