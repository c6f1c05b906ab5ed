//! Passes that put what code generation knows in place of operations, types and forms that it does not.

pub(crate) mod applied_computation_expander;
pub(crate) mod batchnorm_expander;
pub(crate) mod broadcast_canonicalizer;
pub(crate) mod collective_permute_expander;
pub(crate) mod dynamic_padder;
pub(crate) mod operand_upcaster;
pub(crate) mod ragged_dot_rewriter;
pub(crate) mod rng_expander;
pub(crate) mod scaled_dot_rewriter;
pub(crate) mod scan_expander;

use crate::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &applied_computation_expander::INFO,
    &batchnorm_expander::INFO,
    &broadcast_canonicalizer::INFO,
    &collective_permute_expander::INFO,
    &dynamic_padder::INFO,
    &operand_upcaster::INFO,
    &ragged_dot_rewriter::INFO,
    &rng_expander::INFO,
    &scaled_dot_rewriter::INFO,
    &scan_expander::INFO,
];
