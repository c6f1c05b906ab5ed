//! Sessions, which hold a client's buffers, programs and unfinished runs, and account for their memory.

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

/// The identifier of a session in calls.
pub type Token = [u8; 16];

/// A buffer of a client.
#[derive(Debug)]
pub struct HeldBuffer {
    pub buffer: Buffer,
    pub _charge: Charge,
}

impl HeldBuffer {
    /// Returns the elements. The buffer is ready, because the server waits for each run.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes().unwrap_or_default()
    }
}

/// A program of a client.
#[derive(Debug)]
pub struct HeldProgram {
    pub hold: Hold,
    _charge: Charge,
    /// The temporaries that runs leave behind, one for each run that was active at the same time.
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
    /// The program keeps the temporaries after the run.
    Kept(Arc<HeldProgram>),
    /// The temporaries are freed after the run.
    Own { _charge: Charge },
}

impl HeldProgram {
    pub fn new(hold: Hold, charge: Charge) -> Self {
        Self { hold, _charge: charge, arenas: Mutex::default() }
    }

    /// Charges the temporaries of a run.
    ///
    /// # Errors
    /// There is not enough memory.
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

/// The state of an unfinished run.
#[derive(Debug, Default)]
pub struct RunState {
    pub watch: Arc<Watch>,
    /// Notified when the client stops the run.
    pub stopped: Notify,
}

/// A client's session.
#[derive(Debug)]
pub struct Session {
    /// The number of the client in queues.
    pub number: u64,
    /// The name of the client.
    pub name: String,
    pub since: Instant,
    pub account: Arc<Account>,
    /// Permits for the calls that the client may still make.
    pub calls: Arc<Semaphore>,
    pub runs: Counter,
    pub run_time: Counter,
    limits: Limits,
    handles: AtomicU64,
    /// `None` once the session has ended.
    held: Mutex<Option<SessionObjects>>,
}

#[derive(Debug, Default)]
struct SessionObjects {
    buffers: HashMap<u64, Arc<HeldBuffer>>,
    programs: HashMap<u64, Arc<HeldProgram>>,
    runs: HashMap<u64, Arc<RunState>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds a lock.
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
            held: Mutex::new(Some(SessionObjects::default())),
        }
    }

    fn with_held<T>(&self, f: impl FnOnce(&mut SessionObjects) -> Result<T, Status>) -> Result<T, Status> {
        f(lock(&self.held).as_mut().ok_or_else(ended)?)
    }

    fn handle(&self) -> u64 {
        self.handles.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number of buffers and the number of programs.
    pub fn counts(&self) -> (usize, usize) {
        lock(&self.held).as_ref().map_or((0, 0), |held| (held.buffers.len(), held.programs.len()))
    }

    /// Adds buffers and returns their handles.
    ///
    /// # Errors
    /// The client has reached its maximum number of buffers, or the session has ended.
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

    /// Checks that `more` buffers can be added.
    ///
    /// # Errors
    /// As [`Session::add_buffers`].
    pub fn check_buffers(&self, more: usize) -> Result<(), Status> {
        self.with_held(|held| check_buffers(held.buffers.len(), more, self.limits.buffers))
    }

    /// Returns the buffer with a handle.
    ///
    /// # Errors
    /// There is no such buffer.
    pub fn buffer(&self, handle: u64) -> Result<Arc<HeldBuffer>, Status> {
        let unknown =
            || Status::not_found(format!("there is no buffer {handle}: it was never made, or was released"));
        self.with_held(|held| held.buffers.get(&handle).cloned().ok_or_else(unknown))
    }

    /// Adds a program and returns its handle.
    ///
    /// # Errors
    /// The session has ended, or the client has reached its maximum number of programs.
    pub fn add_program(&self, program: HeldProgram) -> Result<u64, Status> {
        self.with_held(|held| {
            check_programs(held.programs.len(), self.limits.programs)?;
            let handle = self.handle();
            held.programs.insert(handle, Arc::new(program));
            Ok(handle)
        })
    }

    /// Checks that a program can be added.
    ///
    /// # Errors
    /// As [`Session::add_program`].
    pub fn check_programs(&self) -> Result<(), Status> {
        self.with_held(|held| check_programs(held.programs.len(), self.limits.programs))
    }

    /// Returns the program with a handle.
    ///
    /// # Errors
    /// There is no such program.
    pub fn program(&self, handle: u64) -> Result<Arc<HeldProgram>, Status> {
        let unknown =
            || Status::not_found(format!("there is no program {handle}: it was never made, or was released"));
        self.with_held(|held| held.programs.get(&handle).cloned().ok_or_else(unknown))
    }

    /// Releases buffers and programs. Objects in use are freed later.
    pub fn release(&self, buffers: &[u64], programs: &[u64]) {
        let mut freed = (Vec::new(), Vec::new());
        if let Some(held) = lock(&self.held).as_mut() {
            freed.0.extend(buffers.iter().filter_map(|h| held.buffers.remove(h)));
            freed.1.extend(programs.iter().filter_map(|h| held.programs.remove(h)));
        }
        // Unloading a program takes time, so the lock is released first.
        drop(freed);
    }

    /// Adds a run, until the returned value is dropped, which also stops the run. A run without a number gets
    /// one that no client uses.
    ///
    /// # Errors
    /// The client already has an unfinished run with this number, or the session has ended.
    pub fn enter(self: &Arc<Self>, run: u64) -> Result<ActiveRun, Status> {
        let id = if run == 0 { u64::MAX - self.handle() } else { run };
        let state = Arc::new(RunState::default());
        self.with_held(|held| {
            if held.runs.contains_key(&id) {
                return Err(Status::invalid_argument(format!("the run {run} is under way already")));
            }
            held.runs.insert(id, state.clone());
            Ok(())
        })?;
        Ok(ActiveRun { session: self.clone(), id, state })
    }

    /// Stops a run. Returns whether there is a run with this number.
    pub fn stop(&self, run: u64) -> bool {
        let state = lock(&self.held).as_ref().and_then(|held| held.runs.get(&run).cloned());
        state.inspect(|s| s.stop()).is_some()
    }

    /// Stops all runs.
    pub fn stop_all(&self) {
        for run in lock(&self.held).iter().flat_map(|held| held.runs.values()) {
            run.stop();
        }
    }

    /// Ends the session: stops its runs and frees its objects.
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
    if there.saturating_add(more) > limit {
        Err(Status::resource_exhausted(format!(
            "{more} further buffers: a client may have {limit} (--client-buffers), and has {there}"
        )))
    } else {
        Ok(())
    }
}

fn check_programs(there: usize, limit: usize) -> Result<(), Status> {
    if there >= limit {
        Err(Status::resource_exhausted(format!(
            "a further program: a client may have {limit} (--client-programs), and has {there}"
        )))
    } else {
        Ok(())
    }
}

/// An unfinished run of a session.
#[derive(Debug)]
pub struct ActiveRun {
    session: Arc<Session>,
    id: u64,
    pub state: Arc<RunState>,
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        // The caller may have disconnected.
        self.state.watch.stop();
        if let Some(held) = lock(&self.session.held).as_mut() {
            held.runs.remove(&self.id);
        }
    }
}
