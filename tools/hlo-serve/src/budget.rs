//! The time and memory budget of a compilation.

use crate::account::{Account, Charge};
use crate::allocator;
use hlo_client::Budget;
use hlo_ir::watch::Watch;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;
use tonic::Status;

/// Minimum number of bytes by which the charge of a compilation grows.
const MIN_CHARGE_STEP: u64 = 64 << 10;

/// The budget of a compilation. Its memory is charged to the client's account.
#[derive(Debug)]
pub struct CompileBudget {
    watch: Arc<Watch>,
    /// The compiling thread, and the bytes that it held before.
    thread: (ThreadId, i64),
    /// Number of bytes that the compilation held at the last count.
    held: AtomicU64,
    charged: AtomicU64,
    charge: Mutex<Charge>,
    refused: OnceLock<Status>,
}

impl CompileBudget {
    /// Creates a budget for a compilation on this thread. `watch` stops the compilation.
    ///
    /// # Errors
    /// The account is full.
    pub fn new(account: &Arc<Account>, watch: Arc<Watch>) -> Result<Self, Status> {
        Ok(Self {
            watch,
            thread: (std::thread::current().id(), allocator::allocated_bytes()),
            held: AtomicU64::new(0),
            charged: AtomicU64::new(0),
            charge: Mutex::new(account.charge(0, "a compilation")?),
            refused: OnceLock::new(),
        })
    }

    /// Returns the reason why the account refused more memory, if it did.
    pub fn refused(&self) -> Option<Status> {
        self.refused.get().cloned()
    }

    /// Returns the bytes that the compilation holds, as counted by the compiling thread.
    pub fn allocated_bytes(&self) -> u64 {
        let (thread, before) = self.thread;
        if thread == std::thread::current().id() {
            let held = u64::try_from(allocator::allocated_bytes().wrapping_sub(before)).unwrap_or(0);
            self.held.store(held, Ordering::Relaxed);
        }
        self.held.load(Ordering::Relaxed)
    }

    fn grow(&self, bytes: u64) -> Result<(), String> {
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        let charged = self.charged.load(Ordering::Relaxed);
        let more = bytes.saturating_sub(charged).max(MIN_CHARGE_STEP);
        charge.grow(more, "a compilation").map_err(|status| {
            let why = status.message().to_string();
            // Only the first reason is kept.
            let _ = self.refused.set(status);
            why
        })?;
        self.charged.store(charged.saturating_add(more), Ordering::Relaxed);
        Ok(())
    }
}

impl Budget for CompileBudget {
    fn check(&self, more: u64) -> Result<(), String> {
        if self.watch.is_stopped() {
            return Err("the compilation was stopped".to_string());
        }
        let bytes = self.allocated_bytes().saturating_add(more);
        if bytes <= self.charged.load(Ordering::Relaxed) { Ok(()) } else { self.grow(bytes) }
    }

    fn watch(&self) -> Option<Arc<Watch>> {
        Some(self.watch.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilation_takes_what_it_holds_from_the_account() {
        let account = Account::of_all(1 << 20);
        let watch = Arc::new(Watch::default());
        let budget = CompileBudget::new(&account, watch.clone()).unwrap();
        let mut held = vec![0u8; 100_000];
        budget.check(0).unwrap();
        assert!((100_000..200_000).contains(&account.used()), "{}", account.used());
        assert!(budget.check(2 << 20).unwrap_err().starts_with("a compilation takes"));
        held.resize(2 << 20, 0);
        assert!(budget.check(0).unwrap_err().contains("(--memory)"));
        assert!(budget.refused().is_some());
        drop(held);
        budget.check(0).unwrap();
        watch.stop();
        assert_eq!(budget.check(0), Err("the compilation was stopped".to_string()));
        drop(budget);
        assert_eq!(account.used(), 0);
    }
}
