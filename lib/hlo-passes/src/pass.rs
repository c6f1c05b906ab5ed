//! The interface of passes: the behavior of a pass on a module.

use crate::rewrites::Rewrites;
use hlo_ir::Module;
use hlo_ir::diag::Diag;

/// A transformation of a module that preserves its meaning. Threads share pipelines and therefore passes.
pub trait Pass: Send + Sync {
    /// Returns what is wrong with the module. The runner calls it before [`Pass::run`] and stops the pipeline
    /// if it returns diagnostics.
    fn check(&self, _module: &Module) -> Vec<Diag> {
        Vec::new()
    }

    /// Transforms the module and returns whether it changed.
    ///
    /// A pass that makes independent rewrites calls [`Rewrites::allowed`] before each rewrite and
    /// [`Rewrites::made`] after it. A pass that changes the module as a whole does not use `rewrites`; the
    /// runner counts it as one rewrite.
    ///
    /// # Errors
    /// The reason why the pass cannot continue. The module is valid then, and may have changed.
    fn run(&self, module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag>;
}

impl<F: Fn(&mut Module, &mut Rewrites) -> Result<bool, Diag> + Send + Sync> Pass for F {
    fn run(&self, module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
        self(module, rewrites)
    }
}
