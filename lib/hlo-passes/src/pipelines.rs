//! The named pipelines. A name can be used wherever a pass can, and runs the passes of the pipeline.
//!
//! This list alone defines which passes run: `hlo-run` compiles the result of `cpu`, and `docs/passes.md`
//! lists the pipelines. Add a new pass to the text of the pipeline in which it runs.

use hlo_ir::suggest::equal_ignoring_spelling;

/// A named pipeline.
#[derive(Debug)]
pub struct PipelineInfo {
    /// The name in pipelines.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The passes, in the pipeline language.
    pub text: &'static str,
}

/// The passes that code generation requires. They replace operations that code generation does not support.
/// They run before code generation, whichever other passes ran.
pub const LOWERING: &str = "lowering";

/// The pipeline that prepares a module for code generation. It divides long windows, inlines calls, gives
/// every computation a single caller, makes layouts row-major, simplifies as far as possible, and fuses
/// loops.
pub const CPU_PIPELINE: &str = "cpu";

/// The named pipelines, ordered by name.
pub static PIPELINES: &[PipelineInfo] = &[
    PipelineInfo {
        name: CPU_PIPELINE,
        summary: "the passes that hlo-run runs before code generation",
        text: "cpu-pre-layout,
               layout-normalization,
               tuple-simplifier, dce,
               simplification,
               broadcast_canonicalizer, transpose-folding,
               fix{limit=4}(algsimp, cse, dce),
               fusion, dce,
               literal-canonicalizer{min-size-bytes=1024}",
    },
    PipelineInfo {
        name: "cpu-pre-layout",
        summary: "the part of `cpu` before layout assignment",
        text: "# Random numbers depend on all instructions that draw them, even unused ones. Expand before removing any.
               rng_expander,
               # Fusions are only hints. `fusion` decides again, and products and sorts get their own kernels.
               defuser{custom=true},
               # The operations that replace contractions have their own expansions and kernels.
               contraction-raising,
               # `dce` removes the computations of inlined maps, so that later passes skip them.
               map-inline, dce,
               lowering,
               zero_sized_hlo_elimination, conditional-to-select,
               batch-dot-simplification, dot-strength-reduction, reduce-window-rewriter{few-lines=true},
               call-inliner, flatten-call-graph{max-growth=4,applied=false}",
    },
    PipelineInfo {
        name: "expand-all",
        summary: "passes that expand every operation that consists of simpler operations",
        text: "lowering,
               batched_gather_scatter_normalizer,
               comparison-expander, logistic-expander, stochastic_convert_decomposer, bitcast_dtypes_expander,
               rng-bit-generator-expander,
               # These passes produce sorts, scatters and loops.
               topk-decomposer, select_and_scatter_expander,
               cholesky_expander, eigh_expander, qr_expander, triangular_solve_expander,
               convolution-group-converter, convolution_4d_expander, convolution-pred-expander,
               stable-sort-expander,
               gather_expander, scatter_expander,
               result_caster, operand_upcaster,
               reduce-window-rewriter, reshape-decomposer, broadcast_canonicalizer",
    },
    PipelineInfo {
        name: LOWERING,
        summary: "the passes that code generation requires",
        text: "collective_permute_expander,
               rng_expander,
               # The module is partitioned already. The remaining sharding calls only hide operands from other passes.
               sharding-remover,
               # After this pass, shapes no longer tell which arrays are smaller than declared. The expanders
               # therefore run later, and this pass calls them for the dynamic arrays that they expand.
               dynamic_padder,
               scan_expander,
               batchnorm_expander,
               accumulation_upcaster,
               applied_computation_expander,
               ragged-dot-rewriter,
               scaled-dot-rewriter,
               contraction-default,
               operand_upcaster{products=false}",
    },
    PipelineInfo {
        name: "simplification",
        summary: "passes that simplify expressions until nothing changes",
        text: "fix{limit=8}(algsimp, simplify-sorts, tuple-simplifier,
                            while-loop-constant-sinking, while-loop-invariant-code-motion, simplify-while-loops,
                            simplify-conditional,
                            reshape-mover, constant_folding, cse, dce)",
    },
];

/// Returns the pipeline with a name.
pub fn find_pipeline(name: &str) -> Option<&'static PipelineInfo> {
    PIPELINES.iter().find(|p| p.name == name)
}

/// Returns the pipeline with a name, ignoring case and treating `-` and `_` as equal.
pub(crate) fn find_pipeline_ignoring_case(name: &str) -> Option<&'static PipelineInfo> {
    PIPELINES.iter().find(|p| equal_ignoring_spelling(p.name, name))
}
