//! Runs passes before execution.

use crate::args::Args;
use crate::engine::Engine;
use hlo_client::Passes;
use hlo_ir::Module;
use hlo_ir::diag::Source;
use hlo_passes::{CPU_PIPELINE, Pipeline};
use hlo_tools_common::{Failure, Reporter, read_pipeline};

/// Runs the passes of the arguments, or the default pipeline, on a copy of the module, and for compiled code
/// the passes that code generation requires. Prints the warnings of passes unless `--quiet` is set.
pub fn run(
    module: &Module,
    source: &Source,
    args: &Args,
    reporter: Reporter,
    engine: Engine,
) -> Result<Module, Failure> {
    let passes = match (&args.passes, engine) {
        (None, Engine::Compiled) => Passes::Default,
        (passes, _) => {
            let pipeline = read_pipeline(passes.as_deref().unwrap_or(CPU_PIPELINE), reporter)?;
            Passes::Pipeline(pipeline.to_string())
        }
    };
    let prepared = hlo_client::prepare(module, engine, &passes).map_err(|e| failure(e, source))?;
    if !args.quiet {
        reporter.warnings(source, &prepared.warnings);
    }
    Ok(prepared.module)
}

/// Runs the passes that code generation requires.
pub fn lower(module: &mut Module, source: &Source) -> Result<(), Failure> {
    hlo_client::lower(module).map_err(|e| failure(e, source))
}

/// Removes rounding between operations. Calls are inlined first, because they would prevent it.
pub fn allow_excess_precision(module: &mut Module, source: &Source) -> Result<(), Failure> {
    const PASSES: &str = "call-inliner, excess-precision, dce";
    let pipeline = Pipeline::parse(PASSES).map_err(|d| Failure::argument("--passes", PASSES, vec![d]))?;
    pipeline.run(module, &mut ()).map_err(|diags| Failure::diags(source, diags))?;
    Ok(())
}

fn failure(error: hlo_client::Error, source: &Source) -> Failure {
    match error {
        hlo_client::Error::Diags(diags) => Failure::diags(source, diags),
        other => Failure::Message(other.to_string()),
    }
}
