//! The passes that run before execution.

use crate::{Engine, Error, Passes};
use hlo_ir::Module;
use hlo_ir::budget::Budget;
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_passes::{CPU_PIPELINE, LOWERING, Observer, PassInfo, Pipeline};
use std::sync::Arc;

/// The result of the passes.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The transformed module.
    pub module: Module,
    /// The reasons why passes were skipped, each once.
    pub warnings: Vec<Diag>,
}

/// Verifies a module and runs the passes of an engine on a copy of it.
///
/// # Errors
/// The module is invalid, the text is not a pipeline, or a pass rejects the module.
pub fn prepare(module: &Module, engine: Engine, passes: &Passes) -> Result<Prepared, Error> {
    prepare_within(Verified::new(module)?, engine, passes, None)
}

/// Runs the passes of an engine on a copy of a verified module, as [`prepare`] does, within the budget of a
/// compilation. With a budget, the pipeline is bounded as well ([`Pipeline::parse_bounded`]).
///
/// # Errors
/// As [`prepare`], or the budget is used up, or the pipeline is too long or has too large counts.
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

/// Verifies a module and runs the passes that code generation requires. Other passes may run before.
///
/// # Errors
/// The module is invalid, or a pass rejects it.
pub fn lower(module: &mut Module) -> Result<(), Error> {
    Ok(Pipeline::parse(LOWERING)?.run(module, &mut ()).map(drop)?)
}

/// Converts an error in a pipeline. Removes its labels, which do not refer to the text of the module.
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

/// Collects the reasons why passes were skipped, and provides the budget.
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

    fn pass_skipped(&mut self, _: &'static PassInfo, why: Diag) {
        if !self.warnings.contains(&why) {
            self.warnings.push(why);
        }
    }
}
