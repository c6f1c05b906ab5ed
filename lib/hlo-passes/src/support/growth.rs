//! How much passes may copy. Computations that call others in a chain, twice each, are exponentially many when every call
//! gets a copy of its own.

use hlo_ir::Module;

/// A bound on the instructions of a module that a pass copies into.
pub(crate) struct Growth {
    total: u64,
    limit: u64,
}

impl Growth {
    /// A module may become `times` as large as it is, and in any case of `always` instructions; with `times` 0 there is no
    /// bound.
    pub(crate) fn new(module: &Module, times: u64, always: u64) -> Self {
        let total = module.computations().map(|c| module[c].instructions().len() as u64).sum::<u64>();
        let limit = if times == 0 { u64::MAX } else { total.saturating_mul(times).max(always) };
        Self { total, limit }
    }

    /// True if so many more instructions are within the bound: they are then counted.
    pub(crate) fn allows(&mut self, more: u64) -> bool {
        let total = self.total.saturating_add(more);
        let allowed = total <= self.limit;
        if allowed {
            self.total = total;
        }
        allowed
    }

    /// The instructions that there are by now.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}
