//! What all runs of this process have in common: a time that they may take, and the mode for floats.

use crate::{Error, RunOptions, StandardFloats};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

/// Makes a run of this process, which is told to stop when its time is over, if it has a limit. It computes in the standard mode for
/// floats, whatever the caller's is.
///
/// # Errors
/// Those of the run; that its time was over; or that there is no thread to look at the clock.
pub(crate) fn limited<T>(
    mut options: RunOptions<'_>,
    run: impl FnOnce(RunOptions<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let _standard = StandardFloats::set();
    let Some(limit) = options.time_limit else { return run(options) };
    let watch = options.watch.get_or_insert_default().clone();
    let overdue = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        // Dropped when the run is over, however it ends.
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
