//! Passes that make the program of one device out of one for all devices, by the shardings of its values.

mod convolutions;
mod factors;
mod reaches;
mod reshapes;
pub(crate) mod sharding_propagation;
pub(crate) mod spmd_partitioning;
mod tilings;

use crate::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[&sharding_propagation::INFO, &spmd_partitioning::INFO];
