//! A limit on the number of instructions that a pass copies. Without a limit, the number can be exponential:
//! for example, a pass that inlines calls, if each computation of a chain calls the next one twice.

use hlo_ir::Module;

/// The number of instructions of a module into which a pass copies instructions, and the limit for it.
pub struct Growth {
    total: u64,
    limit: u64,
}

impl Growth {
    /// Creates a limit of `times` times the current number of instructions of the module, but at least
    /// `always` instructions. If `times` is 0, there is no limit.
    pub fn new(module: &Module, times: u64, always: u64) -> Self {
        let total = module.computations().map(|c| module[c].instructions().len() as u64).sum::<u64>();
        let limit = if times == 0 { u64::MAX } else { total.saturating_mul(times).max(always) };
        Self { total, limit }
    }

    /// Checks whether the module may grow by `more` instructions. If so, adds them to the number.
    pub fn allows(&mut self, more: u64) -> bool {
        let total = self.total.saturating_add(more);
        let allowed = total <= self.limit;
        if allowed {
            self.total = total;
        }
        allowed
    }

    /// Returns the current number of instructions, including those that [`Growth::allows`] added.
    pub fn total(&self) -> u64 {
        self.total
    }
}
