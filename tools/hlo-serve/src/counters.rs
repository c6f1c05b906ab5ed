//! Counters for the statistics of a server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A counter that several threads increment.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds a number.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Adds a duration, in microseconds.
    pub fn add_time(&self, time: Duration) {
        self.add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// Returns the sum.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of a server. Times are in microseconds.
#[derive(Debug, Default)]
pub struct Counters {
    pub clients: Counter,
    pub cache_hits: Counter,
    pub compilations: Counter,
    pub compilation_failures: Counter,
    pub compile_time: Counter,
    pub runs: Counter,
    pub runs_failed: Counter,
    pub runs_stopped: Counter,
    pub run_time: Counter,
    pub bytes_received: Counter,
    pub bytes_sent: Counter,
    pub refused: Counter,
    pub defects: Counter,
}
