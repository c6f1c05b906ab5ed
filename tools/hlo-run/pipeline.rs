//! The passes before code generation.

use crate::args::Args;
use hlo_ir::Module;
use hlo_ir::diag::{Diag, Source};
use hlo_passes::{CPU_PIPELINE, LOWERING, Observer, PassInfo, Pipeline};
use hlo_tools_common::{Failure, Reporter, read_pipeline};

/// Runs the passes of the arguments, or the compiler's own pipeline, on a copy of the module. Warns of those that have
/// nothing to go by, unless the arguments ask for silence.
pub fn run(module: &Module, source: &Source, args: &Args, reporter: Reporter) -> Result<Module, Failure> {
    let pipeline = read_pipeline(args.passes.as_deref().unwrap_or(CPU_PIPELINE), reporter)?;
    let mut module = module.clone();
    let warnings = run_on(&mut module, source, &pipeline)?;
    if !args.quiet {
        reporter.warnings(source, &warnings);
    }
    Ok(module)
}

/// Runs the passes that code generation needs, whatever else was run.
pub fn lower(module: &mut Module, source: &Source) -> Result<(), Failure> {
    let pipeline = Pipeline::parse(LOWERING).map_err(|d| Failure::argument("--passes", LOWERING, vec![d]))?;
    run_on(module, source, &pipeline)?;
    Ok(())
}

/// Takes roundings between operations out. Calls are inlined before, so that none of them is in the way.
pub fn allow_excess_precision(module: &mut Module, source: &Source) -> Result<(), Failure> {
    const PASSES: &str = "call-inliner, excess-precision, dce";
    let pipeline = Pipeline::parse(PASSES).map_err(|d| Failure::argument("--passes", PASSES, vec![d]))?;
    run_on(module, source, &pipeline)?;
    Ok(())
}

/// Runs a pipeline and returns what there is to warn of.
fn run_on(module: &mut Module, source: &Source, pipeline: &Pipeline) -> Result<Vec<Diag>, Failure> {
    let mut listener = Listener::default();
    pipeline.run(module, &mut listener).map_err(|diags| Failure::diags(source, diags))?;
    Ok(listener.warnings)
}

/// Hears why passes were passed over.
#[derive(Default)]
struct Listener {
    /// Each reason once.
    warnings: Vec<Diag>,
}

impl Observer for Listener {
    fn passed_over(&mut self, _: &'static PassInfo, why: Diag) {
        if !self.warnings.contains(&why) {
            self.warnings.push(why);
        }
    }
}
