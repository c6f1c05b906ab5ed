//! `hlo-run` under `mpirun`: each process is a rank, and runs some of the program's devices.

use crate::args::Args;
use crate::ranks::Ranks;
use hlo_client::World;
use hlo_mpi::MpiWorld;
use hlo_tools_common::{Failure, Reporter};
use signal_hook::consts::SIGTERM;
use std::cell::Cell;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval for checking whether the process should terminate.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The exit code of a process that received SIGTERM.
const SIGTERM_EXIT_CODE: i32 = 128 + SIGTERM;

/// This process as a rank.
#[derive(Debug)]
struct MpiRanks {
    world: MpiWorld,
    /// Whether this rank reports the failure that the job ends with. `None` if not all ranks know of the
    /// failure.
    told: Cell<Option<bool>>,
}

impl MpiRanks {
    fn failed(failure: impl std::fmt::Display) -> Failure {
        Failure::Message(failure.to_string())
    }
}

impl Ranks for MpiRanks {
    fn world(&self) -> &dyn World {
        &self.world
    }

    fn rank(&self) -> usize {
        self.world.rank()
    }

    fn share_outcome(&self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let all = self.world.gather_flags(outcome.is_ok()).map_err(Self::failed)?;
        let Some(first) = all.iter().position(|&is_ok| !is_ok) else { return Ok(()) };
        self.told.set(Some(first == self.rank()));
        outcome.and_then(|()| Err(Failure::Message(format!("rank {first} has failed"))))
    }

    fn gather(&self, text: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Failure> {
        self.world.gather(text).map_err(Self::failed)
    }
}

/// Runs as a rank, if this process belongs to an MPI job.
pub fn run(args: &Args, reporter: Reporter) -> Option<ExitCode> {
    hlo_mpi::requested_ranks()?;
    let world = match MpiWorld::new() {
        Ok(world) => world,
        Err(message) => return Some(reporter.finish(Err(Failure::Message(format!("MPI: {message}"))))),
    };
    let ranks = MpiRanks { world, told: Cell::new(None) };
    let is_told_to_end = Arc::new(AtomicBool::new(false));
    if let Err(e) = signal_hook::flag::register(SIGTERM, is_told_to_end.clone()) {
        reporter.note(&format!("where devices wait will not be said if the job is ended: {e}"));
    }
    let is_over = AtomicBool::new(false);
    let world = &ranks.world;
    Some(std::thread::scope(|scope| {
        let (is_over, is_told_to_end) = (&is_over, &is_told_to_end);
        let watch = move || {
            while !is_over.load(Ordering::SeqCst) {
                if is_told_to_end.load(Ordering::SeqCst) {
                    exit_after_sigterm(world, reporter);
                }
                if let Some(message) = world.lost() {
                    reporter.show(&Failure::Message(message));
                    world.abort(1);
                }
                std::thread::sleep(POLL_INTERVAL);
            }
        };
        if let Err(e) = std::thread::Builder::new().name("hlo ranks".into()).spawn_scoped(scope, watch) {
            reporter.note(&format!("nobody looks whether the job is ended: {e}"));
        }
        let code = finish(&ranks, reporter, crate::run(args, reporter, Some(&ranks)));
        is_over.store(true, Ordering::SeqCst);
        code
    }))
}

/// Returns the exit code. One rank prints the failure.
fn finish(ranks: &MpiRanks, reporter: Reporter, outcome: Result<(), Failure>) -> ExitCode {
    // Another rank may have failed while this one succeeded.
    let outcome = outcome.and_then(|()| ranks.share_outcome(Ok(())));
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    let shows = match (ranks.told.get(), ranks.world.failed_here()) {
        (Some(shows), _) => Ok(shows),
        // A run failed on all ranks. The rank with the failed device reports it.
        (None, Some(is_here)) => Ok(is_here),
        // The other ranks do not know of the failure. They learn of it at their next exchange.
        (None, None) => {
            ranks.world.gather_flags(false).map(|all| all.iter().position(|&ok| !ok) == Some(ranks.rank()))
        }
    };
    match shows {
        Ok(false) => ExitCode::from(failure.exit_code()),
        Ok(true) | Err(_) => reporter.finish(Err(failure)),
    }
}

/// Reports where the devices of this rank wait, and ends the process, because another rank has disappeared or
/// somebody terminated the job.
fn exit_after_sigterm(world: &MpiWorld, reporter: Reporter) -> ! {
    for line in world.waiting() {
        reporter.show(&Failure::Message(line));
    }
    // SAFETY: the function only ends the process. MPI cannot be finalized without the other ranks.
    unsafe { libc::_exit(SIGTERM_EXIT_CODE) }
}
