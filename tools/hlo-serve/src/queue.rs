//! Work that waits for a thread: whose clients have had least time so far goes first.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much stack a thread has: parsers, passes and the interpreter recurse.
const STACK: usize = 256 << 20;

/// A piece of work.
pub type Work = Box<dyn FnOnce() + Send>;

/// The largest number of threads that do overdue work, besides those of the queue.
const MAX_RELIEVED: usize = 64;

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
    /// The threads that one client may have at once: one is left to the others.
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    lanes: HashMap<u64, Lane>,
    /// The time that clients had whose work was begun last: whoever comes later has had as much.
    clock: Duration,
    waited: Duration,
    running: usize,
    closed: bool,
    tickets: u64,
    /// Overdue work that goes on, each on a thread that another one has replaced.
    relieved: Vec<Ticket>,
}

/// The work of a client.
#[derive(Default)]
struct Lane {
    waiting: VecDeque<(Ticket, Work, Instant)>,
    /// When the work began that is under way.
    running: Vec<(Ticket, Instant)>,
    /// The time that work took that is over.
    had: Duration,
    /// True once the client was forgotten.
    gone: bool,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lane").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

impl Lane {
    /// The time that the client has had by now.
    fn had(&self, now: Instant) -> Duration {
        self.running.iter().fold(self.had, |sum, (_, began)| sum + now.saturating_duration_since(*began))
    }
}

impl Queue {
    /// A queue with so many threads.
    ///
    /// # Errors
    /// The system starts no further thread.
    pub fn new(name: &str, threads: usize) -> std::io::Result<Self> {
        let threads = threads.max(1);
        let most = if threads > 1 { threads - 1 } else { 1 };
        let shared = Shared { name: name.to_string(), state: Mutex::default(), wake: Condvar::new(), most };
        let queue = Self(Arc::new(shared));
        for _ in 0..threads {
            // If this fails, the queue is dropped, which ends those before.
            queue.spawn()?;
        }
        Ok(queue)
    }

    fn spawn(&self) -> std::io::Result<()> {
        let shared = self.0.clone();
        let builder = std::thread::Builder::new().name(shared.name.clone()).stack_size(STACK);
        builder.spawn(move || shared.serve()).map(drop)
    }

    /// Adds work of a client. Once the queue is closed it is dropped.
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
            // Time that was not used is not saved up.
            lane.had = lane.had.max(clock);
        }
        lane.waiting.push_back((ticket, work, Instant::now()));
        drop(state);
        self.0.wake.notify_one();
        ticket
    }

    /// Starts another thread in place of the one that does this work, if it still does. The work was told to end and has not
    /// ended: the other clients do not wait for it. It still counts as work of its client. There are at most 64 such threads.
    pub fn relieve(&self, ticket: Ticket) {
        let mut state = self.0.lock();
        if !state.is_running(ticket)
            || state.relieved.contains(&ticket)
            || state.relieved.len() >= MAX_RELIEVED
        {
            return;
        }
        // Without another thread, the one that is busy goes on with the queue's work later.
        if self.spawn().is_ok() {
            state.relieved.push(ticket);
        }
    }

    /// Forgets a client, and the work that it waits for.
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
        // What it holds may take locks.
        drop(dropped);
    }

    /// How much work is under way, how much waits, and how long all together has waited.
    pub fn load(&self) -> (usize, usize, Duration) {
        let state = self.0.lock();
        (state.running, state.lanes.values().map(|l| l.waiting.len()).sum(), state.waited)
    }

    /// True once it does no further work.
    pub fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    /// Drops what waits. Threads end after what they do.
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
        // Nothing panics while it has the lock.
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
            // A defect ends this work only: whoever waits for it sees that it is gone.
            let _ = catch_unwind(AssertUnwindSafe(work));
            state = self.lock();
            let is_relieved = state.finish(client, ticket);
            // Work of this client may wait for its turn.
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

    /// The work to be done next, of the client that has had least time.
    fn next(&mut self, most: usize) -> Option<(u64, Ticket, Work)> {
        let now = Instant::now();
        let ready = self.lanes.iter_mut().filter(|(_, l)| !l.waiting.is_empty() && l.running.len() < most);
        let (&client, lane) = ready.min_by_key(|(client, lane)| (lane.had(now), **client))?;
        let (ticket, work, since) = lane.waiting.pop_front()?;
        let had = lane.had(now);
        lane.running.push((ticket, now));
        self.clock = self.clock.max(had);
        self.waited += now.saturating_duration_since(since);
        self.running += 1;
        Some((client, ticket, work))
    }

    /// Notes that work is over, and returns whether its thread was replaced.
    fn finish(&mut self, client: u64, ticket: Ticket) -> bool {
        self.running -= 1;
        let relieved = self.relieved.iter().position(|t| *t == ticket);
        let is_relieved = relieved.map(|at| self.relieved.swap_remove(at)).is_some();
        let Some(lane) = self.lanes.get_mut(&client) else { return is_relieved };
        if let Some(at) = lane.running.iter().position(|(t, _)| *t == ticket) {
            lane.had += lane.running.swap_remove(at).1.elapsed();
        }
        // A client that has had no more than others is like one that comes now.
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
        // One thread was left to it: nothing of it waits for more than what is under way.
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
        // After half the time both have had about half of theirs.
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
        // Work that waits has no thread to replace.
        queue.relieve(waits);
        queue.relieve(overdue);
        queue.relieve(overdue);
        assert_eq!(queue.0.lock().relieved, [overdue]);
        push(2);
        assert_eq!(done.recv_timeout(Duration::from_secs(10)), Ok(2));
        // The client whose work is overdue has its thread.
        assert!(done.recv_timeout(Duration::from_millis(50)).is_err());
        release.send(()).unwrap();
        assert_eq!([done.recv().unwrap(), done.recv().unwrap()], [1, 1]);
        assert!(queue.0.lock().relieved.is_empty());
        queue.relieve(overdue);
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
