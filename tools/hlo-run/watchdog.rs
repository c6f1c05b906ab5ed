//! `--timeout`: stops the tool when the time is up, and reports where it was.
//!
//! A run is asked to stop at the next iteration of a loop (when interpreted, at the next instruction) and
//! then reports a failure as usual. Other work, such as one long operation or a pass, ends with the process.
//! No results are being written at that time.

use hlo_ir::diag::{Diag, Source};
use hlo_ir::watch::Watch;
use hlo_ir::{InstrId, Module, Op};
use hlo_tools_common::{Failure, Reporter};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time that a run may take after it was asked to stop.
const STOP_GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The current activity.
enum Phase {
    /// An activity without an instruction to report.
    Other(&'static str),
    /// A run of a module.
    Run(Arc<Watch>, Arc<(Module, Source)>),
    /// The results exist. Nothing is stopped any more.
    Done,
}

struct Shared {
    limit: Duration,
    deadline: Instant,
    phase: Mutex<Phase>,
}

impl Shared {
    fn set(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }
}

/// A timer that stops the tool.
#[derive(Clone)]
pub struct Watchdog(Arc<Shared>);

impl std::fmt::Debug for Watchdog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watchdog").field("limit", &self.0.limit).finish_non_exhaustive()
    }
}

impl Watchdog {
    /// Starts the timer. After `limit`, it stops the current run or ends the process.
    pub fn start(limit: Duration, reporter: Reporter) -> Result<Self, Failure> {
        let deadline = Instant::now() + limit;
        let shared = Arc::new(Shared { limit, deadline, phase: Mutex::new(Phase::Other("reading")) });
        let watched = shared.clone();
        std::thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || watch_over(&watched, reporter))
            .map_err(|e| Failure::Message(format!("--timeout: {e}")))?;
        Ok(Self(shared))
    }

    /// Sets the current activity.
    pub fn phase(&self, name: &'static str) {
        self.0.set(Phase::Other(name));
    }

    /// Records that the results exist.
    pub fn done(&self) {
        self.0.set(Phase::Done);
    }

    /// Records that a run of a module starts. It ends when the returned value is dropped.
    pub fn run(&self, module: &Module, source: &Source) -> Running {
        let watch = Arc::new(Watch::default());
        if Instant::now() >= self.0.deadline {
            watch.stop();
        }
        self.0.set(Phase::Run(watch.clone(), Arc::new((module.clone(), source.clone()))));
        Running { watch, shared: self.0.clone() }
    }

    /// Returns the failure for a run that was stopped at an instruction.
    pub fn ended(&self, module: &Module, source: &Source, at: Option<InstrId>) -> Failure {
        ended(self.0.limit, module, source, at)
    }
}

/// A watched run.
pub struct Running {
    /// The watch to pass to the engine.
    pub watch: Arc<Watch>,
    shared: Arc<Shared>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.set(Phase::Other("preparing or comparing"));
    }
}

/// Waits until the time is up, and stops the current activity.
fn watch_over(shared: &Shared, reporter: Reporter) {
    std::thread::sleep(shared.limit);
    let told = match &*shared.phase.lock().unwrap_or_else(PoisonError::into_inner) {
        Phase::Run(watch, _) => {
            watch.stop();
            true
        }
        Phase::Other(_) | Phase::Done => false,
    };
    if told {
        std::thread::sleep(STOP_GRACE_PERIOD);
    }
    // While this thread holds the lock, the activity cannot change.
    let phase = shared.phase.lock().unwrap_or_else(PoisonError::into_inner);
    let failure = match &*phase {
        Phase::Done => return,
        Phase::Other(name) => Failure::Message(format!("after {:?} (--timeout) still {name}", shared.limit)),
        Phase::Run(watch, subject) => ended(shared.limit, &subject.0, &subject.1, watch.at()),
    };
    let _ = reporter.finish(Err(failure));
    end_process();
}

/// Ends the process without waiting for its other threads or cleaning up.
fn end_process() -> ! {
    #[cfg(unix)]
    // SAFETY: the function only ends the process.
    unsafe {
        libc::_exit(1)
    }
    #[cfg(not(unix))]
    std::process::exit(1)
}

fn ended(limit: Duration, module: &Module, source: &Source, at: Option<InstrId>) -> Failure {
    let message = format!("the program was still running after {limit:?} (--timeout)");
    let Some(at) = at.filter(|&id| module.is_live(id)) else { return Failure::Message(message) };
    let mut diag = Diag::error(message);
    diag = if module.span(at).is_empty() {
        diag.note(format!("it was at `{}`, which no source text stands for", module[at].name))
    } else {
        diag.at(module.span(at), format!("it was at `{}`", module[at].name))
    };
    for id in loops_around(module, at) {
        diag = if module.span(id).is_empty() {
            diag.note(format!("in the loop `{}`, which no source text stands for", module[id].name))
        } else {
            diag.and(module.span(id), format!("in the loop `{}`", module[id].name))
        };
    }
    Failure::diags(source, vec![diag])
}

/// Returns the loops around an instruction, the innermost first, as long as each computation has one caller.
fn loops_around(module: &Module, at: InstrId) -> Vec<InstrId> {
    let callers = module.callers();
    let mut loops = Vec::new();
    let mut computation = module[at].parent;
    while let Some([caller]) = callers.get(&computation).map(Vec::as_slice) {
        if matches!(module[*caller].op, Op::While(_)) {
            loops.push(*caller);
        }
        // Cyclic calls were already rejected. The bound is only a precaution.
        if loops.len() > 100 {
            break;
        }
        computation = module[*caller].parent;
    }
    loops
}
