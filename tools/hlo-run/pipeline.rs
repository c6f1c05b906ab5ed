//! The passes before code generation.

use hlo_ir::Module;
use hlo_ir::diag::Source;
use hlo_passes::{CPU_PIPELINE, LOWERING, Pipeline};
use hlo_tools_common::Failure;

/// Runs `passes`, or the compiler's own pipeline, on a copy of the module.
pub fn run(module: &Module, source: &Source, passes: Option<&str>) -> Result<Module, Failure> {
    let mut module = module.clone();
    run_on(&mut module, source, passes.unwrap_or(CPU_PIPELINE))?;
    Ok(module)
}

/// Runs the passes that code generation needs, whatever else was run.
pub fn lower(module: &mut Module, source: &Source) -> Result<(), Failure> {
    run_on(module, source, LOWERING)
}

fn run_on(module: &mut Module, source: &Source, text: &str) -> Result<(), Failure> {
    let pipeline = Pipeline::parse(text).map_err(|d| Failure::argument("--passes", text, vec![d]))?;
    pipeline.run(module, &mut ()).map_err(|diags| Failure::diags(source, diags))?;
    Ok(())
}
