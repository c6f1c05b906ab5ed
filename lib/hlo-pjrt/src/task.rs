//! Tasks that run once: on a thread of the pool, or on the thread of a caller that needs the result. Waking a
//! thread takes tens of microseconds, and more on a virtual machine. A short run takes less.

use crate::fault::catch;
use std::cell::Cell;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

thread_local! {
    /// Whether this thread executes a run, or a function that a run calls. Such a thread must not wait for
    /// runs.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

type Job = Box<dyn FnOnce() + Send>;

/// A job that runs once.
pub struct Task(Mutex<Option<Job>>);

impl Task {
    /// Creates a task from a job.
    pub fn new(job: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(Box::new(job)))))
    }

    /// Runs the job, unless another thread has started it.
    pub fn run(&self) {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(job) = job {
            // Code that waits for the job detects its failure by the values that it drops.
            let _ = catch(|| {
                running(job);
                Ok(())
            });
        }
    }
}

/// A reference from a promise to the task that fulfils it. It is empty until the task can start, or if only
/// the pool may run the task.
#[derive(Clone, Default)]
pub struct TaskReference(Arc<OnceLock<Weak<Task>>>);

impl TaskReference {
    /// Allows any thread to run the task from now on.
    pub fn offer(&self, task: &Arc<Task>) {
        let _ = self.0.set(Arc::downgrade(task));
    }

    /// Runs the task if no thread has started it.
    pub fn run_if_not_started(&self) {
        if let Some(task) = self.0.get().and_then(Weak::upgrade) {
            task.run();
        }
    }
}

/// Executes `body`, which other threads may wait for, on this thread. `body` must not wait for them.
fn running<T>(body: impl FnOnce() -> T) -> T {
    let before = IS_RUNNING.replace(true);
    let value = body();
    IS_RUNNING.set(before);
    value
}

/// Returns whether this thread executes a run, or a function that a run calls.
pub fn is_running() -> bool {
    IS_RUNNING.get()
}
