//! Programs, shared by all clients: what several want at the same time is compiled once, and what nobody holds is kept for a
//! while.

use crate::compile::{Program, Recipe};
use crate::counters::Counters;
use crate::queue::Queue;
use hlo_remote::proto::Failure;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// Why there is no program.
#[derive(Clone, Debug)]
pub enum NoProgram {
    /// What is wrong with the module.
    Failed(Arc<Failure>),
    /// Compilation itself broke off: a defect.
    Defect,
    /// The server is stopping.
    Stopping,
}

type Outcome = Result<Arc<Program>, NoProgram>;
type Outcomes = watch::Receiver<Option<Outcome>>;

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
    /// It is being compiled; this is told what it comes to.
    Pending(Outcomes),
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
    Wait(Outcomes),
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

    /// The program of a recipe, and whether it was there, or somebody else was waiting for it. If not, it is compiled by `queue`,
    /// as work of this client.
    ///
    /// # Errors
    /// What is wrong with the module.
    pub async fn get(
        self: &Arc<Self>,
        recipe: Recipe,
        client: u64,
        queue: &Arc<Queue>,
        counters: &Arc<Counters>,
    ) -> Result<(Hold, bool), NoProgram> {
        let recipe = Arc::new(recipe);
        let mut shared = true;
        loop {
            let mut outcomes = match self.find(&recipe) {
                Some(Found::Held(hold)) => return Ok((hold, shared)),
                Some(Found::Wait(outcomes)) => outcomes,
                None => {
                    shared = false;
                    self.compile(&recipe, client, queue, counters)
                }
            };
            match outcomes.wait_for(Option::is_some).await.map(|outcome| outcome.clone()) {
                Ok(Some(Ok(program))) => return Ok((self.hold(&recipe, program), shared)),
                Ok(Some(Err(why))) => return Err(why),
                // The work was dropped before it began.
                Ok(None) | Err(_) => self.forget_pending(&recipe),
            }
            if queue.is_closed() {
                return Err(NoProgram::Stopping);
            }
        }
    }

    fn find(self: &Arc<Self>, recipe: &Arc<Recipe>) -> Option<Found> {
        let mut state = self.lock();
        match state.entries.get(recipe)? {
            Entry::Pending(outcomes) => Some(Found::Wait(outcomes.clone())),
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

    /// Begins a compilation.
    fn compile(
        self: &Arc<Self>,
        recipe: &Arc<Recipe>,
        client: u64,
        queue: &Arc<Queue>,
        counters: &Arc<Counters>,
    ) -> Outcomes {
        let (sender, receiver) = watch::channel(None);
        {
            let mut state = self.lock();
            // Somebody else may have begun since it was looked for.
            if let Some(Entry::Pending(outcomes)) = state.entries.get(recipe)
                && outcomes.has_changed().is_ok()
            {
                return outcomes.clone();
            }
            state.entries.insert(recipe.clone(), Entry::Pending(receiver.clone()));
        }
        let (cache, recipe, counters) = (self.clone(), recipe.clone(), counters.clone());
        queue.push(
            client,
            Box::new(move || {
                if cache.is_abandoned(&recipe, &sender) {
                    return;
                }
                let outcome = cache.compile_now(&recipe, &counters);
                // Nobody may wait any more.
                let _ = sender.send(Some(outcome));
            }),
        );
        receiver
    }

    fn compile_now(self: &Arc<Self>, recipe: &Arc<Recipe>, counters: &Counters) -> Outcome {
        use std::panic::{AssertUnwindSafe, catch_unwind};
        let began = Instant::now();
        let made = catch_unwind(AssertUnwindSafe(|| recipe.compile(self.threads)));
        counters.compilations.add(1);
        counters.compile_time.add_time(began.elapsed());
        let outcome = match made {
            Ok(Ok(program)) => Ok(Arc::new(program)),
            Ok(Err(why)) => Err(NoProgram::Failed(Arc::new(why))),
            Err(_) => Err(NoProgram::Defect),
        };
        let mut state = self.lock();
        match &outcome {
            Ok(program) => {
                state.clock += 1;
                let entry = Entry::Ready { program: program.clone(), holders: 0, used: state.clock };
                state.entries.insert(recipe.clone(), entry);
            }
            Err(_) => {
                counters.compilation_failures.add(1);
                state.entries.remove(recipe);
            }
        }
        let dropped = self.trim(&mut state);
        drop(state);
        drop(dropped);
        outcome
    }

    /// Forgets a compilation for which nobody waits any more.
    fn is_abandoned(&self, recipe: &Arc<Recipe>, sender: &watch::Sender<Option<Outcome>>) -> bool {
        let mut state = self.lock();
        // One receiver is in the cache, or was.
        let abandoned = sender.receiver_count() <= 1;
        if abandoned && matches!(state.entries.get(recipe), Some(Entry::Pending(_))) {
            state.entries.remove(recipe);
        }
        abandoned
    }

    /// Forgets a compilation that was dropped before it began.
    fn forget_pending(&self, recipe: &Arc<Recipe>) {
        let mut state = self.lock();
        if matches!(state.entries.get(recipe), Some(Entry::Pending(outcomes)) if outcomes.has_changed().is_err())
        {
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
        program.bytes().saturating_add(arenas)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it has the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
