//! What is done once, by whoever comes first: a thread of the pool, or a caller who can't go on without it. Waking a thread takes
//! tens of microseconds, and more on a virtual machine, in which a short run is over.

use crate::fault::catch;
use crate::pool::running;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

type Job = Box<dyn FnOnce() + Send>;

/// What is done once.
pub struct Task(Mutex<Option<Job>>);

impl Task {
    /// Something to be done.
    pub fn new(job: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(Box::new(job)))))
    }

    /// Does it, unless somebody has begun.
    pub fn run(&self) {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(job) = job {
            // Whoever waits for it hears of it by what it drops.
            let _ = catch(|| {
                running(job);
                Ok(())
            });
        }
    }
}

/// Where whoever waits for a value finds the task that makes it; nothing as long as that can't be begun, or nobody but the pool may do it.
#[derive(Clone, Default)]
pub struct Maker(Arc<OnceLock<Weak<Task>>>);

impl Maker {
    /// Anybody may do the task from now on.
    pub fn offer(&self, task: &Arc<Task>) {
        let _ = self.0.set(Arc::downgrade(task));
    }

    /// Does the task, if nobody has begun it.
    pub fn hurry(&self) {
        if let Some(task) = self.0.get().and_then(Weak::upgrade) {
            task.run();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::Promise;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_task_is_done_once_by_whoever_comes_first() {
        let times = Arc::new(AtomicU32::new(0));
        let count = times.clone();
        let task = Task::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let maker = Maker::default();
        maker.hurry();
        assert_eq!(times.load(Ordering::Relaxed), 0, "it is not offered yet");
        maker.offer(&task);
        maker.hurry();
        task.run();
        assert_eq!(times.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn who_waits_makes_what_nobody_has_begun() {
        let maker = Maker::default();
        let promise = Arc::new(Promise::by(maker.clone()));
        let (there, caller) = (promise.clone(), std::thread::current().id());
        let task = Task::new(move || {
            there.keep(Ok(std::thread::current().id() == caller));
        });
        maker.offer(&task);
        assert!(matches!(promise.wait(), Ok(true)), "on this thread, as there is no other");
    }
}
