//! Passes on collectives, which exchange data between devices.

pub(crate) mod all_reduce_combiner;
pub(crate) mod sharding_remover;

use crate::pass_info::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[&all_reduce_combiner::INFO, &sharding_remover::INFO];
