//! What a client holds: buffers, programs, runs that are under way, and the memory of all.

use crate::account::{Account, Charge};
use crate::cache::Hold;
use hlo_client::Buffer;
use hlo_ir::watch::Watch;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, Semaphore};
use tonic::Status;

use crate::config::Limits;
use crate::counters::Counter;

/// What stands for a session in calls.
pub type Token = [u8; 16];

/// A buffer of a client.
#[derive(Debug)]
pub struct HeldBuffer {
    pub buffer: Buffer,
    pub _charge: Charge,
}

impl HeldBuffer {
    /// The elements. They are there: runs of a server are waited for.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes().unwrap_or_default()
    }
}

/// A program of a client.
#[derive(Debug)]
pub struct HeldProgram {
    pub hold: Hold,
    _charge: Charge,
    /// The memory that runs leave behind: as much as the most that there were at once.
    arenas: Mutex<Arenas>,
}

#[derive(Debug, Default)]
struct Arenas {
    running: usize,
    charges: Vec<Charge>,
}

/// The temporaries of a run.
#[derive(Debug)]
pub enum Arena {
    /// Those of a program that keeps them.
    Kept(Arc<HeldProgram>),
    /// Those of one that does not.
    Own { _charge: Charge },
}

impl HeldProgram {
    pub fn new(hold: Hold, charge: Charge) -> Self {
        Self { hold, _charge: charge, arenas: Mutex::default() }
    }

    /// Takes the memory of a run.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn arena(self: &Arc<Self>, account: &Arc<Account>) -> Result<Arena, Status> {
        let program = &self.hold.program;
        let charge = || account.charge(program.run_bytes, "a run");
        if !program.keeps_memory {
            return Ok(Arena::Own { _charge: charge()? });
        }
        let mut arenas = lock(&self.arenas);
        if arenas.charges.len() <= arenas.running {
            arenas.charges.push(charge()?);
        }
        arenas.running += 1;
        Ok(Arena::Kept(self.clone()))
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Arena::Kept(program) = self {
            lock(&program.arenas).running -= 1;
        }
    }
}

/// A run that is under way.
#[derive(Debug, Default)]
pub struct RunState {
    pub watch: Arc<Watch>,
    /// Told when the client stops the run.
    pub stopped: Notify,
}

/// A client's session.
#[derive(Debug)]
pub struct Session {
    /// The number of the client, for queues.
    pub number: u64,
    /// How the client calls itself.
    pub name: String,
    pub since: Instant,
    pub account: Arc<Account>,
    /// Calls that the client may still make.
    pub calls: Arc<Semaphore>,
    pub runs: Counter,
    pub run_time: Counter,
    limits: Limits,
    handles: AtomicU64,
    /// `None` once the session has ended.
    held: Mutex<Option<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    buffers: HashMap<u64, Arc<HeldBuffer>>,
    programs: HashMap<u64, Arc<HeldProgram>>,
    runs: HashMap<u64, Arc<RunState>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it has a lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ended() -> Status {
    Status::unauthenticated("the session has ended")
}

impl Session {
    pub fn new(number: u64, name: String, limits: &Limits, all: &Arc<Account>) -> Self {
        Self {
            number,
            name,
            since: Instant::now(),
            account: Account::of_client(limits.client_memory, all.clone()),
            calls: Arc::new(Semaphore::new(limits.requests)),
            runs: Counter::default(),
            run_time: Counter::default(),
            limits: limits.clone(),
            handles: AtomicU64::new(1),
            held: Mutex::new(Some(Held::default())),
        }
    }

    fn with_held<T>(&self, f: impl FnOnce(&mut Held) -> Result<T, Status>) -> Result<T, Status> {
        f(lock(&self.held).as_mut().ok_or_else(ended)?)
    }

    fn handle(&self) -> u64 {
        self.handles.fetch_add(1, Ordering::Relaxed)
    }

    /// The numbers of buffers and programs.
    pub fn counts(&self) -> (usize, usize) {
        lock(&self.held).as_ref().map_or((0, 0), |held| (held.buffers.len(), held.programs.len()))
    }

    /// Takes buffers and gives their handles.
    ///
    /// # Errors
    /// The client has as many as it may; or the session has ended.
    pub fn add_buffers(&self, buffers: Vec<HeldBuffer>) -> Result<Vec<u64>, Status> {
        self.with_held(|held| {
            check_buffers(held.buffers.len(), buffers.len(), self.limits.buffers)?;
            let add = |buffer| {
                let handle = self.handle();
                held.buffers.insert(handle, Arc::new(buffer));
                handle
            };
            Ok(buffers.into_iter().map(add).collect())
        })
    }

    /// Refuses what could not be added.
    ///
    /// # Errors
    /// As [`Session::add_buffers`].
    pub fn check_buffers(&self, more: usize) -> Result<(), Status> {
        self.with_held(|held| check_buffers(held.buffers.len(), more, self.limits.buffers))
    }

    /// The buffer of a handle.
    ///
    /// # Errors
    /// There is none.
    pub fn buffer(&self, handle: u64) -> Result<Arc<HeldBuffer>, Status> {
        let unknown =
            || Status::not_found(format!("there is no buffer {handle}: it was never made, or was released"));
        self.with_held(|held| held.buffers.get(&handle).cloned().ok_or_else(unknown))
    }

    /// Takes a program and gives its handle.
    ///
    /// # Errors
    /// The session has ended, or the client has as many programs as it may.
    pub fn add_program(&self, program: HeldProgram) -> Result<u64, Status> {
        self.with_held(|held| {
            check_programs(held.programs.len(), self.limits.programs)?;
            let handle = self.handle();
            held.programs.insert(handle, Arc::new(program));
            Ok(handle)
        })
    }

    /// Refuses a program that could not be added.
    ///
    /// # Errors
    /// As [`Session::add_program`].
    pub fn check_programs(&self) -> Result<(), Status> {
        self.with_held(|held| check_programs(held.programs.len(), self.limits.programs))
    }

    /// The program of a handle.
    ///
    /// # Errors
    /// There is none.
    pub fn program(&self, handle: u64) -> Result<Arc<HeldProgram>, Status> {
        let unknown =
            || Status::not_found(format!("there is no program {handle}: it was never made, or was released"));
        self.with_held(|held| held.programs.get(&handle).cloned().ok_or_else(unknown))
    }

    /// Frees buffers and programs; those that are in use, when they are not any more.
    pub fn release(&self, buffers: &[u64], programs: &[u64]) {
        let mut freed = (Vec::new(), Vec::new());
        if let Some(held) = lock(&self.held).as_mut() {
            freed.0.extend(buffers.iter().filter_map(|h| held.buffers.remove(h)));
            freed.1.extend(programs.iter().filter_map(|h| held.programs.remove(h)));
        }
        // To unload a program takes time.
        drop(freed);
    }

    /// Notes a run, till what this gives is dropped, which also tells the run to stop. Runs without a number have one that no
    /// client gives.
    ///
    /// # Errors
    /// The client has such a run already; or the session has ended.
    pub fn enter(self: &Arc<Self>, run: u64) -> Result<Entered, Status> {
        let id = if run == 0 { u64::MAX - self.handle() } else { run };
        let state = Arc::new(RunState::default());
        self.with_held(|held| {
            if held.runs.contains_key(&id) {
                return Err(Status::invalid_argument(format!("the run {run} is under way already")));
            }
            held.runs.insert(id, state.clone());
            Ok(())
        })?;
        Ok(Entered { session: self.clone(), id, state })
    }

    /// Tells a run to stop; false if there is none of that number.
    pub fn stop(&self, run: u64) -> bool {
        let state = lock(&self.held).as_ref().and_then(|held| held.runs.get(&run).cloned());
        state.inspect(|s| s.stop()).is_some()
    }

    /// Tells all runs to stop.
    pub fn stop_all(&self) {
        for run in lock(&self.held).iter().flat_map(|held| held.runs.values()) {
            run.stop();
        }
    }

    /// Ends the session: runs are stopped, and what it holds is freed.
    pub fn end(&self) {
        let held = lock(&self.held).take();
        for run in held.iter().flat_map(|held| held.runs.values()) {
            run.stop();
        }
    }
}

impl RunState {
    fn stop(&self) {
        self.watch.stop();
        self.stopped.notify_one();
    }
}

fn check_buffers(there: usize, more: usize, limit: usize) -> Result<(), Status> {
    match there.saturating_add(more) > limit {
        true => Err(Status::resource_exhausted(format!(
            "{more} further buffers: a client may have {limit} (--client-buffers), and has {there}"
        ))),
        false => Ok(()),
    }
}

fn check_programs(there: usize, limit: usize) -> Result<(), Status> {
    match there >= limit {
        true => Err(Status::resource_exhausted(format!(
            "a further program: a client may have {limit} (--client-programs), and has {there}"
        ))),
        false => Ok(()),
    }
}

/// A run of a session.
#[derive(Debug)]
pub struct Entered {
    session: Arc<Session>,
    id: u64,
    pub state: Arc<RunState>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Whoever made the call may have gone.
        self.state.watch.stop();
        if let Some(held) = lock(&self.session.held).as_mut() {
            held.runs.remove(&self.id);
        }
    }
}
