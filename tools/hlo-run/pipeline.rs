//! The passes before code generation.

use hlo_ir::Module;
use hlo_ir::diag::Source;
use hlo_passes::{CPU_PIPELINE, LOWERING, Pipeline};
use hlo_tools_common::{Failure, Reporter, read_pipeline};

/// Runs `passes`, or the compiler's own pipeline, on a copy of the module.
pub fn run(
    module: &Module,
    source: &Source,
    passes: Option<&str>,
    reporter: Reporter,
) -> Result<Module, Failure> {
    let pipeline = read_pipeline(passes.unwrap_or(CPU_PIPELINE), reporter)?;
    let mut module = module.clone();
    run_on(&mut module, source, &pipeline)?;
    Ok(module)
}

/// Runs the passes that code generation needs, whatever else was run.
pub fn lower(module: &mut Module, source: &Source) -> Result<(), Failure> {
    let pipeline = Pipeline::parse(LOWERING).map_err(|d| Failure::argument("--passes", LOWERING, vec![d]))?;
    run_on(module, source, &pipeline)
}

fn run_on(module: &mut Module, source: &Source, pipeline: &Pipeline) -> Result<(), Failure> {
    pipeline.run(module, &mut ()).map_err(|diags| Failure::diags(source, diags))?;
    Ok(())
}
