//! The list of all passes.

use crate::{PassInfo, algsimp};

/// Every pass, by name.
pub static PASSES: &[&PassInfo] = &[
    &algsimp::INFO,
    &crate::applied_computation_expander::INFO,
    &crate::batchnorm_expander::INFO,
    &crate::broadcast_canonicalizer::INFO,
    &crate::call_inliner::INFO,
    &crate::collective_permute_expander::INFO,
    &crate::constant_folding::INFO,
    &crate::cse::INFO,
    &crate::dce::INFO,
    &crate::dynamic_padder::INFO,
    &crate::flatten_call_graph::INFO,
    &crate::fusion::INFO,
    &crate::layout_normalization::INFO,
    &crate::operand_upcaster::INFO,
    &crate::ragged_dot_rewriter::INFO,
    &crate::reduce_window_rewriter::INFO,
    &crate::reshape_mover::INFO,
    &crate::rng_expander::INFO,
    &crate::scaled_dot_rewriter::INFO,
    &crate::scan_expander::INFO,
    &crate::transpose_folding::INFO,
    &crate::tuple_simplifier::INFO,
];

/// The pass of a name.
pub fn find(name: &str) -> Option<&'static PassInfo> {
    PASSES.iter().copied().find(|p| p.name == name)
}

#[cfg(test)]
mod tests {
    use super::PASSES;

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Vec<_> = PASSES.iter().map(|p| p.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(!names.contains(&"fix"), "`fix` belongs to the pipeline language");
    }
}
