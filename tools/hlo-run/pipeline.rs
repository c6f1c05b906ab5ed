//! The passes before code generation.

use hlo_ir::Module;
use hlo_ir::diag::Source;
use hlo_passes::{CPU_PIPELINE, Pipeline};
use hlo_tools_common::Failure;

/// Runs `passes`, or the compiler's own pipeline, on a copy of the module.
pub fn run(module: &Module, source: &Source, passes: Option<&str>) -> Result<Module, Failure> {
    let text = passes.unwrap_or(CPU_PIPELINE);
    let pipeline = Pipeline::parse(text).map_err(|d| Failure::argument("--passes", text, vec![d]))?;
    let mut module = module.clone();
    pipeline.run(&mut module, &mut ()).map_err(|diags| Failure::diags(source, diags))?;
    Ok(module)
}
