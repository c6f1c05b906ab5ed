//! Programs, shared by all clients: what several want at the same time is compiled once, and what nobody holds is kept for a
//! while.

use crate::account::{Account, Charge};
use crate::budget::CompileBudget;
use crate::compile::{Program, Recipe};
use crate::counters::Counters;
use crate::queue::{Queue, Ticket};
use crate::session::Session;
use hlo_ir::watch::Watch;
use hlo_remote::proto::Failure;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use tonic::{Code, Status};

/// How long a compilation that was told to stop may take to do so. Then its waiters are told, and another thread takes its place.
const STOPPING: Duration = Duration::from_secs(2);

/// Why there is no program.
#[derive(Clone, Debug)]
pub enum NoProgram {
    /// What is wrong with the module.
    Failed(Arc<Failure>),
    /// The compilation took more than it might.
    Refused(Status),
    /// Compilation itself broke off: a defect.
    Defect,
    /// The server is stopping.
    Stopping,
}

type Outcome = Result<Arc<Program>, NoProgram>;

/// The clients that wait for a compilation. The compilation stops once nobody waits for it.
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

/// What compiles a program for a client.
#[derive(Clone, Debug)]
pub struct Compiler {
    pub queue: Arc<Queue>,
    pub counters: Arc<Counters>,
    /// How long a compilation may take.
    pub limit: Duration,
}

/// The programs of a server.
#[derive(Debug)]
pub struct Cache {
    state: Mutex<State>,
    /// Bytes of programs that are kept although nobody holds them.
    budget: u64,
    /// Threads of a compilation and of a run.
    threads: usize,
    /// Runs at once: as many arenas a program may have kept.
    workers: u64,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Arc<Recipe>, Entry>,
    /// Counts uses, so that it is known what was used last.
    clock: u64,
}

#[derive(Debug)]
enum Entry {
    /// It is being compiled, as long as somebody waits for it.
    Pending(Weak<Waiting>),
    Ready {
        program: Arc<Program>,
        holders: usize,
        used: u64,
    },
}

/// A program that somebody holds: while this lives it stays.
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

/// What a look into the cache finds.
enum Found {
    Held(Hold),
    Wait(Arc<Waiting>),
}

impl Cache {
    /// An empty cache.
    pub fn new(budget: u64, threads: usize, workers: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), budget, threads, workers: workers.max(1) as u64 })
    }

    /// The number of programs.
    pub fn len(&self) -> usize {
        let ready = |e: &&Entry| matches!(e, Entry::Ready { .. });
        self.lock().entries.values().filter(ready).count()
    }

    /// The program of a recipe, and whether it was there, or somebody else was waiting for it. If not, it is compiled as work of
    /// this session, and within what its account has. `charge` is that of the recipe's text.
    ///
    /// # Errors
    /// What is wrong with the module, or the limit that the compilation exceeded.
    pub async fn get(
        self: &Arc<Self>,
        recipe: Recipe,
        charge: Charge,
        session: &Session,
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
                    self.compile(&recipe, &charge, session, compiler)
                }
            };
            let mut outcome = waiting.outcome.clone();
            match outcome.wait_for(Option::is_some).await.map(|outcome| outcome.clone()) {
                Ok(Some(Ok(program))) => return Ok((self.hold(&recipe, program), shared)),
                // Another client's account was full.
                Ok(Some(Err(NoProgram::Refused(s)))) if shared && s.code() == Code::ResourceExhausted => {}
                Ok(Some(Err(why))) => return Err(why),
                // The work was dropped before it began.
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
            // It may have been dropped again between its compilation and now.
            _ => {
                let entry = Entry::Ready { program: program.clone(), holders: 1, used: clock };
                state.entries.insert(recipe.clone(), entry);
                Hold { program, recipe: recipe.clone(), cache: self.clone() }
            }
        }
    }

    /// Begins a compilation, unless somebody else has.
    fn compile(
        self: &Arc<Self>,
        recipe: &Arc<Recipe>,
        charge: &Arc<Charge>,
        session: &Session,
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
        let begun = Arc::new(Begun {
            cache: self.clone(),
            recipe: recipe.clone(),
            waiting: Arc::downgrade(&waiting),
            stop: waiting.stop.clone(),
            outcome: sender,
        });
        let work = {
            let (begun, counters) = (begun.clone(), by.counters.clone());
            let (account, charge) = (session.account.clone(), charge.clone());
            move || {
                let _charge = charge;
                if begun.stop.is_stopped() || begin.send(()).is_err() {
                    return;
                }
                let outcome = begun.cache.compile_now(&begun.recipe, &begun.stop, &account, &counters);
                begun.tell(outcome);
            }
        };
        let ticket = by.queue.push(session.number, Box::new(work));
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
                // Another compilation of the same may have ended before.
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

    /// Forgets a compilation that has failed or was dropped, unless another one of the same has taken its place.
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
        // To unload code takes time.
        drop(dropped);
    }

    /// Takes out programs that nobody holds, those used longest ago, till the others fit the budget.
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

    /// The bytes that a program takes while nobody runs it, at most.
    fn kept_bytes(&self, program: &Program) -> u64 {
        let arenas = if program.keeps_memory { program.run_bytes.saturating_mul(self.workers) } else { 0 };
        program.bytes.saturating_add(arenas)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it has the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A compilation that is under way or waits for a thread.
#[derive(Debug)]
struct Begun {
    cache: Arc<Cache>,
    recipe: Arc<Recipe>,
    waiting: Weak<Waiting>,
    stop: Arc<Watch>,
    outcome: watch::Sender<Option<Outcome>>,
}

impl Begun {
    /// Tells the waiting clients what the compilation came to, unless they were told before.
    fn tell(&self, outcome: Outcome) {
        self.cache.forget(&self.recipe, &self.waiting);
        self.outcome.send_if_modified(|told| told.is_none() && told.replace(outcome).is_none());
    }

    /// Stops the compilation when its time is over. If it does not stop, it keeps nobody waiting.
    async fn end_in_time(&self, compiler: &Compiler, ticket: Ticket) {
        let (mut outcome, limit) = (self.outcome.subscribe(), compiler.limit);
        let is_over = outcome.wait_for(Option::is_some);
        if tokio::time::timeout(limit, is_over).await.is_ok() {
            return;
        }
        self.stop.stop();
        let why = format!("the compilation took longer than {limit:?} (--compile-time)");
        self.tell(Err(NoProgram::Refused(Status::deadline_exceeded(why))));
        tokio::time::sleep(STOPPING).await;
        compiler.queue.relieve(ticket);
    }
}
