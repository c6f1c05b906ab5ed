//! Passes on calls, loops, conditionals, and the computations of a module.

pub(crate) mod computation_deduplicator;
pub(crate) mod conditional_canonicalizer;
pub(crate) mod control_dep_remover;
pub(crate) mod despecializer;
pub(crate) mod while_loop_trip_count_annotator;

use hlo_passes::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &computation_deduplicator::INFO,
    &conditional_canonicalizer::INFO,
    &control_dep_remover::INFO,
    &despecializer::INFO,
    &while_loop_trip_count_annotator::INFO,
];
