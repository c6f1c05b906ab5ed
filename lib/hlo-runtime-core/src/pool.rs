//! A fixed pool of threads for fork-join loops. Several loops may run at the same time, for example those of
//! the devices of a program, or of different programs. Contexts with the same number of threads share one
//! pool.
//!
//! Each running loop occupies a *stand*, where workers look for work. Each worker starts its search at a
//! different stand, so that the workers spread over the running loops. A worker that finds no work at one
//! stand tries the next. Threads, including the calling thread, claim chunks one by one. A loop that ends
//! before a worker has woken up does not wait for that worker, which keeps short loops cheap. Workers spin
//! for a few microseconds before they sleep, so that loops in quick succession do not wake them up again each
//! time.
//!
//! On a machine with other load, a worker may lose its core in the middle of a chunk. The loop then waits for
//! milliseconds. So the pool keeps an account of the time that workers saved and cost ([`crate::account`]).
//! While workers cost more than they save, a loop runs on its calling thread alone until it has run for
//! longer than such a wait.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::float_mode::StandardFloats;

/// The bit of `LoopSlot::state` that is set while workers may join the current job.
const OPEN_FLAG: u64 = 1 << 31;
/// The low bits of `LoopSlot::state`: the number of workers inside the current job.
const WORKER_COUNT_MASK: u64 = OPEN_FLAG - 1;
/// The position of the job's generation in `LoopSlot::state`, above the flag and the count.
const GENERATION_SHIFT: u32 = 32;
/// The number of times that a thread looks for work, or for the end of a loop, before it sleeps.
const SPIN_COUNT: u32 = 1000;
/// The time that a loop runs on its calling thread alone while workers cost more than they save.
const CALLER_ONLY_DURATION: Duration = Duration::from_micros(400);

/// The maximum number of loops with workers at the same time. Other loops run on their calling threads alone.
const MAX_CONCURRENT_LOOPS: usize = 8;

/// The body of a loop, called with the number of each chunk.
type Body<'a> = dyn Fn(usize) + Sync + 'a;

struct Job {
    /// The body with its lifetime erased. [`Pool::run`] does not return while a worker is inside.
    body: *const Body<'static>,
    chunks: usize,
    caller: Thread,
}

/// A slot where a loop offers its chunks to workers.
#[repr(align(128))]
struct LoopSlot {
    /// The generation, the [`OPEN_FLAG`] flag and the [`WORKER_COUNT_MASK`] count of the current job.
    state: AtomicU64,
    /// Written only by the owner of `busy`, while the state is closed and no worker is inside.
    job: UnsafeCell<Option<Job>>,
    /// The next chunk to claim.
    next: AtomicUsize,
    /// Whether a thread is running a loop here. The thread that sets it owns the stand.
    busy: AtomicBool,
    /// Accessed only by the owner of `busy`.
    account: UnsafeCell<Account>,
    /// Whether a worker panicked in the current job.
    panicked: AtomicBool,
}

// SAFETY: `job` and `account` are accessed only as described on them; everything else is atomic.
unsafe impl Sync for LoopSlot {}
// SAFETY: as for `Sync`: the raw pointer in `job` is used only while the loop that owns it is running.
unsafe impl Send for LoopSlot {}

struct Shared {
    stands: [LoopSlot; MAX_CONCURRENT_LOOPS],
    stop: AtomicBool,
    /// The number of times that a worker looks for work before it sleeps; 0 while other load needs its core.
    spins: AtomicU32,
}

thread_local! {
    /// Whether this thread is running a chunk of a loop. A nested loop then runs on this thread alone.
    static IN_LOOP: Cell<bool> = const { Cell::new(false) };
}

/// The threads in addition to the calling thread.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// The number of spins while workers save more than they cost.
    spins: u32,
}

impl Pool {
    /// Returns the process-wide pool of `workers` threads. The pool exists as long as someone holds it.
    pub(crate) fn shared(workers: usize) -> Arc<Pool> {
        static POOLS: Mutex<Option<HashMap<usize, Weak<Pool>>>> = Mutex::new(None);
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let pools = pools.get_or_insert_with(HashMap::new);
        if let Some(pool) = pools.get(&workers).and_then(Weak::upgrade) {
            return pool;
        }
        pools.retain(|_, pool| pool.strong_count() > 0);
        let pool = Arc::new(Pool::new(workers));
        pools.insert(workers, Arc::downgrade(&pool));
        pool
    }

    /// Starts `workers` threads, without those that the system refuses to start.
    pub(crate) fn new(workers: usize) -> Pool {
        // Spinning helps only while every thread has its own core.
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let spins = if workers < cores { SPIN_COUNT } else { 0 };
        let stand = |_| LoopSlot {
            state: AtomicU64::new(0),
            job: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            account: UnsafeCell::new(Account::new(Instant::now())),
            panicked: AtomicBool::new(false),
        };
        let shared = Arc::new(Shared {
            stands: std::array::from_fn(stand),
            stop: AtomicBool::new(false),
            spins: AtomicU32::new(spins),
        });
        let workers = (0..workers)
            .filter_map(|i| {
                let shared = Arc::clone(&shared);
                std::thread::Builder::new()
                    .name(format!("hlo-worker-{}", i + 1))
                    .spawn(move || shared.work_until_stopped(i))
                    .ok()
            })
            .collect();
        Pool { shared, workers, spins }
    }

    /// Calls `body` for every chunk in `0..chunks` on the calling thread and the workers, and returns when
    /// all are done. The loop runs on the calling thread alone if it is nested or if all stands are busy. If
    /// a body panics, this function resumes the panic after every thread has left the loop.
    pub(crate) fn run(&self, chunks: usize, body: &Body<'_>) {
        let shared = &*self.shared;
        let may_have_help = !self.workers.is_empty() && chunks > 1 && !IN_LOOP.get();
        let stand = if may_have_help {
            shared.stands.iter().find(|stand| !stand.busy.swap(true, Ordering::Acquire))
        } else {
            None
        };
        let Some(stand) = stand else { return (0..chunks).for_each(body) };
        // SAFETY: this thread owns `busy`.
        let account = unsafe { &mut *stand.account.get() };
        let start = Instant::now();
        let result = if account.may_wake_workers(start) {
            self.run_with_help(stand, 0, chunks, body, start, account)
        } else {
            match run_alone(chunks, body, start) {
                Ok(done) if done < chunks => {
                    self.run_with_help(stand, done, chunks, body, Instant::now(), account)
                }
                result => result.map(|_| ()),
            }
        };
        shared.spins.store(if account.is_in_debt() { 0 } else { self.spins }, Ordering::Relaxed);
        stand.busy.store(false, Ordering::Release);
        if let Err(panic) = result {
            resume_unwind(panic);
        }
    }

    /// Runs chunks `first..chunks` together with the workers, and enters the gain or loss into the account.
    fn run_with_help(
        &self,
        stand: &LoopSlot,
        first: usize,
        chunks: usize,
        body: &Body<'_>,
        start: Instant,
        account: &mut Account,
    ) -> std::thread::Result<()> {
        // SAFETY: only the lifetime changes. `close` below keeps this call from returning while the pointer
        // is used.
        let erased = unsafe { std::mem::transmute::<*const Body<'_>, *const Body<'static>>(body) };
        // SAFETY: this thread owns `busy`, and the previous owner left the state closed with no worker
        // inside.
        unsafe { *stand.job.get() = Some(Job { body: erased, chunks, caller: std::thread::current() }) };
        stand.next.store(first, Ordering::Relaxed);
        let generation = (stand.state.load(Ordering::Relaxed) >> GENERATION_SHIFT).wrapping_add(1);
        stand.state.store((generation << GENERATION_SHIFT) | OPEN_FLAG, Ordering::Release);
        for worker in self.workers.iter().take(chunks - first - 1) {
            worker.thread().unpark();
        }
        let called = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| stand.claim_chunks(body, chunks)));
        let claimed = Instant::now();
        stand.close(self.spins);
        let worker_panicked = stand.panicked.swap(false, Ordering::Relaxed);
        let own = result?;
        if worker_panicked {
            return Err(Box::new("a worker thread panicked") as Box<dyn Any + Send>);
        }
        account.enter(own, chunks - first - own, [start, called, claimed, Instant::now()]);
        Ok(())
    }
}

/// Runs chunks, starting with the first, until [`CALLER_ONLY_DURATION`] has passed. Returns the number of
/// chunks that ran.
fn run_alone(chunks: usize, body: &Body<'_>, start: Instant) -> std::thread::Result<usize> {
    catch_unwind(AssertUnwindSafe(|| {
        let _reset = Reset(IN_LOOP.replace(true));
        for chunk in 0..chunks {
            body(chunk);
            if start.elapsed() > CALLER_ONLY_DURATION {
                return chunk + 1;
            }
        }
        chunks
    }))
}

impl LoopSlot {
    /// Runs chunks until none remains, and returns the number of chunks that ran on this thread.
    fn claim_chunks(&self, body: &Body<'_>, chunks: usize) -> usize {
        let _reset = Reset(IN_LOOP.replace(true));
        for own in 0.. {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= chunks {
                return own;
            }
            body(chunk);
        }
        0
    }

    /// Lets no more workers in, and waits for those inside.
    fn close(&self, most_spins: u32) {
        let mut state = self.state.fetch_and(!OPEN_FLAG, Ordering::AcqRel) & !OPEN_FLAG;
        let mut spins = 0;
        while state & WORKER_COUNT_MASK != 0 {
            if spins < most_spins {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::park();
            }
            state = self.state.load(Ordering::Acquire);
        }
    }

    /// Enters the current job, unless there is none or this thread has already entered it. Returns whether it
    /// entered.
    fn enter(&self, seen: &mut u64) -> bool {
        let state = self.state.load(Ordering::Acquire);
        let generation = state >> GENERATION_SHIFT;
        if state & OPEN_FLAG == 0 || generation == *seen {
            return false;
        }
        let entered =
            self.state.compare_exchange(state, state + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if entered {
            *seen = generation;
        }
        entered
    }

    /// Runs chunks of the current job, which this thread has entered, and leaves it.
    fn take_part(&self) {
        // SAFETY: the calling thread does not change the job while this thread counts as inside.
        let job = unsafe { (*self.job.get()).as_ref() };
        let mut caller = None;
        if let Some(job) = job {
            caller = Some(job.caller.clone());
            // SAFETY: the body outlives the job.
            let body = unsafe { &*job.body };
            if catch_unwind(AssertUnwindSafe(|| self.claim_chunks(body, job.chunks))).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
                // The remaining chunks of a failed loop are not needed.
                self.next.store(job.chunks, Ordering::Relaxed);
            }
        }
        let before = self.state.fetch_sub(1, Ordering::AcqRel);
        if before & OPEN_FLAG == 0
            && before & WORKER_COUNT_MASK == 1
            && let Some(caller) = caller
        {
            caller.unpark();
        }
    }
}

/// Restores `IN_LOOP` when dropped, also after a panic.
struct Reset(bool);

impl Drop for Reset {
    fn drop(&mut self) {
        IN_LOOP.set(self.0);
    }
}

impl Shared {
    /// Runs worker `number`: looks for loops, first at the stand of the same number.
    fn work_until_stopped(&self, number: usize) {
        // The worker must not inherit the mode of the thread that created the pool.
        let _standard = StandardFloats::set();
        let mut seen = [0; MAX_CONCURRENT_LOOPS];
        let mut spins = 0;
        while !self.stop.load(Ordering::Acquire) {
            let mut order = (0..MAX_CONCURRENT_LOOPS).map(|n| (number + n) % MAX_CONCURRENT_LOOPS);
            let found = order.find(|&n| self.stands[n].enter(&mut seen[n]));
            if let Some(n) = found {
                spins = 0;
                self.stands[n].take_part();
            } else if spins < self.spins.load(Ordering::Relaxed) {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::park();
                spins = 0;
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        for worker in &self.workers {
            worker.thread().unpark();
        }
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its bodies, so there is no panic to report.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_runs_once() {
        for workers in 0..4 {
            let pool = Pool::new(workers);
            for chunks in [0, 1, 2, 7, 100, 1000] {
                let counts: Vec<AtomicUsize> = (0..chunks).map(|_| AtomicUsize::new(0)).collect();
                pool.run(chunks, &|i| {
                    counts[i].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn late_workers_do_not_hold_up_short_loops() {
        let pool = Pool::new(1);
        let caller = std::thread::current().id();
        let (loops, late) = (2000, Duration::from_millis(5));
        let start = Instant::now();
        let mut helped = 0;
        for _ in 0..loops {
            let by_worker = AtomicUsize::new(0);
            pool.run(2, &|_| {
                let alone = Instant::now();
                while alone.elapsed() < Duration::from_micros(20) {
                    std::hint::spin_loop();
                }
                if std::thread::current().id() != caller {
                    // Simulates a thread that lost its core.
                    by_worker.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(late);
                }
            });
            helped += by_worker.into_inner();
        }
        // If every loop waited for the worker, this would take ten seconds.
        assert!(helped < loops / 10, "{helped} of {loops} loops waited for the worker");
        assert!(start.elapsed() < late * loops as u32 / 4, "{:?}", start.elapsed());
    }

    #[test]
    fn long_loops_are_shared_whatever_happened_before() {
        let pool = Pool::new(1);
        let caller = std::thread::current().id();
        let by_worker = AtomicUsize::new(0);
        for _ in 0..20 {
            pool.run(20, &|_| {
                std::thread::sleep(Duration::from_millis(1));
                if std::thread::current().id() != caller {
                    by_worker.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
        }
        assert!(by_worker.into_inner() >= 20);
    }

    #[test]
    fn nested_loops_run_on_their_caller() {
        let pool = Pool::new(2);
        let total = AtomicUsize::new(0);
        pool.run(8, &|_| {
            pool.run(8, &|_| {
                total.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(total.into_inner(), 64);
    }

    #[test]
    fn loops_of_several_callers_all_have_help() {
        let pool = Pool::new(3);
        let threads = Mutex::new(HashMap::<usize, std::collections::HashSet<std::thread::ThreadId>>::new());
        std::thread::scope(|scope| {
            for caller in 0..2 {
                let (pool, threads) = (&pool, &threads);
                scope.spawn(move || {
                    for _ in 0..20 {
                        pool.run(16, &|_| {
                            std::thread::sleep(Duration::from_millis(1));
                            let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
                            threads.entry(caller).or_default().insert(std::thread::current().id());
                        });
                    }
                });
            }
        });
        let threads = threads.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(threads.values().all(|t| t.len() > 1), "{threads:?}");
    }

    #[test]
    fn pools_are_shared() {
        let (a, b, c) = (Pool::shared(1), Pool::shared(1), Pool::shared(2));
        assert!(Arc::ptr_eq(&a, &b) && !Arc::ptr_eq(&a, &c));
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_stays_usable() {
        let pool = Pool::new(2);
        for _ in 0..20 {
            let result = catch_unwind(AssertUnwindSafe(|| pool.run(16, &|i| assert_ne!(i, 11))));
            assert!(result.is_err());
            let sum = AtomicUsize::new(0);
            pool.run(16, &|i| {
                sum.fetch_add(i, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 120);
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn workers_do_not_inherit_the_mode_of_whoever_starts_them() {
        use crate::float_mode::{MODE, STANDARD, read, write};
        // DAZ and FTZ.
        const FLUSH: u32 = 0x8040;

        let own = read();
        write(own | FLUSH);
        let pool = Pool::new(1);
        write(own);
        let caller = std::thread::current().id();
        let worker = Mutex::new(None);
        // At least one loop is long enough for the worker to join it.
        for _ in 0..1000 {
            pool.run(64, &|_| {
                if std::thread::current().id() != caller {
                    *worker.lock().expect("a lock") = Some(read() & MODE);
                }
                std::thread::sleep(std::time::Duration::from_micros(20));
            });
            if worker.lock().expect("a lock").is_some() {
                break;
            }
        }
        assert_eq!(worker.into_inner().expect("a lock"), Some(STANDARD));
    }
}
