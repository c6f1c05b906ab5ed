//! Passes on collectives, which exchange data between devices.

pub(crate) mod accumulation;
pub(crate) mod all_gather_combiner;
pub(crate) mod all_gather_cse;
pub(crate) mod all_gather_remove_degenerate_dims;
pub(crate) mod all_reduce_contiguous;
pub(crate) mod all_reduce_folder;
pub(crate) mod all_reduce_simplifier;
pub(crate) mod all_to_all_decomposer;
pub(crate) mod ar_crs_combiner;
pub(crate) mod async_collective_creator;
pub(crate) mod collective_permute_cse;
pub(crate) mod collectives_schedule_linearizer;
pub(crate) mod convert_async_collectives_to_sync;
pub(crate) mod reduce_scatter_reassociate;
pub(crate) mod reorder_convert_reduce_add;
pub(crate) mod reorder_reduce_transpose;
mod replication;
pub(crate) mod sub_byte_collective_normalization;

use hlo_passes::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &all_gather_combiner::INFO,
    &all_gather_cse::INFO,
    &all_gather_remove_degenerate_dims::INFO,
    &all_reduce_contiguous::INFO,
    &all_reduce_folder::INFO,
    &all_reduce_simplifier::INFO,
    &all_to_all_decomposer::INFO,
    &ar_crs_combiner::INFO,
    &async_collective_creator::INFO,
    &collective_permute_cse::INFO,
    &collectives_schedule_linearizer::INFO,
    &convert_async_collectives_to_sync::INFO,
    &reduce_scatter_reassociate::INFO,
    &reorder_convert_reduce_add::INFO,
    &reorder_reduce_transpose::INFO,
    &sub_byte_collective_normalization::INFO,
];
