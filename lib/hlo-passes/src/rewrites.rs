//! What a pass says about its rewrites: how many of which kind it made, and how many more it may make.

use hlo_ir::budget::{self, Budget};
use hlo_ir::diag::Diag;
use hlo_ir::watch::Watch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rewrites of one run of a pass: counted by name, and limited when somebody looks for the one that breaks a
/// result.
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
    /// For a run that may make `limit` rewrites, or as many as there are.
    pub fn new(limit: Option<u64>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The same rewrites, limited by the budget of a compilation too.
    pub(crate) fn within(self, budget: Option<Arc<dyn Budget>>) -> Self {
        Self { budget, ..self }
    }

    /// Returns whether another rewrite may be made. A pass asks before each one, and stops where the answer is no.
    pub fn allowed(&self) -> bool {
        self.limit.is_none_or(|limit| self.made < limit) && self.check_budget().is_ok()
    }

    /// Checks the budget of the compilation.
    ///
    /// # Errors
    /// The time or the memory of the compilation is used up.
    pub(crate) fn check_budget(&self) -> Result<(), Diag> {
        budget::check(self.budget.as_ref(), 0)
    }

    /// Returns the watch that ends evaluations within the pass.
    pub(crate) fn watch(&self) -> Option<Arc<Watch>> {
        self.budget.as_ref()?.watch()
    }

    /// Counts a rewrite of the instruction of that name.
    pub fn made(&mut self, name: &'static str, instruction: &str) {
        self.made += 1;
        *self.counts.entry(name).or_default() += 1;
        // Nobody asks for it without a limit.
        if self.limit.is_some() {
            self.last = Some(Rewrite { name, instruction: instruction.to_owned() });
        }
    }

    /// The number of rewrites.
    pub fn total(&self) -> u64 {
        self.made
    }

    /// The numbers of rewrites by name.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(&name, &count)| (name, count))
    }

    /// The last rewrite of a run with a limit.
    pub fn last(&self) -> Option<&Rewrite> {
        self.last.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::Rewrites;

    #[test]
    fn counts_by_name_up_to_the_limit() {
        let mut r = Rewrites::new(Some(2));
        assert!(r.allowed());
        r.made("b", "x");
        r.made("a", "y");
        assert!(!r.allowed());
        assert_eq!(r.counts().collect::<Vec<_>>(), [("a", 1), ("b", 1)]);
        assert_eq!(r.last().map(|l| l.instruction.as_str()), Some("y"));
        assert!(Rewrites::default().allowed());
    }
}
