//! Threads for asynchronous runs.
//!
//! A run enters the pool once all its arguments are ready, so no thread of the pool waits for another run.
//! Runs are ordered only by their arguments. Runs that call functions of the caller are an exception: such a
//! function may start runs and wait for them. Each of these runs has its own thread.

use crate::task::{Task, is_running};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Stack size of the threads, in bytes. The interpreter recurses over called computations.
const WORKER_STACK_BYTES: usize = 16 << 20;

/// Time that an idle thread waits for another job before it ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of unfinished runs. A caller that starts another run waits.
const MAX_UNFINISHED_RUNS: usize = 64;

/// A pool of threads, which start when there is work and end when there is none.
pub struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Signals that there is a job.
    work: Condvar,
    /// Signals that another run can start.
    room: Condvar,
    most_threads: usize,
    names: AtomicUsize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Arc<Task>>,
    /// Number of threads, and number of threads that wait for a job.
    threads: usize,
    idle: usize,
    /// Number of runs that were started and are not over.
    runs: usize,
}

/// Number of unfinished runs of all clients: those that call no functions of the caller, and those that do.
static UNFINISHED_RUNS: Mutex<[usize; 2]> = Mutex::new([0; 2]);

/// Signals that a run has ended.
static RUN_FINISHED: Condvar = Condvar::new();

/// Time that [`hlo_pjrt_wait_for_runs`] waits for runs that call no functions of the caller.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// An unfinished run whose end the caller may wait for.
pub struct Unfinished {
    calls: bool,
}

impl Unfinished {
    /// Adds a run. `calls` tells whether it calls functions of the caller.
    pub fn new(calls: bool) -> Self {
        UNFINISHED_RUNS.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(calls)] += 1;
        Self { calls }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED_RUNS.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(self.calls)] -= 1;
        RUN_FINISHED.notify_all();
    }
}

/// Waits until all runs that call functions of the caller are over, and up to one second for the other runs.
/// The caller calls this before it exits, because a run that called Python later would end the process.
#[unsafe(no_mangle)]
pub extern "C" fn hlo_pjrt_wait_for_runs() {
    if is_running() {
        return;
    }
    let start = Instant::now();
    let mut unfinished = UNFINISHED_RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let left = SHUTDOWN_TIMEOUT.saturating_sub(start.elapsed());
        match *unfinished {
            [0, 0] => return,
            [_, 0] if left.is_zero() => return,
            [_, 0] => {
                let woken = RUN_FINISHED.wait_timeout(unfinished, left);
                unfinished = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
            _ => unfinished = RUN_FINISHED.wait(unfinished).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// A started run. It is over when this value is dropped.
pub struct Ticket(Arc<Shared>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.state().runs -= 1;
        self.0.room.notify_one();
    }
}

impl Pool {
    /// Creates a pool without threads, which starts up to `threads` of them. With 0, the limit is the number
    /// of processors, but at least 2 and at most 16.
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

    /// Starts a run. If too many runs are unfinished, the caller waits, so that a program that never reads
    /// its results does not exhaust the memory. Runs that another run starts do not wait.
    pub fn admit(&self) -> Ticket {
        let mut state = self.0.state();
        while state.runs >= MAX_UNFINISHED_RUNS && !is_running() {
            state = self.0.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.runs += 1;
        Ticket(self.0.clone())
    }

    /// Queues a job that waits for no other job.
    pub fn push(&self, job: impl FnOnce() + Send + 'static) {
        self.push_task(Task::new(job));
    }

    /// Queues a task that waits for no other job. Another thread may start it before the pool does.
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

    /// Runs a job that may wait for other jobs, on its own thread.
    pub fn push_apart(&self, job: impl FnOnce() + Send + 'static) {
        let task = Task::new(job);
        let there = task.clone();
        // Without a thread, the caller executes the job.
        if self.spawn(move || there.run()).is_err() {
            task.run();
        }
    }

    fn spawn(&self, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let number = self.0.names.fetch_add(1, Ordering::Relaxed);
        let thread = thread::Builder::new().name(format!("hlo run {number}")).stack_size(WORKER_STACK_BYTES);
        thread.spawn(body).map(drop)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes jobs until there has been none for `IDLE_TIMEOUT`.
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
                self.work.wait_timeout(state, IDLE_TIMEOUT).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }

    /// Handles the failure to start a thread. If the pool has no threads, the caller executes the queued
    /// jobs.
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
