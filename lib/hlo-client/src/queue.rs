//! Runs that nobody waits for, in the order in which they were started.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Mutex, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

/// The interpreter recurses over called computations.
const STACK: usize = 16 << 20;

/// Jobs that a thread of its own does one after the other. The thread is there from the first job on until the queue is
/// dropped, and what was in it is done.
///
/// A job that waits for what another one computes does not wait for ever: that one was there before, in this queue or
/// another, and so on. (What a job calls is not the program that started it: it must not wait for later ones.)
#[derive(Debug)]
pub(crate) struct Queue {
    device: usize,
    worker: Mutex<Worker>,
}

/// Who does the jobs.
#[derive(Debug)]
enum Worker {
    /// Nobody yet: there was no job.
    Unneeded,
    Thread(Sender<Job>),
    /// Whoever has a job: there is no thread to be had.
    Caller,
}

impl Queue {
    pub(crate) fn new(device: usize) -> Self {
        Self { device, worker: Mutex::new(Worker::Unneeded) }
    }

    /// Has a job done. If there is no thread for it, the caller does it.
    pub(crate) fn push(&self, job: impl FnOnce() + Send + 'static) {
        let order = ORDER.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = self.try_push(Box::new(job));
        drop(order);
        if let Err(job) = refused {
            job();
        }
    }

    /// Has a job done, or gives it back if there is no thread for it.
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

/// Whoever puts something into queues: a job of several is in all of them before anything else is put into one. So all jobs are in
/// one order, and each waits for earlier ones only.
static ORDER: Mutex<()> = Mutex::new(());

/// Has a job done once all of several queues have come to it, none of which goes on before it is done.
pub(crate) fn push_on_all<'a>(queues: impl Iterator<Item = &'a Queue>, job: impl FnOnce() + Send + 'static) {
    let order = ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut queues = queues;
    let Some(first) = queues.next() else { return };
    let (arrived, arrivals) = channel::<()>();
    let mut done = Vec::new();
    for queue in queues {
        let (end, ended) = channel::<()>();
        let arrived = arrived.clone();
        let waits = move || {
            drop(arrived);
            // Nothing is sent: it ends when the job is dropped, done or not.
            let _ = ended.recv();
        };
        // Without a thread there is nothing before it to wait for: a caller did what there was.
        if queue.try_push(Box::new(waits)).is_ok() {
            done.push(end);
        }
    }
    drop(arrived);
    let all = move || {
        // Nothing is sent: it ends when the last one has come.
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

/// A thread that does jobs until nobody can send any more.
fn start(device: usize) -> Option<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let thread = std::thread::Builder::new().name(format!("hlo device {device}")).stack_size(STACK);
    let work = move || {
        for job in jobs {
            // Whoever waits for it hears that it did not come to its end.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    };
    thread.spawn(work).ok().map(|_| sender)
}
