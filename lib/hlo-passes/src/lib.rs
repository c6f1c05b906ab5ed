//! HLO passes: the registry, the pipeline language, the runner, and the passes themselves.
//!
//! A pass transforms a module and keeps its meaning, to the bit where the opcode's result is defined to the bit.
//! Passes know nothing of text or of code generation.

pub mod analysis;
mod backend;
mod control_flow;
mod docs;
mod expansion;
mod pass;
mod pipeline;
mod registry;
mod rewrites;
mod run;
mod simplification;
mod support;

pub use docs::passes_markdown;
pub use pass::{Keeps, OptionInfo, OptionValue, Options, Pass, PassInfo};
pub use pipeline::{FIX_OPTIONS, Pipeline};
pub use registry::{GROUPS, Group, find, passes};
pub use rewrites::{Rewrite, Rewrites};
pub use run::{Extent, Observer, PassRun};

macro_rules! lowering {
    () => {
        "collective_permute_expander,rng_expander,dynamic_padder,scan_expander,batchnorm_expander,applied_computation_expander,ragged-dot-rewriter,scaled-dot-rewriter,operand_upcaster{products=false}"
    };
}

/// The passes that code generation needs: what it does not know is expressed by what it knows. They come before it
/// whatever else was run.
pub const LOWERING: &str = lowering!();

/// The pipeline that turns a module into what code generation takes: long windows cut, calls inlined, every computation called
/// from one place, values row-major, simplified as far as it goes, loops fused.
pub const CPU_PIPELINE: &str = concat!(
    lowering!(),
    ",reduce-window-rewriter,call-inliner,flatten-call-graph,layout-normalization,tuple-simplifier,dce,\
     fix{limit=8}(algsimp,reshape-mover,constant_folding,cse,dce),\
     broadcast_canonicalizer,transpose-folding,fix{limit=4}(algsimp,cse,dce),fusion,dce"
);
