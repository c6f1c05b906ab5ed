//! The passes before execution.

use crate::{Engine, Error, Passes};
use hlo_ir::Module;
use hlo_ir::budget::Budget;
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_passes::{CPU_PIPELINE, LOWERING, Observer, PassInfo, Pipeline};
use std::sync::Arc;

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
/// The rules that the module breaks; the text is no pipeline; what a pass refuses.
pub fn prepare(module: &Module, engine: Engine, passes: &Passes) -> Result<Prepared, Error> {
    prepare_within(Verified::new(module)?, engine, passes, None)
}

/// As [`prepare`] of a verified module, within the budget of a compilation. A pipeline is then bounded as well
/// ([`Pipeline::parse_bounded`]).
///
/// # Errors
/// As [`prepare`]; the budget is used up, or the pipeline is too long or has too large counts.
pub(crate) fn prepare_within(
    module: Verified<&Module>,
    engine: Engine,
    passes: &Passes,
    budget: Option<&Arc<dyn Budget>>,
) -> Result<Prepared, Error> {
    let mut prepared = Prepared { module: module.get().clone(), warnings: Vec::new() };
    let named = |name: &str| Ok::<_, Error>(Pipeline::parse(name)?);
    let given = |text: &str| match budget {
        Some(_) => Pipeline::parse_bounded(text),
        None => Pipeline::parse(text),
    };
    match (passes, engine) {
        (Passes::Default, Engine::Compiled) => prepared.run(&named(CPU_PIPELINE)?, budget)?,
        (Passes::Lowering, Engine::Compiled) => prepared.run(&named(LOWERING)?, budget)?,
        (Passes::Pipeline(text), _) => {
            prepared.run(&given(text).map_err(|e| of_option(&e))?, budget)?;
            if engine == Engine::Compiled {
                prepared.run(&named(LOWERING)?, budget)?;
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
    Ok(Pipeline::parse(LOWERING)?.run(module, &mut ()).map(drop)?)
}

/// What is wrong with a pipeline: its places are none in the module's text.
fn of_option(wrong: &Diag) -> Error {
    let mut said = Diag::error(format!("passes: {}", wrong.message));
    said.code = wrong.code;
    said.notes.clone_from(&wrong.notes);
    said.into()
}

impl Prepared {
    fn run(&mut self, pipeline: &Pipeline, budget: Option<&Arc<dyn Budget>>) -> Result<(), Error> {
        let mut listener = Listener { warnings: &mut self.warnings, budget: budget.cloned() };
        pipeline.run(&mut self.module, &mut listener)?;
        Ok(())
    }
}

/// Collects the reasons why passes were skipped, and has the budget.
struct Listener<'a> {
    warnings: &'a mut Vec<Diag>,
    budget: Option<Arc<dyn Budget>>,
}

impl Observer for Listener<'_> {
    fn verify_first(&self) -> bool {
        false
    }

    fn budget(&self) -> Option<Arc<dyn Budget>> {
        self.budget.clone()
    }

    fn passed_over(&mut self, _: &'static PassInfo, why: Diag) {
        if !self.warnings.contains(&why) {
            self.warnings.push(why);
        }
    }
}
