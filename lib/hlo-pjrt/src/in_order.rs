//! Runs with effects, which complete in the order in which they were started.
//!
//! They may execute at the same time. JAX waits only for the last run with effects on a device
//! (`jax.effects_barrier`) and assumes that all earlier ones are then over.

use crate::fault::Result;
use crate::promise::Promise;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The runs that have not completed, in the order in which they were started. Some of them have ended but
/// wait for earlier runs.
#[derive(Default)]
pub struct InOrder(Mutex<VecDeque<Entry>>);

struct Entry {
    over: Arc<Promise<()>>,
    outcome: Option<Result>,
}

impl InOrder {
    /// Adds a run. `over` is fulfilled when the run completes.
    pub fn begin(&self, over: Arc<Promise<()>>) {
        self.entries().push_back(Entry { over, outcome: None });
    }

    /// Records that a run has ended. It completes once all earlier runs have ended.
    pub fn end(&self, over: &Arc<Promise<()>>, outcome: Result) {
        let mut entries = self.entries();
        if let Some(entry) = entries.iter_mut().find(|entry| Arc::ptr_eq(&entry.over, over)) {
            entry.outcome = Some(outcome);
        }
        let count = entries.iter().take_while(|entry| entry.outcome.is_some()).count();
        let ended: Vec<Entry> = entries.drain(..count).collect();
        drop(entries);
        for entry in ended {
            entry.over.keep(entry.outcome.unwrap_or(Ok(())));
        }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, VecDeque<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
