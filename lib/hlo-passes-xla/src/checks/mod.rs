//! Passes that do not change the module. They check it and stop the pipeline if they find an error.

pub(crate) mod hlo_verify;

use hlo_passes::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[&hlo_verify::INFO];
