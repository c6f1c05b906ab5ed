//! The time limit and the floating-point mode of all runs in this process.

use crate::{Error, RunOptions, StandardFloats};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

/// Executes a run in this process. If the run has a time limit, it is stopped when the time is over. It
/// computes in the standard floating-point mode, whatever the mode of the caller is.
///
/// # Errors
/// The errors of the run, the time limit was exceeded, or no thread could be started to watch the time.
pub(crate) fn limited<T>(
    mut options: RunOptions<'_>,
    run: impl FnOnce(RunOptions<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let _standard = StandardFloats::set();
    let Some(limit) = options.time_limit else { return run(options) };
    let watch = options.watch.get_or_insert_default().clone();
    let overdue = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        // Dropped when the run is over, whether it succeeded or not.
        let (running, end) = channel::<()>();
        let (watch, overdue) = (&watch, &overdue);
        let clock = move || {
            if end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                overdue.store(true, Ordering::Relaxed);
                watch.stop();
            }
        };
        let started = thread::Builder::new().name("hlo time limit".into()).spawn_scoped(scope, clock);
        started.map_err(|e| Error::new(format!("a thread for the time limit can't be started: {e}")))?;
        let outcome = run(options);
        drop(running);
        outcome
    });
    outcome.map_err(|e| if overdue.load(Ordering::Relaxed) { e.timed_out(limit) } else { e })
}
