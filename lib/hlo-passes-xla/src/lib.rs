//! Passes of XLA that no pipeline of this project runs. `hlo-opt` and `hlo-run --passes` have them for users who name them. Programs that only
//! compile and run modules do not need this crate.
//!
//! # Example
//! ```
//! use hlo_passes::Pipeline;
//!
//! assert!(Pipeline::parse("reduce-decomposer").is_err());
//! hlo_passes_xla::register();
//! assert!(Pipeline::parse("reduce-decomposer").is_ok());
//! ```

mod backend;
mod checks;
mod collectives;
mod control_flow;
mod expansion;
mod simplification;
mod support;

use hlo_passes::{Group, register_groups};
use std::sync::Once;

/// The groups of passes of this crate. A group with the title of a group of `hlo-passes` extends it.
static GROUPS: &[Group] = &[
    Group { title: "Simplification", passes: simplification::PASSES },
    Group { title: "Control flow", passes: control_flow::PASSES },
    Group { title: "Expansion", passes: expansion::PASSES },
    Group { title: "Fusion and below", passes: backend::PASSES },
    Group { title: "Collectives", passes: collectives::PASSES },
    Group { title: "Checks", passes: checks::PASSES },
];

/// Registers the passes of this crate, so that pipelines can use them by their names. Calls after the first do nothing.
pub fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| register_groups(GROUPS));
}

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::collectives::accumulation::converts_before;
    pub use crate::collectives::all_reduce_folder::folded;
}
