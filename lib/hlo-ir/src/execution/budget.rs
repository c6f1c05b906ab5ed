//! The budget of a compilation, which ends compilations that take too much time or memory.

use crate::diag::Diag;
use crate::rules::code;
use crate::watch::Watch;
use std::fmt::Debug;
use std::sync::Arc;

/// Limits the time and the memory of a compilation.
///
/// The pass runner checks the budget before each pass, and passes check it between rewrites. Code generation
/// checks it before each part of a program that LLVM compiles. A part that LLVM is already compiling is not
/// interrupted.
pub trait Budget: Debug + Send + Sync {
    /// Checks whether the compilation may continue and allocate `more` additional bytes. It is called often.
    ///
    /// # Errors
    /// The reason why the compilation must end.
    fn check(&self, more: u64) -> Result<(), String>;

    /// Returns the watch that ends evaluations within the compilation, such as those of constant folding.
    fn watch(&self) -> Option<Arc<Watch>> {
        None
    }
}

/// Checks the budget of a compilation that may have one.
///
/// # Errors
/// The error of [`Budget::check`], as a diagnostic.
pub fn check(budget: Option<&Arc<dyn Budget>>, more: u64) -> Result<(), Diag> {
    let Some(budget) = budget else { return Ok(()) };
    budget.check(more).map_err(|why| Diag::error(why).with_code(code::BUDGET))
}
