//! HLO passes: the registry, the pipeline language, the runner, and the passes themselves.
//!
//! A pass transforms a module and preserves its meaning. Results stay the same bit for bit where the opcode's
//! result is defined to the bit. Passes use neither the parser nor code generation.
//!
//! # Example
//! ```
//! use hlo_passes::Pipeline;
//!
//! let mut module = hlo_parser::parse_module("HloModule m
//! ENTRY main {
//!   x = f32[4] parameter(0)
//!   zero = f32[] constant(0)
//!   zeros = f32[4] broadcast(zero), dimensions={}
//!   product = f32[4] multiply(x, x)
//!   sum = f32[4] add(x, x)
//!   again = f32[4] add(x, x)
//!   ROOT y = f32[4] subtract(sum, again)
//! }").expect("a module");
//!
//! let pipeline = Pipeline::parse("cse,fix{limit=10}(algsimp,dce)").expect("a pipeline");
//! assert_eq!(pipeline.pass_names(), ["cse", "algsimp", "dce"]);
//! // `()` is an observer that does nothing.
//! assert!(pipeline.run(&mut module, &mut ()).expect("no pass fails"));
//! let main = &module[module.entry()];
//! let names: Vec<&str> = main.instructions().iter().map(|&i| &*module[i].name).collect();
//! assert_eq!(names, ["x", "sum", "y"]);
//! ```

pub mod analysis;
mod backend;
mod bisect;
mod collectives;
mod control_flow;
mod docs;
mod expansion;
mod partitioning;
mod pass;
mod pass_info;
mod pipeline;
mod pipelines;
mod registry;
mod rewrites;
pub mod rewriting;
pub mod rules;
mod run;
mod simplification;
pub mod support;

pub use backend::layout_assignment::choose_result_layouts;
pub use bisect::{Bisection, Culprit, CulpritRewrite, bisect};
pub use docs::{pass_example, passes_markdown};
pub use partitioning::{
    CustomPartition, CustomPartitioner, Partitioned, Placed, expand_custom_partitions, has_custom_partitions,
};
pub use pass::Pass;
pub use pass_info::{OptionInfo, OptionValue, Options, PassInfo, Preservation, Schedule};
pub use pipeline::{
    FIX_OPTIONS, Pipeline, PipelineError, PipelineFile, PipelineFiles, XLA_CLASSES, pass_of_class,
};
pub use pipelines::{CPU_PIPELINE, LOWERING, PIPELINES, PipelineInfo, find_pipeline};
pub use registry::{Group, find, find_ignoring_case, groups, passes, register, register_groups};
pub use rewrites::{Rewrite, Rewrites};
pub use run::{Extent, Observer, PassRun};
pub use support::clone::inline_at;

/// Parts of passes that passes of other crates of this project use. Their interface may change at any time, as that of
/// [`support`].
pub mod parts {
    pub use crate::backend::defuser::defuse;
    pub use crate::simplification::algsimp::{concatenate_concatenate, keeps_every_value, slice_concatenate};
    pub use crate::simplification::cse::{
        Representatives, canonical_op, eliminate_common_subexpressions, equal_computations,
    };
}

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::analysis::cost::instruction::positions;
    pub use crate::backend::layout_assignment::orders::{Link, Order, canonical, same_in_memory};
    pub use crate::backend::layout_assignment::solve::{Orders, Slot};
    pub use crate::partitioning::factors::Kind;
    pub use crate::partitioning::reach::{Needed, Reach};
    pub use crate::partitioning::sharding_rule::Rule;
}
