//! Passes that prepare code generation: fusion, layouts, copies, schedules, buffers.

pub(crate) mod fusion;
pub(crate) mod layout_normalization;

use crate::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[&fusion::INFO, &layout_normalization::INFO];
