//! Queues of work. The work of the client that has used the least time runs first.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Stack size of the threads, in bytes. Parsers, passes and the interpreter recurse.
const WORKER_STACK_BYTES: usize = 256 << 20;

/// A piece of work.
pub type Work = Box<dyn FnOnce() + Send>;

/// Maximum number of additional threads that replace threads with overdue work.
const MAX_REPLACEMENT_THREADS: usize = 64;

/// A queue with its threads, which end when it is closed.
#[derive(Debug)]
pub struct Queue(Arc<Shared>);

/// The number of a piece of work in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

#[derive(Debug)]
struct Shared {
    name: String,
    state: Mutex<State>,
    wake: Condvar,
    /// Maximum number of threads that one client can use at once. At least one thread stays free for other
    /// clients if the queue has several.
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    lanes: HashMap<u64, Lane>,
    /// The time that had been used by the client whose work started last. A new client starts with this time.
    clock: Duration,
    waited: Duration,
    running: usize,
    closed: bool,
    tickets: u64,
    /// Overdue work that still runs on a thread that was replaced.
    relieved: Vec<Ticket>,
}

/// The work of a client.
#[derive(Default)]
struct Lane {
    waiting: VecDeque<(Ticket, Work, Instant)>,
    /// The running work, and when it started.
    running: Vec<(Ticket, Instant)>,
    /// Total time of the finished work.
    had: Duration,
    /// Whether the client has been removed.
    gone: bool,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lane").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

impl Lane {
    /// Returns the time that the client has used until now.
    fn used_time(&self, now: Instant) -> Duration {
        self.running.iter().fold(self.had, |sum, (_, began)| sum + now.saturating_duration_since(*began))
    }
}

impl Queue {
    /// Creates a queue with `threads` threads.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub fn new(name: &str, threads: usize) -> std::io::Result<Self> {
        let threads = threads.max(1);
        let most = if threads > 1 { threads - 1 } else { 1 };
        let shared = Shared { name: name.to_string(), state: Mutex::default(), wake: Condvar::new(), most };
        let queue = Self(Arc::new(shared));
        for _ in 0..threads {
            // If this fails, the queue is dropped, which ends the threads started before.
            queue.spawn()?;
        }
        Ok(queue)
    }

    fn spawn(&self) -> std::io::Result<()> {
        let shared = self.0.clone();
        let builder = std::thread::Builder::new().name(shared.name.clone()).stack_size(WORKER_STACK_BYTES);
        builder.spawn(move || shared.serve()).map(drop)
    }

    /// Adds work of a client. A closed queue drops the work.
    pub fn push(&self, client: u64, work: Work) -> Ticket {
        let mut state = self.0.lock();
        state.tickets += 1;
        let ticket = Ticket(state.tickets);
        if state.closed {
            return ticket;
        }
        let clock = state.clock;
        let lane = state.lanes.entry(client).or_default();
        if lane.waiting.is_empty() && lane.running.is_empty() {
            // Clients do not accumulate unused time.
            lane.had = lane.had.max(clock);
        }
        lane.waiting.push_back((ticket, work, Instant::now()));
        drop(state);
        self.0.wake.notify_one();
        ticket
    }

    /// Starts another thread in place of the thread that runs this work, if the work is still running. Call
    /// this for work that was asked to stop and has not stopped, so that other clients do not wait for it.
    /// The work still counts as work of its client. There are at most 64 such threads.
    pub fn replace_thread(&self, ticket: Ticket) {
        let mut state = self.0.lock();
        if !state.is_running(ticket)
            || state.relieved.contains(&ticket)
            || state.relieved.len() >= MAX_REPLACEMENT_THREADS
        {
            return;
        }
        // Without another thread, the busy thread continues with the queue when its work ends.
        if self.spawn().is_ok() {
            state.relieved.push(ticket);
        }
    }

    /// Removes a client and its waiting work.
    pub fn forget(&self, client: u64) {
        let mut state = self.0.lock();
        let dropped = state.lanes.get_mut(&client).map(|lane| {
            lane.gone = true;
            std::mem::take(&mut lane.waiting)
        });
        if state.lanes.get(&client).is_some_and(|lane| lane.running.is_empty()) {
            state.lanes.remove(&client);
        }
        drop(state);
        // Dropping the work may take locks.
        drop(dropped);
    }

    /// Returns the number of running and of waiting pieces of work, and the total waiting time so far.
    pub fn load(&self) -> (usize, usize, Duration) {
        let state = self.0.lock();
        (state.running, state.lanes.values().map(|l| l.waiting.len()).sum(), state.waited)
    }

    /// Returns whether the queue has been closed.
    pub fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    /// Closes the queue and drops the waiting work. Threads end after their current work.
    pub fn close(&self) {
        let mut state = self.0.lock();
        state.closed = true;
        let dropped: Vec<_> = state.lanes.values_mut().map(|l| std::mem::take(&mut l.waiting)).collect();
        drop(state);
        drop(dropped);
        self.0.wake.notify_all();
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        let mut state = self.lock();
        loop {
            let Some((client, ticket, work)) = state.next(self.most) else {
                if state.closed {
                    return;
                }
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            // A panic ends only this work. Code that waits for it sees that it was dropped.
            let _ = catch_unwind(AssertUnwindSafe(work));
            state = self.lock();
            let is_relieved = state.finish(client, ticket);
            // Another piece of work of this client may be waiting.
            self.wake.notify_one();
            if is_relieved {
                return;
            }
        }
    }
}

impl State {
    fn is_running(&self, ticket: Ticket) -> bool {
        self.lanes.values().any(|lane| lane.running.iter().any(|(t, _)| *t == ticket))
    }

    /// Returns the next work: that of the client that has used the least time.
    fn next(&mut self, most: usize) -> Option<(u64, Ticket, Work)> {
        let now = Instant::now();
        let ready = self.lanes.iter_mut().filter(|(_, l)| !l.waiting.is_empty() && l.running.len() < most);
        let (&client, lane) = ready.min_by_key(|(client, lane)| (lane.used_time(now), **client))?;
        let (ticket, work, since) = lane.waiting.pop_front()?;
        let had = lane.used_time(now);
        lane.running.push((ticket, now));
        self.clock = self.clock.max(had);
        self.waited += now.saturating_duration_since(since);
        self.running += 1;
        Some((client, ticket, work))
    }

    /// Records the end of work, and returns whether its thread was replaced.
    fn finish(&mut self, client: u64, ticket: Ticket) -> bool {
        self.running -= 1;
        let relieved = self.relieved.iter().position(|t| *t == ticket);
        let is_relieved = relieved.map(|at| self.relieved.swap_remove(at)).is_some();
        let Some(lane) = self.lanes.get_mut(&client) else { return is_relieved };
        if let Some(at) = lane.running.iter().position(|(t, _)| *t == ticket) {
            lane.had += lane.running.swap_remove(at).1.elapsed();
        }
        // A client that has used no more time than others is treated as a new client.
        if lane.running.is_empty() && lane.waiting.is_empty() && (lane.gone || lane.had <= self.clock) {
            self.lanes.remove(&client);
        }
        is_relieved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn nap(millis: u64) {
        std::thread::sleep(Duration::from_millis(millis));
    }

    #[test]
    fn a_light_client_does_not_wait_for_a_heavy_one() {
        let queue = Queue::new("test", 2).unwrap();
        let (sender, done) = channel();
        for _ in 0..20 {
            let sender = sender.clone();
            queue.push(
                1,
                Box::new(move || {
                    nap(20);
                    let _ = sender.send(1);
                }),
            );
        }
        nap(5);
        for _ in 0..5 {
            let sender = sender.clone();
            queue.push(
                2,
                Box::new(move || {
                    let _ = sender.send(2);
                }),
            );
        }
        drop(sender);
        let order: Vec<u64> = done.into_iter().collect();
        assert_eq!(order.len(), 25);
        let last = order.iter().rposition(|&c| c == 2).unwrap();
        // One thread was left to the client, so its work waits only for work that is already running.
        assert!(last <= 6, "{order:?}");
    }

    #[test]
    fn clients_get_the_same_time_whatever_their_pieces() {
        let queue = Queue::new("test", 1).unwrap();
        let (sender, done) = channel();
        for (client, pieces, millis) in [(1, 10, 20), (2, 40, 5)] {
            for _ in 0..pieces {
                let sender = sender.clone();
                queue.push(
                    client,
                    Box::new(move || {
                        nap(millis);
                        let _ = sender.send(client);
                    }),
                );
            }
        }
        drop(sender);
        let order: Vec<u64> = done.into_iter().collect();
        // After half of the time, each client has finished about half of its work.
        let first = order.iter().take(25).filter(|&&c| c == 1).count();
        assert!((3..=8).contains(&first), "{order:?}");
    }

    #[test]
    fn a_panic_ends_its_work_only() {
        let queue = Queue::new("test", 1).unwrap();
        let (sender, done) = channel();
        let lost = sender.clone();
        queue.push(
            1,
            Box::new(move || {
                let _held = lost;
                std::panic::resume_unwind(Box::new("a defect"));
            }),
        );
        queue.push(
            1,
            Box::new(move || {
                let _ = sender.send(());
            }),
        );
        assert_eq!(done.into_iter().count(), 1);
    }

    #[test]
    fn overdue_work_does_not_keep_others_waiting() {
        let queue = Queue::new("test", 1).unwrap();
        let (release, hold) = channel::<()>();
        let (sender, done) = channel();
        let slow = sender.clone();
        let overdue = queue.push(
            1,
            Box::new(move || {
                let _ = hold.recv();
                let _ = slow.send(1);
            }),
        );
        let push = |client| {
            let sender = sender.clone();
            queue.push(
                client,
                Box::new(move || {
                    let _ = sender.send(client);
                }),
            )
        };
        let waits = push(1);
        nap(10);
        // Waiting work has no thread to replace.
        queue.replace_thread(waits);
        queue.replace_thread(overdue);
        queue.replace_thread(overdue);
        assert_eq!(queue.0.lock().relieved, [overdue]);
        push(2);
        assert_eq!(done.recv_timeout(Duration::from_secs(10)), Ok(2));
        // The client with the overdue work is using its thread.
        assert!(done.recv_timeout(Duration::from_millis(50)).is_err());
        release.send(()).unwrap();
        assert_eq!([done.recv().unwrap(), done.recv().unwrap()], [1, 1]);
        assert!(queue.0.lock().relieved.is_empty());
        queue.replace_thread(overdue);
        assert!(queue.0.lock().relieved.is_empty());
    }

    #[test]
    fn what_waits_is_dropped_with_its_client() {
        let queue = Queue::new("test", 1).unwrap();
        let (sender, done) = channel();
        queue.push(1, Box::new(|| nap(50)));
        nap(10);
        let waiting = sender.clone();
        queue.push(
            2,
            Box::new(move || {
                let _ = waiting.send(());
            }),
        );
        drop(sender);
        assert_eq!((queue.load().0, queue.load().1), (1, 1));
        queue.forget(2);
        assert_eq!(done.into_iter().count(), 0);
    }
}
