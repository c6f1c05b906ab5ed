//! Limits how many instructions passes may copy. If each computation of a chain calls the next one twice,
//! copying each call would create exponentially many instructions.

use hlo_ir::Module;

/// A bound on the number of instructions in a module into which a pass copies.
pub(crate) struct Growth {
    total: u64,
    limit: u64,
}

impl Growth {
    /// The module may grow to `times` its current size, and in any case to `always` instructions. If `times`
    /// is 0, there is no bound.
    pub(crate) fn new(module: &Module, times: u64, always: u64) -> Self {
        let total = module.computations().map(|c| module[c].instructions().len() as u64).sum::<u64>();
        let limit = if times == 0 { u64::MAX } else { total.saturating_mul(times).max(always) };
        Self { total, limit }
    }

    /// Returns whether `more` instructions fit within the bound, and counts them if they do.
    pub(crate) fn allows(&mut self, more: u64) -> bool {
        let total = self.total.saturating_add(more);
        let allowed = total <= self.limit;
        if allowed {
            self.total = total;
        }
        allowed
    }

    /// Returns the current number of instructions.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}
