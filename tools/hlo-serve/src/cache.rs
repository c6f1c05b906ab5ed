//! The cache of programs, which all clients share. A program that several clients request at once is compiled
//! once. Programs that no client uses stay for a while.

use crate::account::{Account, Charge};
use crate::budget::CompileBudget;
use crate::compile::{Program, Recipe};
use crate::counters::Counters;
use crate::queue::{Queue, Ticket};
use hlo_ir::watch::Watch;
use hlo_remote::proto::Failure;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use tonic::{Code, Status};

/// Time that a compilation may take to stop. After that its waiters are notified, and another thread takes
/// its place.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// The reason why there is no program.
#[derive(Clone, Debug)]
pub enum NoProgram {
    /// The module is invalid or cannot be compiled.
    Failed(Arc<Failure>),
    /// The compilation exceeded a limit.
    Refused(Status),
    /// The compilation aborted because of a bug.
    Defect,
    /// The server is stopping.
    Stopping,
}

type Outcome = Result<Arc<Program>, NoProgram>;

/// The clients that wait for a compilation. The compilation stops once no client waits for it.
#[derive(Debug)]
struct Waiting {
    outcome: watch::Receiver<Option<Outcome>>,
    stop: Arc<Watch>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// The queue and the limit that a compilation uses.
#[derive(Clone, Debug)]
pub struct Compiler {
    pub queue: Arc<Queue>,
    pub counters: Arc<Counters>,
    /// Maximum time of a compilation.
    pub limit: Duration,
}

/// The client that requests a program.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// The number of the client in queues.
    pub number: u64,
    pub account: &'a Arc<Account>,
}

/// The cached programs of a server.
#[derive(Debug)]
pub struct Cache {
    state: Mutex<State>,
    /// Maximum total size of programs that no client uses, in bytes.
    budget: u64,
    /// Number of threads of a compilation and of a run.
    threads: usize,
    /// Number of concurrent runs, and so the maximum number of arenas that a program may keep.
    workers: u64,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Arc<Recipe>, Entry>,
    /// Counts uses, to find the least recently used program.
    clock: u64,
}

#[derive(Debug)]
enum Entry {
    /// The program is being compiled. The reference is dead once no client waits for it.
    Pending(Weak<Waiting>),
    Ready {
        program: Arc<Program>,
        holders: usize,
        used: u64,
    },
}

/// A reference to a program. The program stays in the cache while this exists.
#[derive(Debug)]
pub struct Hold {
    pub program: Arc<Program>,
    recipe: Arc<Recipe>,
    cache: Arc<Cache>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.cache.release(&self.recipe);
    }
}

/// The result of a cache lookup.
enum Found {
    Held(Hold),
    Wait(Arc<Waiting>),
}

impl Cache {
    /// Creates an empty cache.
    pub fn new(budget: u64, threads: usize, workers: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), budget, threads, workers: workers.max(1) as u64 })
    }

    /// Returns the number of programs.
    pub fn len(&self) -> usize {
        let ready = |e: &&Entry| matches!(e, Entry::Ready { .. });
        self.lock().entries.values().filter(ready).count()
    }

    /// Returns the program of a recipe, and whether it was in the cache or another client was already waiting
    /// for it. Otherwise the program is compiled as work of this client, within the limit of its account.
    /// `charge` is the charge for the text of the recipe.
    ///
    /// # Errors
    /// The module is invalid, or the compilation exceeded a limit.
    pub async fn get(
        self: &Arc<Self>,
        recipe: Recipe,
        charge: Charge,
        client: Client<'_>,
        compiler: &Compiler,
    ) -> Result<(Hold, bool), NoProgram> {
        let (recipe, charge) = (Arc::new(recipe), Arc::new(charge));
        let mut shared = true;
        loop {
            let waiting = match self.find(&recipe) {
                Some(Found::Held(hold)) => return Ok((hold, shared)),
                Some(Found::Wait(waiting)) => waiting,
                None => {
                    shared = false;
                    self.compile(&recipe, &charge, client, compiler)
                }
            };
            let mut outcome = waiting.outcome.clone();
            match outcome.wait_for(Option::is_some).await.map(|outcome| outcome.clone()) {
                Ok(Some(Ok(program))) => return Ok((self.hold(&recipe, program), shared)),
                // The account of another client was full, so try again.
                Ok(Some(Err(NoProgram::Refused(s)))) if shared && s.code() == Code::ResourceExhausted => {}
                Ok(Some(Err(why))) => return Err(why),
                // The work was dropped before it started, so try again.
                Ok(None) | Err(_) => {}
            }
            if compiler.queue.is_closed() {
                return Err(NoProgram::Stopping);
            }
        }
    }

    fn find(self: &Arc<Self>, recipe: &Arc<Recipe>) -> Option<Found> {
        let mut state = self.lock();
        match state.entries.get(recipe)? {
            Entry::Pending(waiting) => waiting.upgrade().map(Found::Wait),
            Entry::Ready { program, .. } => {
                let program = program.clone();
                Some(Found::Held(self.hold_in(&mut state, recipe, program)))
            }
        }
    }

    fn hold(self: &Arc<Self>, recipe: &Arc<Recipe>, program: Arc<Program>) -> Hold {
        self.hold_in(&mut self.lock(), recipe, program)
    }

    fn hold_in(self: &Arc<Self>, state: &mut State, recipe: &Arc<Recipe>, program: Arc<Program>) -> Hold {
        state.clock += 1;
        let clock = state.clock;
        match state.entries.get_mut(recipe) {
            Some(Entry::Ready { program: there, holders, used }) => {
                (*holders, *used) = (*holders + 1, clock);
                let program = there.clone();
                Hold { program, recipe: recipe.clone(), cache: self.clone() }
            }
            // The program may have been removed between its compilation and now.
            _ => {
                let entry = Entry::Ready { program: program.clone(), holders: 1, used: clock };
                state.entries.insert(recipe.clone(), entry);
                Hold { program, recipe: recipe.clone(), cache: self.clone() }
            }
        }
    }

    /// Starts a compilation, unless another client has started it.
    fn compile(
        self: &Arc<Self>,
        recipe: &Arc<Recipe>,
        charge: &Arc<Charge>,
        client: Client<'_>,
        by: &Compiler,
    ) -> Arc<Waiting> {
        let (sender, outcome) = watch::channel(None);
        let waiting = Arc::new(Waiting { outcome, stop: Arc::default() });
        {
            let mut state = self.lock();
            if let Some(Entry::Pending(others)) = state.entries.get(recipe)
                && let Some(others) = others.upgrade()
            {
                drop(state);
                return others;
            }
            state.entries.insert(recipe.clone(), Entry::Pending(Arc::downgrade(&waiting)));
        }
        let (begin, has_begun) = oneshot::channel();
        let begun = Arc::new(PendingCompilation {
            cache: self.clone(),
            recipe: recipe.clone(),
            waiting: Arc::downgrade(&waiting),
            stop: waiting.stop.clone(),
            outcome: sender,
        });
        let work = {
            let (begun, counters) = (begun.clone(), by.counters.clone());
            let (account, charge) = (client.account.clone(), charge.clone());
            move || {
                let _charge = charge;
                if begun.stop.is_stopped() || begin.send(()).is_err() {
                    return;
                }
                let outcome = begun.cache.compile_now(&begun.recipe, &begun.stop, &account, &counters);
                begun.tell(outcome);
            }
        };
        let ticket = by.queue.push(client.number, Box::new(work));
        let by = by.clone();
        tokio::spawn(async move {
            match has_begun.await {
                Ok(()) => begun.end_in_time(&by, ticket).await,
                Err(_) => begun.cache.forget(&begun.recipe, &begun.waiting),
            }
        });
        waiting
    }

    fn compile_now(
        &self,
        recipe: &Arc<Recipe>,
        stop: &Arc<Watch>,
        account: &Arc<Account>,
        counters: &Counters,
    ) -> Outcome {
        use std::panic::{AssertUnwindSafe, catch_unwind};
        let began = Instant::now();
        let budget = CompileBudget::new(account, stop.clone()).map(Arc::new).map_err(NoProgram::Refused)?;
        let made = catch_unwind(AssertUnwindSafe(|| recipe.compile(self.threads, &budget)));
        counters.compilations.add(1);
        counters.compile_time.add_time(began.elapsed());
        let outcome = match made {
            Ok(Ok(program)) => Ok(Arc::new(program)),
            Ok(Err(why)) => {
                Err(budget.refused().map_or(NoProgram::Failed(Arc::new(why)), NoProgram::Refused))
            }
            Err(_) => Err(NoProgram::Defect),
        };
        let mut state = self.lock();
        match &outcome {
            Ok(program) => {
                state.clock += 1;
                let entry = Entry::Ready { program: program.clone(), holders: 0, used: state.clock };
                // Another compilation of the same recipe may have ended before.
                if !matches!(state.entries.get(recipe), Some(Entry::Ready { .. })) {
                    state.entries.insert(recipe.clone(), entry);
                }
            }
            Err(_) => counters.compilation_failures.add(1),
        }
        let dropped = self.trim(&mut state);
        drop(state);
        drop(dropped);
        outcome
    }

    /// Removes a compilation that has failed or was dropped, unless another compilation of the same recipe
    /// has replaced it.
    fn forget(&self, recipe: &Arc<Recipe>, waiting: &Weak<Waiting>) {
        let mut state = self.lock();
        if matches!(state.entries.get(recipe), Some(Entry::Pending(pending)) if pending.ptr_eq(waiting)) {
            state.entries.remove(recipe);
        }
    }

    fn release(&self, recipe: &Arc<Recipe>) {
        let mut state = self.lock();
        if let Some(Entry::Ready { holders, .. }) = state.entries.get_mut(recipe) {
            *holders = holders.saturating_sub(1);
        }
        let dropped = self.trim(&mut state);
        drop(state);
        // Unloading code takes time, so the lock is released first.
        drop(dropped);
    }

    /// Removes the least recently used programs without users until the others are within the budget.
    fn trim(&self, state: &mut State) -> Vec<Entry> {
        let mut idle: Vec<(u64, u64, Arc<Recipe>)> = Vec::new();
        for (recipe, entry) in &state.entries {
            if let Entry::Ready { program, holders: 0, used } = entry {
                idle.push((*used, self.kept_bytes(program), recipe.clone()));
            }
        }
        let mut sum = idle.iter().fold(0u64, |n, (_, bytes, _)| n.saturating_add(*bytes));
        idle.sort_unstable_by_key(|(used, ..)| *used);
        let mut dropped = Vec::new();
        for (_, bytes, recipe) in idle {
            if sum <= self.budget {
                break;
            }
            dropped.extend(state.entries.remove(&recipe));
            sum = sum.saturating_sub(bytes);
        }
        dropped
    }

    /// Returns the maximum number of bytes that a program occupies while it does not run.
    fn kept_bytes(&self, program: &Program) -> u64 {
        let arenas = if program.keeps_memory { program.run_bytes.saturating_mul(self.workers) } else { 0 };
        program.bytes.saturating_add(arenas)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A compilation that is running or waits for a thread.
#[derive(Debug)]
struct PendingCompilation {
    cache: Arc<Cache>,
    recipe: Arc<Recipe>,
    waiting: Weak<Waiting>,
    stop: Arc<Watch>,
    outcome: watch::Sender<Option<Outcome>>,
}

impl PendingCompilation {
    /// Reports the outcome of the compilation to the waiting clients, unless an outcome was reported before.
    fn tell(&self, outcome: Outcome) {
        self.cache.forget(&self.recipe, &self.waiting);
        self.outcome.send_if_modified(|told| told.is_none() && told.replace(outcome).is_none());
    }

    /// Stops the compilation when its time is over. If it does not stop, other work does not wait for it.
    async fn end_in_time(&self, compiler: &Compiler, ticket: Ticket) {
        let (mut outcome, limit) = (self.outcome.subscribe(), compiler.limit);
        let is_over = outcome.wait_for(Option::is_some);
        if tokio::time::timeout(limit, is_over).await.is_ok() {
            return;
        }
        self.stop.stop();
        let why = format!("the compilation took longer than {limit:?} (--compile-time)");
        self.tell(Err(NoProgram::Refused(Status::deadline_exceeded(why))));
        tokio::time::sleep(STOP_TIMEOUT).await;
        compiler.queue.replace_thread(ticket);
    }
}
