//! Passes on calls, loops, conditionals, and the computations of a module.

pub(crate) mod call_inliner;
pub(crate) mod flatten_call_graph;

use crate::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[&call_inliner::INFO, &flatten_call_graph::INFO];
