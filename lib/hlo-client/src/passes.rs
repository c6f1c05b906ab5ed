//! The passes before execution.

use crate::{Engine, Error, Passes};
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_passes::{CPU_PIPELINE, LOWERING, Observer, PassInfo, Pipeline};

/// A module after the passes.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The module.
    pub module: Module,
    /// Why passes had nothing to go by, each reason once.
    pub warnings: Vec<Diag>,
}

/// Verifies a module and runs the passes of an engine on a copy of it.
///
/// # Errors
/// The rules that the module breaks; the text is no pipeline; what a pass refuses, such as a module that it was told to verify and that breaks a rule.
pub fn prepare(module: &Module, engine: Engine, passes: &Passes) -> Result<Prepared, Error> {
    prepare_verified(Verified::new(module)?, engine, passes)
}

/// Does the work of [`prepare`] for a module that was verified before.
pub(crate) fn prepare_verified(
    module: Verified<&Module>,
    engine: Engine,
    passes: &Passes,
) -> Result<Prepared, Error> {
    let mut prepared = Prepared { module: module.get().clone(), warnings: Vec::new() };
    match (passes, engine) {
        (Passes::Default, Engine::Compiled) => prepared.run(&named(CPU_PIPELINE)?)?,
        (Passes::Lowering, Engine::Compiled) => lower(&mut prepared.module)?,
        (Passes::Pipeline(text), _) => {
            prepared.run(&Pipeline::parse(text).map_err(|e| of_option(&e))?)?;
            if engine == Engine::Compiled {
                lower(&mut prepared.module)?;
            }
        }
        (Passes::Default | Passes::Lowering, Engine::Interpreted) => {}
    }
    Ok(prepared)
}

/// Verifies a module and runs the passes that code generation needs, whatever else was run.
///
/// # Errors
/// The rules that the module breaks, and what a pass refuses.
pub fn lower(module: &mut Module) -> Result<(), Error> {
    Ok(named(LOWERING)?.run(module, &mut ()).map(drop)?)
}

fn named(name: &str) -> Result<Pipeline, Error> {
    Ok(Pipeline::parse(name)?)
}

/// What is wrong with a pipeline: its places are none in the module's text.
fn of_option(wrong: &Diag) -> Error {
    let mut said = Diag::error(format!("passes: {}", wrong.message));
    said.code = wrong.code;
    said.notes.clone_from(&wrong.notes);
    said.into()
}

impl Prepared {
    fn run(&mut self, pipeline: &Pipeline) -> Result<(), Error> {
        let mut listener = Listener(&mut self.warnings);
        pipeline.run(&mut self.module, &mut listener)?;
        Ok(())
    }
}

/// Hears why passes were passed over.
struct Listener<'a>(&'a mut Vec<Diag>);

impl Observer for Listener<'_> {
    fn verify_first(&self) -> bool {
        false
    }

    fn passed_over(&mut self, _: &'static PassInfo, why: Diag) {
        if !self.0.contains(&why) {
            self.0.push(why);
        }
    }
}
