//! Passes that replace expressions by simpler or cheaper ones with the same value.

pub(crate) mod convert_operand_folding;
pub(crate) mod cse_barrier_expander;
pub(crate) mod dot_decomposer;
pub(crate) mod dot_dimension_merger;
pub(crate) mod dot_dimension_normalizer;
pub(crate) mod dot_merger;
pub(crate) mod dynamic_dimension_simplifier;
pub(crate) mod dynamic_index_splitter;
pub(crate) mod gather_simplifier;
pub(crate) mod recognize_reduce_window;
pub(crate) mod reduce_decomposer;
pub(crate) mod scatter_simplifier;
pub(crate) mod scatter_slice_simplifier;
pub(crate) mod simplify_fp_conversions;
pub(crate) mod slice_sinker;
pub(crate) mod tree_reduction_rewriter;

use hlo_passes::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &convert_operand_folding::INFO,
    &cse_barrier_expander::INFO,
    &dot_decomposer::INFO,
    &dot_dimension_merger::INFO,
    &dot_dimension_normalizer::INFO,
    &dot_merger::INFO,
    &dynamic_dimension_simplifier::INFO,
    &dynamic_index_splitter::INFO,
    &gather_simplifier::INFO,
    &recognize_reduce_window::INFO,
    &reduce_decomposer::INFO,
    &scatter_simplifier::INFO,
    &scatter_slice_simplifier::INFO,
    &simplify_fp_conversions::INFO,
    &slice_sinker::INFO,
    &tree_reduction_rewriter::INFO,
];
