//! `--timeout`: ends what takes too long, and says where it was.
//!
//! A run is told to end at the next round of a loop (interpreted, at the next instruction) and then reports like any
//! other failure. What does not listen, such as one long operation or a pass, is ended with the process; results are not
//! being written then.

use hlo_ir::diag::{Diag, Source};
use hlo_ir::watch::Watch;
use hlo_ir::{InstrId, Module, Op};
use hlo_tools_common::{Failure, Reporter};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a run that was told to end may still take.
const GRACE: Duration = Duration::from_secs(1);

/// What is under way.
enum Phase {
    /// Something that has no instruction to name.
    Other(&'static str),
    /// A run of a module.
    Run(Arc<Watch>, Arc<(Module, Source)>),
    /// The results are there: nothing is ended any more.
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

/// Watches the time.
#[derive(Clone)]
pub struct Watchdog(Arc<Shared>);

impl std::fmt::Debug for Watchdog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watchdog").field("limit", &self.0.limit).finish_non_exhaustive()
    }
}

impl Watchdog {
    /// Ends the process, or the run that is under way, after so much time.
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

    /// Says what begins.
    pub fn phase(&self, name: &'static str) {
        self.0.set(Phase::Other(name));
    }

    /// Says that the results are there.
    pub fn done(&self) {
        self.0.set(Phase::Done);
    }

    /// Says that a run of a module begins: until what this returns is dropped.
    pub fn run(&self, module: &Module, source: &Source) -> Running {
        let watch = Arc::new(Watch::default());
        if Instant::now() >= self.0.deadline {
            watch.stop();
        }
        self.0.set(Phase::Run(watch.clone(), Arc::new((module.clone(), source.clone()))));
        Running { watch, shared: self.0.clone() }
    }

    /// What is said of a run that was ended at an instruction.
    pub fn ended(&self, module: &Module, source: &Source, at: Option<InstrId>) -> Failure {
        ended(self.0.limit, module, source, at)
    }
}

/// A run that is watched.
pub struct Running {
    /// To be handed to the engine.
    pub watch: Arc<Watch>,
    shared: Arc<Shared>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.set(Phase::Other("preparing or comparing"));
    }
}

/// Waits until the time is up, and ends what is under way then.
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
        std::thread::sleep(GRACE);
    }
    // While this holds the lock, no other phase begins.
    let phase = shared.phase.lock().unwrap_or_else(PoisonError::into_inner);
    let failure = match &*phase {
        Phase::Done => return,
        Phase::Other(name) => Failure::Message(format!("after {:?} (--timeout) still {name}", shared.limit)),
        Phase::Run(watch, subject) => ended(shared.limit, &subject.0, &subject.1, watch.at()),
    };
    let _ = reporter.finish(Err(failure));
    end_process();
}

/// Ends the process whatever its other threads do: none is waited for, and nothing of theirs is taken down.
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
    diag = match module.span(at).is_empty() {
        true => diag.note(format!("it was at `{}`, which no source text stands for", module[at].name)),
        false => diag.at(module.span(at), format!("it was at `{}`", module[at].name)),
    };
    for id in loops_around(module, at) {
        diag = match module.span(id).is_empty() {
            true => diag.note(format!("in the loop `{}`, which no source text stands for", module[id].name)),
            false => diag.and(module.span(id), format!("in the loop `{}`", module[id].name)),
        };
    }
    Failure::diags(source, vec![diag])
}

/// The loops that an instruction runs in, as far as it has one caller, the innermost first.
fn loops_around(module: &Module, at: InstrId) -> Vec<InstrId> {
    let callers = module.callers();
    let mut loops = Vec::new();
    let mut computation = module[at].parent;
    while let Some([caller]) = callers.get(&computation).map(Vec::as_slice) {
        if matches!(module[*caller].op, Op::While(_)) {
            loops.push(*caller);
        }
        // A cycle is refused before anything runs; the bound is for its own sake.
        if loops.len() > 100 {
            break;
        }
        computation = module[*caller].parent;
    }
    loops
}
