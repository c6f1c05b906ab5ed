//! Passes that turn a program for all devices into the program of one device, according to shardings.

mod channels;
mod convolutions;
mod custom_partitioning;
pub(crate) mod expand_unreduced;
pub(crate) mod factors;
mod operation_factors;
pub(crate) mod reach;
mod reaches;
mod reshapes;
pub(crate) mod sharding_propagation;
pub(crate) mod sharding_rule;
pub(crate) mod spmd_partitioning;
mod tilings;

use crate::pass_info::PassInfo;
pub use custom_partitioning::{
    CustomPartition, CustomPartitioner, Partitioned, Placed, expand_custom_partitions, has_custom_partitions,
};

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] =
    &[&expand_unreduced::INFO, &sharding_propagation::INFO, &spmd_partitioning::INFO];
