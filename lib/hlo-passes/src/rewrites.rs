//! The rewrites of a pass: counts them by name, and limits how many more the pass may make.

use hlo_ir::budget::{self, Budget};
use hlo_ir::diag::Diag;
use hlo_ir::watch::Watch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rewrites of one run of a pass, counted by name. A limit serves the search for the rewrite that breaks
/// a result.
#[derive(Debug, Default)]
pub struct Rewrites {
    counts: BTreeMap<&'static str, u64>,
    made: u64,
    limit: Option<u64>,
    last: Option<Rewrite>,
    budget: Option<Arc<dyn Budget>>,
}

/// One rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The name of the pattern, or of the pass.
    pub name: &'static str,
    /// The name of the instruction that was rewritten.
    pub instruction: String,
}

impl Rewrites {
    /// Returns a counter for a run with at most `limit` rewrites, or without a limit if `None`.
    pub fn new(limit: Option<u64>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns the same counter, also limited by the budget of a compilation.
    pub(crate) fn within(self, budget: Option<Arc<dyn Budget>>) -> Self {
        Self { budget, ..self }
    }

    /// Returns whether the pass may make another rewrite. A pass calls it before each rewrite, and stops if
    /// it returns false.
    pub fn allowed(&self) -> bool {
        self.limit.is_none_or(|limit| self.made < limit) && self.check_budget().is_ok()
    }

    /// Checks the budget of the compilation.
    ///
    /// # Errors
    /// The time or the memory of the budget is used up.
    pub(crate) fn check_budget(&self) -> Result<(), Diag> {
        budget::check(self.budget.as_ref(), 0)
    }

    /// Returns the watch that stops evaluations inside the pass.
    pub(crate) fn watch(&self) -> Option<Arc<Watch>> {
        self.budget.as_ref()?.watch()
    }

    /// Counts a rewrite of the instruction with the name `instruction`.
    pub fn made(&mut self, name: &'static str, instruction: &str) {
        self.made += 1;
        *self.counts.entry(name).or_default() += 1;
        // Only runs with a limit need the last rewrite.
        if self.limit.is_some() {
            self.last = Some(Rewrite { name, instruction: instruction.to_owned() });
        }
    }

    /// Returns the number of rewrites.
    pub fn total(&self) -> u64 {
        self.made
    }

    /// Returns the number of rewrites for each name.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(&name, &count)| (name, count))
    }

    /// Returns the last rewrite, if the run has a limit.
    pub fn last(&self) -> Option<&Rewrite> {
        self.last.as_ref()
    }
}
