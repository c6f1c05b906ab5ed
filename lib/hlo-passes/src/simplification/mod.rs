//! Passes that replace expressions by simpler or cheaper ones with the same value.

pub(crate) mod algsimp;
pub(crate) mod batch_dot_simplification;
pub(crate) mod constant_folding;
pub(crate) mod convert_mover;
pub(crate) mod convert_operand_folding;
pub(crate) mod cse;
pub(crate) mod cse_barrier_expander;
pub(crate) mod dce;
pub(crate) mod dot_decomposer;
pub(crate) mod dot_dimension_merger;
pub(crate) mod dot_dimension_normalizer;
pub(crate) mod dot_merger;
pub(crate) mod dot_strength_reduction;
pub(crate) mod dynamic_dimension_simplifier;
pub(crate) mod dynamic_index_splitter;
pub(crate) mod excess_precision;
pub(crate) mod gather_simplifier;
pub(crate) mod literal_canonicalizer;
pub(crate) mod recognize_reduce_window;
pub(crate) mod reduce_decomposer;
pub(crate) mod reduce_window_rewriter;
pub(crate) mod reduce_window_to_reduce;
pub(crate) mod reshape_mover;
pub(crate) mod scatter_simplifier;
pub(crate) mod scatter_slice_simplifier;
pub(crate) mod simplify_fp_conversions;
pub(crate) mod simplify_sorts;
pub(crate) mod slice_sinker;
pub(crate) mod transpose_folding;
pub(crate) mod tree_reduction_rewriter;
pub(crate) mod tuple_simplifier;
pub(crate) mod zero_sized_hlo_elimination;

use crate::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &algsimp::INFO,
    &batch_dot_simplification::INFO,
    &constant_folding::INFO,
    &convert_mover::INFO,
    &convert_operand_folding::INFO,
    &cse::INFO,
    &cse_barrier_expander::INFO,
    &dce::INFO,
    &dot_decomposer::INFO,
    &dot_dimension_merger::INFO,
    &dot_dimension_normalizer::INFO,
    &dot_merger::INFO,
    &dot_strength_reduction::INFO,
    &dynamic_dimension_simplifier::INFO,
    &dynamic_index_splitter::INFO,
    &excess_precision::INFO,
    &gather_simplifier::INFO,
    &literal_canonicalizer::INFO,
    &recognize_reduce_window::INFO,
    &reduce_decomposer::INFO,
    &reduce_window_rewriter::INFO,
    &reduce_window_to_reduce::INFO,
    &reshape_mover::INFO,
    &scatter_simplifier::INFO,
    &scatter_slice_simplifier::INFO,
    &simplify_fp_conversions::INFO,
    &simplify_sorts::INFO,
    &slice_sinker::INFO,
    &transpose_folding::INFO,
    &tree_reduction_rewriter::INFO,
    &tuple_simplifier::INFO,
    &zero_sized_hlo_elimination::INFO,
];
