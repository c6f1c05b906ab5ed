//! Threads for runs that nobody waits for.
//!
//! A run is started once all that it takes is there, so no thread of the pool waits for another run: there is no order among runs
//! but what follows from their arguments. Runs that call functions of the caller are the exception: such a function may start
//! runs and wait for them. Each of these has a thread of its own.

use crate::task::Task;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The interpreter recurses over called computations.
const STACK: usize = 16 << 20;

/// How long a thread waits for another job before it ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many runs there may be before whoever starts another one waits.
const MOST_RUNS: usize = 64;

thread_local! {
    /// True on a thread that runs must not wait for: it does one, or a function that one calls.
    static RUNS: Cell<bool> = const { Cell::new(false) };
}

/// Threads that come when there is something to do, and go when there is nothing.
pub struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Something is to be done.
    work: Condvar,
    /// There is room for another run.
    room: Condvar,
    most_threads: usize,
    names: AtomicUsize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Arc<Task>>,
    /// All threads, and those of them that wait for a job.
    threads: usize,
    idle: usize,
    /// Runs that were started and are not over.
    runs: usize,
}

/// The runs of all clients that are not over: those that call functions of the caller's, and the others.
static UNFINISHED: Mutex<[usize; 2]> = Mutex::new([0; 2]);

/// A run is over.
static FINISHED: Condvar = Condvar::new();

/// How long [`hlo_pjrt_wait_for_runs`] waits for runs that call no functions of the caller's.
const PATIENCE_AT_END: Duration = Duration::from_secs(1);

/// A run that is not over yet, and the caller may still hear of.
pub struct Unfinished {
    calls: bool,
}

impl Unfinished {
    /// A run begins; `calls` if it calls functions of the caller's.
    pub fn new(calls: bool) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(calls)] += 1;
        Self { calls }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(self.calls)] -= 1;
        FINISHED.notify_all();
    }
}

/// Waits until all runs are over that call functions of the caller's, and not long for the others: for a caller that is about to
/// end. A run that called Python after that would end the process.
#[unsafe(no_mangle)]
pub extern "C" fn hlo_pjrt_wait_for_runs() {
    if RUNS.get() {
        return;
    }
    let start = Instant::now();
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let left = PATIENCE_AT_END.saturating_sub(start.elapsed());
        match *unfinished {
            [0, 0] => return,
            [_, 0] if left.is_zero() => return,
            [_, 0] => {
                let woken = FINISHED.wait_timeout(unfinished, left);
                unfinished = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
            _ => unfinished = FINISHED.wait(unfinished).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// A run that was started. It is over when this is dropped.
pub struct Ticket(Arc<Shared>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.state().runs -= 1;
        self.0.room.notify_one();
    }
}

/// Does something on this thread that others may wait for, which must not wait for them.
pub fn running<T>(body: impl FnOnce() -> T) -> T {
    let before = RUNS.replace(true);
    let value = body();
    RUNS.set(before);
    value
}

impl Pool {
    /// A pool without threads, which starts up to `threads` of them; with 0, one per processor, but at least 2 and at most
    /// 16.
    pub fn new(threads: usize) -> Self {
        let processors = || thread::available_parallelism().map_or(2, std::num::NonZero::get).clamp(2, 16);
        let most_threads = if threads == 0 { processors() } else { threads };
        let shared = Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            most_threads,
            names: AtomicUsize::new(0),
        };
        Self(Arc::new(shared))
    }

    /// Starts a run. If there are many already, the caller waits until some are over, so that a program that never looks at its
    /// results does not fill the memory; but for one that a run called.
    pub fn admit(&self) -> Ticket {
        let mut state = self.0.state();
        while state.runs >= MOST_RUNS && !RUNS.get() {
            state = self.0.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.runs += 1;
        Ticket(self.0.clone())
    }

    /// Has a job done that waits for nobody.
    pub fn push(&self, job: impl FnOnce() + Send + 'static) {
        self.push_task(Task::new(job));
    }

    /// Has a task done that waits for nobody, unless somebody else begins it before.
    pub fn push_task(&self, task: Arc<Task>) {
        let shared = &self.0;
        let mut state = shared.state();
        state.jobs.push_back(task);
        if state.idle >= state.jobs.len() || state.threads >= shared.most_threads {
            drop(state);
            shared.work.notify_one();
            return;
        }
        state.threads += 1;
        drop(state);
        let there = shared.clone();
        if self.spawn(move || there.serve()).is_err() {
            shared.without_thread();
        }
    }

    /// Has a job done that may wait for others.
    pub fn push_apart(&self, job: impl FnOnce() + Send + 'static) {
        let task = Task::new(job);
        let there = task.clone();
        // Without a thread the caller does it.
        if self.spawn(move || there.run()).is_err() {
            task.run();
        }
    }

    fn spawn(&self, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let number = self.0.names.fetch_add(1, Ordering::Relaxed);
        let thread = thread::Builder::new().name(format!("hlo run {number}")).stack_size(STACK);
        thread.spawn(body).map(drop)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does jobs until there has been none for a while.
    fn serve(&self) {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job.run();
                state = self.state();
                continue;
            }
            state.idle += 1;
            let (woken, waited) =
                self.work.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }

    /// There is no thread to be had: if there is none at all, the caller does what there is.
    fn without_thread(&self) {
        let mut state = self.state();
        state.threads -= 1;
        while state.threads == 0 {
            let Some(job) = state.jobs.pop_front() else { return };
            drop(state);
            job.run();
            state = self.state();
        }
    }
}
