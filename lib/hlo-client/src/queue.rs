//! Queues of asynchronous runs, which execute in the order in which they were started.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Mutex, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

/// Stack size of the worker threads, in bytes. The interpreter recurses over called computations.
const WORKER_STACK_BYTES: usize = 16 << 20;

/// A queue of jobs that a thread executes one after the other. The thread starts with the first job and ends
/// when the queue is dropped and empty.
///
/// Waiting jobs cannot deadlock: a job waits only for jobs that were queued before it, in this queue or
/// another one. Code that a job calls must not wait for later jobs.
#[derive(Debug)]
pub(crate) struct Queue {
    device: usize,
    worker: Mutex<Worker>,
}

/// The thread that executes the jobs.
#[derive(Debug)]
enum Worker {
    /// There has been no job yet.
    Unneeded,
    Thread(Sender<Job>),
    /// No thread could be started, so the caller of `push` executes the job.
    Caller,
}

impl Queue {
    pub(crate) fn new(device: usize) -> Self {
        Self { device, worker: Mutex::new(Worker::Unneeded) }
    }

    /// Queues a job. If there is no thread for it, the caller executes it.
    pub(crate) fn push(&self, job: impl FnOnce() + Send + 'static) {
        let order = INSERTION_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = self.try_push(Box::new(job));
        drop(order);
        if let Err(job) = refused {
            job();
        }
    }

    /// Queues a job, or returns it if there is no thread for it.
    fn try_push(&self, job: Job) -> Result<(), Job> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*worker, Worker::Unneeded) {
            *worker = start(self.device).map_or(Worker::Caller, Worker::Thread);
        }
        match &*worker {
            Worker::Thread(sender) => sender.send(job).map_err(|SendError(job)| job),
            Worker::Unneeded | Worker::Caller => Err(job),
        }
    }
}

/// Serializes insertions into queues. A job for several queues enters all of them before another job enters
/// any of them. All jobs therefore have one total order, and each job waits only for earlier ones.
static INSERTION_LOCK: Mutex<()> = Mutex::new(());

/// Queues a job that runs once all of `queues` have reached it. The queues continue after it has ended.
pub(crate) fn push_on_all<'a>(queues: impl Iterator<Item = &'a Queue>, job: impl FnOnce() + Send + 'static) {
    let order = INSERTION_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let mut queues = queues;
    let Some(first) = queues.next() else { return };
    let (arrived, arrivals) = channel::<()>();
    let mut done = Vec::new();
    for queue in queues {
        let (end, ended) = channel::<()>();
        let arrived = arrived.clone();
        let waits = move || {
            drop(arrived);
            // Nothing is sent. The call returns when the job is dropped, whether it ran or not.
            let _ = ended.recv();
        };
        // Without a thread there are no earlier jobs to wait for, because callers have executed them.
        if queue.try_push(Box::new(waits)).is_ok() {
            done.push(end);
        }
    }
    drop(arrived);
    let all = move || {
        // Nothing is sent. The call returns when all other queues have reached the job.
        let _ = arrivals.recv();
        job();
        drop(done);
    };
    let refused = first.try_push(Box::new(all));
    drop(order);
    if let Err(all) = refused {
        all();
    }
}

/// Starts a thread that executes jobs until all senders are dropped.
fn start(device: usize) -> Option<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let thread =
        std::thread::Builder::new().name(format!("hlo device {device}")).stack_size(WORKER_STACK_BYTES);
    let work = move || {
        for job in jobs {
            // Code that waits for the job sees that it did not finish.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    };
    thread.spawn(work).ok().map(|_| sender)
}
