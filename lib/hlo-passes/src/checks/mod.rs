//! Passes that change nothing: they look at the module, and stop the pipeline at what is wrong.

pub(crate) mod hlo_verify;

use crate::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[&hlo_verify::INFO];
