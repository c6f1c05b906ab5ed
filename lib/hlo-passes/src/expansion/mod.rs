//! Passes that replace operations, types and forms that code generation does not support by those that it
//! does.

pub(crate) mod accumulation_upcaster;
pub(crate) mod applied_computation_expander;
pub(crate) mod batched_gather_scatter_normalizer;
pub(crate) mod batchnorm_expander;
pub(crate) mod bitcast_dtypes_expander;
pub(crate) mod broadcast_canonicalizer;
pub(crate) mod cholesky_expander;
pub(crate) mod collective_permute_expander;
pub(crate) mod comparison_expander;
pub(crate) mod contraction_default;
pub(crate) mod contraction_raising;
pub(crate) mod convolution_4d_expander;
pub(crate) mod convolution_group_converter;
pub(crate) mod convolution_pred_expander;
pub(crate) mod dynamic_padder;
pub(crate) mod eigh_expander;
pub(crate) mod elementary_function_expander;
pub(crate) mod gather_expander;
pub(crate) mod logistic_expander;
pub(crate) mod operand_upcaster;
pub(crate) mod qr_expander;
pub(crate) mod ragged_dot_rewriter;
pub(crate) mod reshape_decomposer;
pub(crate) mod result_caster;
pub(crate) mod rng_bit_generator_expander;
pub(crate) mod rng_expander;
pub(crate) mod scaled_dot_rewriter;
pub(crate) mod scan_expander;
pub(crate) mod scatter_expander;
pub(crate) mod select_and_scatter_expander;
pub(crate) mod stable_sort_expander;
pub(crate) mod stochastic_convert_decomposer;
pub(crate) mod topk_decomposer;
pub(crate) mod triangular_solve_expander;

use crate::pass_info::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &accumulation_upcaster::INFO,
    &applied_computation_expander::INFO,
    &batched_gather_scatter_normalizer::INFO,
    &batchnorm_expander::INFO,
    &bitcast_dtypes_expander::INFO,
    &broadcast_canonicalizer::INFO,
    &cholesky_expander::INFO,
    &collective_permute_expander::INFO,
    &comparison_expander::INFO,
    &contraction_default::INFO,
    &contraction_raising::INFO,
    &convolution_group_converter::INFO,
    &convolution_pred_expander::INFO,
    &convolution_4d_expander::INFO,
    &dynamic_padder::INFO,
    &eigh_expander::INFO,
    &elementary_function_expander::INFO,
    &gather_expander::INFO,
    &logistic_expander::INFO,
    &operand_upcaster::INFO,
    &qr_expander::INFO,
    &ragged_dot_rewriter::INFO,
    &reshape_decomposer::INFO,
    &result_caster::INFO,
    &rng_bit_generator_expander::INFO,
    &rng_expander::INFO,
    &scaled_dot_rewriter::INFO,
    &scan_expander::INFO,
    &scatter_expander::INFO,
    &select_and_scatter_expander::INFO,
    &stable_sort_expander::INFO,
    &stochastic_convert_decomposer::INFO,
    &topk_decomposer::INFO,
    &triangular_solve_expander::INFO,
];
