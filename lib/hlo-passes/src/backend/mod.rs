//! Passes that prepare code generation: fusion, layouts, copies, schedules, buffers.

pub(crate) mod defuser;
pub(crate) mod fusion;
pub(crate) mod layout_assignment;
pub(crate) mod layout_normalization;

use crate::pass_info::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] =
    &[&defuser::INFO, &fusion::INFO, &layout_assignment::INFO, &layout_normalization::INFO];
