//! Counters of events, and a list of failed checks.

use hlo_ir::human_bytes;
use hlo_remote::proto::StatisticsReply;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of failed checks to print.
const MAX_SHOWN_FAILURES: usize = 20;

/// The events and the failed checks of a test.
#[derive(Default)]
pub struct Report {
    state: Mutex<State>,
    disconnections: AtomicBool,
}

#[derive(Default)]
struct State {
    counts: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
    latencies: Vec<Duration>,
    phases: Vec<String>,
}

impl Report {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a successful event.
    pub fn count(&self, what: &'static str) {
        *self.lock().counts.entry(what).or_default() += 1;
    }

    /// Records the time of a small call.
    pub fn latency(&self, time: Duration) {
        self.lock().latencies.push(time);
    }

    /// Records a failure if a check fails.
    pub fn check(&self, is_so: bool, otherwise: impl FnOnce() -> String) {
        if !is_so {
            self.lock().wrong.push(otherwise());
        }
    }

    /// Sets whether servers are being killed, so that connections may break.
    pub fn allow_disconnections(&self, allow: bool) {
        self.disconnections.store(allow, Ordering::Relaxed);
    }

    /// Returns whether servers are being killed.
    pub fn may_disconnect(&self) -> bool {
        self.disconnections.load(Ordering::Relaxed)
    }

    /// Records the statistics of a server without clients.
    pub fn phase(&self, name: &str, s: &StatisticsReply) {
        self.check((s.clients, s.buffers, s.programs, s.bytes) == (0, 0, 0, 0), || {
            format!(
                "{name}: clients have gone, but {} clients, {} buffers, {} programs, {} bytes stay",
                s.clients, s.buffers, s.programs, s.bytes
            )
        });
        let line = format!(
            "{name}: resident {}, accounted {}, kept programs {}, clients ever {}, runs {}, stopped {}, compilations {}, found {}, received {}, sent {}, refused {}, defects {}",
            human_bytes(s.resident_bytes),
            human_bytes(s.bytes),
            s.programs_kept,
            s.clients_ever,
            s.runs,
            s.runs_stopped,
            s.compilations,
            s.cache_hits,
            human_bytes(s.bytes_received),
            human_bytes(s.bytes_sent),
            s.refused,
            s.defects,
        );
        println!("{line}");
        self.lock().phases.push(line);
    }

    /// Records a failure for each of these events that has never occurred, because the test did not cover it.
    pub fn check_happened(&self, all: &[&'static str]) {
        for what in all {
            let count = self.lock().counts.get(what).copied().unwrap_or_default();
            self.check(count > 0, || format!("it never happened: {what}"));
        }
    }

    /// Returns whether all checks succeeded.
    pub fn is_good(&self) -> bool {
        self.lock().wrong.is_empty()
    }

    pub fn print(&self) {
        let mut state = self.lock();
        for (what, count) in &state.counts {
            println!("{count:>10}  {what}");
        }
        state.latencies.sort_unstable();
        let at = |part: f64| {
            let index = (state.latencies.len() as f64 * part) as usize;
            state
                .latencies
                .get(index.min(state.latencies.len().saturating_sub(1)))
                .copied()
                .unwrap_or_default()
        };
        println!(
            "small calls: median {:.1?}, 99 of 100 within {:.1?}, the slowest {:.1?}",
            at(0.5),
            at(0.99),
            at(1.0)
        );
        for wrong in state.wrong.iter().take(MAX_SHOWN_FAILURES) {
            println!("WRONG: {wrong}");
        }
        println!("{} wrong", state.wrong.len());
    }
}
