//! Runs.

use crate::account::Charge;
use crate::compile::Program;
use crate::counters::Counters;
use crate::queue::{Queue, Ticket};
use crate::session::{Arena, HeldBuffer, HeldProgram, Session};
use crate::transfer::{IncomingArray, shape_bytes};
use hlo_client::{Buffer, Error, RunOptions};
use hlo_ir::InstrId;
use hlo_remote::proto::argument::Value;
use hlo_remote::proto::{Argument, ExecuteRequest, Failure};
use hlo_remote::wire;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tonic::Status;

/// Time that a run may take to stop. After that its caller is notified.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// The queue and the limit that runs use.
#[derive(Clone, Debug)]
pub struct Runner {
    pub queue: Arc<Queue>,
    pub counters: Arc<Counters>,
    /// Maximum time of a run.
    pub limit: Duration,
}

/// A run whose call may end before the run does. If the run does not stop then, another thread takes its
/// place in the queue.
struct DetachedRun {
    queue: Arc<Queue>,
    ticket: Ticket,
    is_over: bool,
}

impl Drop for DetachedRun {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (queue, ticket) = (self.queue.clone(), self.ticket);
        tokio::spawn(async move {
            tokio::time::sleep(STOP_TIMEOUT).await;
            queue.replace_thread(ticket);
        });
    }
}

/// The program and arguments of a run, and the memory charged for it.
struct Job {
    program: Arc<HeldProgram>,
    arguments: Vec<Arc<HeldBuffer>>,
    results: Charge,
    _arena: Arena,
    /// The charge for copies of arguments in the form that the program takes.
    _forms: Charge,
}

/// The outcome of a run.
pub type Outcome = Result<Vec<HeldBuffer>, Failure>;

impl Runner {
    /// Runs a program of a session. Dropping the future stops the run.
    ///
    /// # Errors
    /// The request is invalid, or there is not enough memory.
    pub async fn run(&self, session: &Arc<Session>, request: ExecuteRequest) -> Result<Outcome, Status> {
        let limit = match request.time_millis {
            0 => self.limit,
            millis => self.limit.min(Duration::from_millis(millis)),
        };
        let entered = session.enter(request.run)?;
        let job = prepare(session, request)?;
        let program = job.program.clone();
        let (begin, has_begun) = oneshot::channel();
        let begun = Arc::new(AtomicBool::new(false));
        let (finish, outcome) = oneshot::channel();
        let overdue = Arc::new(AtomicBool::new(false));
        let state = entered.state.clone();
        let work = {
            let (watch, runner, session) = (state.watch.clone(), self.clone(), session.clone());
            let (overdue, begun) = (overdue.clone(), begun.clone());
            move || {
                begun.store(true, Ordering::Relaxed);
                if watch.is_stopped() || begin.send(()).is_err() {
                    return;
                }
                let options = RunOptions { watch: Some(watch), ..RunOptions::default() };
                let outcome = runner.execute(&session, job, options, limit, &overdue);
                // The receiver may have been dropped.
                let _ = finish.send(outcome);
            }
        };
        let ticket = self.queue.push(session.number, Box::new(work));
        let mut left = DetachedRun { queue: self.queue.clone(), ticket, is_over: false };
        let time = async {
            if has_begun.await.is_err() {
                // The run never starts, and the sender of `outcome` was dropped too.
                return std::future::pending().await;
            }
            tokio::time::sleep(limit).await;
            overdue.store(true, Ordering::Relaxed);
            state.watch.stop();
            tokio::time::sleep(STOP_TIMEOUT).await;
        };
        let told = async {
            state.stopped.notified().await;
            // A run that has not started will not start.
            if begun.load(Ordering::Relaxed) {
                tokio::time::sleep(STOP_TIMEOUT).await;
            }
        };
        let stopped = |at, limit| Ok(Err(stopped(&program.hold.program, at, limit)));
        tokio::select! {
            outcome = outcome => match outcome {
                Ok(outcome) => {
                    left.is_over = true;
                    Ok(outcome)
                }
                // The run was stopped before it started.
                Err(_) if state.watch.is_stopped() => stopped(None, None),
                Err(_) if self.queue.is_closed() => Err(Status::unavailable("the server is stopping")),
                Err(_) => {
                    self.counters.defects.add(1);
                    Err(Status::internal("the run broke off: a defect of the server"))
                }
            },
            // If a run does not stop, it continues, and its client is notified.
            () = time => stopped(state.watch.at(), Some(limit)),
            () = told => stopped(state.watch.at(), None),
        }
    }

    /// Runs a program on this thread.
    fn execute(
        &self,
        session: &Session,
        mut job: Job,
        options: RunOptions<'_>,
        limit: Duration,
        overdue: &AtomicBool,
    ) -> Outcome {
        let program = &job.program.hold.program;
        let arguments: Vec<&Buffer> = job.arguments.iter().map(|held| &held.buffer).collect();
        let began = Instant::now();
        let outcome = program.executable.execute(&arguments, options);
        let took = began.elapsed();
        for (runs, time) in
            [(&self.counters.runs, &self.counters.run_time), (&session.runs, &session.run_time)]
        {
            runs.add(1);
            time.add_time(took);
        }
        match outcome {
            Ok(leaves) => {
                let mut held = |buffer: Buffer| {
                    let shape = buffer.shape();
                    let bytes = shape.stored_size() as u64;
                    let charge = job.results.split(bytes.saturating_add(shape_bytes(shape)));
                    HeldBuffer { buffer, _charge: charge }
                };
                Ok(leaves.into_iter().map(&mut held).collect())
            }
            Err(error) => {
                let stopped = matches!(error, Error::Stopped { .. });
                let count = if stopped { &self.counters.runs_stopped } else { &self.counters.runs_failed };
                count.add(1);
                let error = if overdue.load(Ordering::Relaxed) { error.timed_out(limit) } else { error };
                Err(wire::failure(&error, &program.text))
            }
        }
    }
}

/// Returns the failure of a run that was stopped at an instruction. `limit` is set if its time was over.
fn stopped(program: &Program, at: Option<InstrId>, limit: Option<Duration>) -> Failure {
    let name = at.zip(program.executable.module()).map(|(id, module)| module[id].name.to_string());
    let stopped = Error::Stopped { instruction: at, name: name.unwrap_or_default() };
    let error = match limit {
        Some(limit) => stopped.timed_out(limit),
        None => stopped,
    };
    wire::failure(&error, &program.text)
}

/// Finds the objects that a run uses, and charges its memory.
fn prepare(session: &Arc<Session>, request: ExecuteRequest) -> Result<Job, Status> {
    let program = session.program(request.program)?;
    let executable = &program.hold.program.executable;
    let arguments = request.arguments.into_iter().enumerate().map(|(i, a)| argument(session, i, a));
    let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
    let result = executable.result();
    let around = result.leaves().into_iter().map(shape_bytes).sum();
    let bytes = (result.stored_size().max(result.byte_size()) as u64).saturating_add(around);
    let results = session.account.charge(bytes, "the result of a run")?;
    let forms = session
        .account
        .charge(other_forms(executable.parameters(), &arguments), "arguments in another form")?;
    let arena = program.arena(&session.account)?;
    Ok(Job { program, arguments, results, _arena: arena, _forms: forms })
}

/// Returns the bytes needed for arguments whose layout differs from the program's.
fn other_forms(parameters: &[hlo_ir::Shape], arguments: &[Arc<HeldBuffer>]) -> u64 {
    let differ = parameters.iter().zip(arguments).filter(|(shape, held)| held.buffer.shape() != *shape);
    // One copy as a value, and one in the form that the program takes.
    differ.fold(0, |n, (shape, _)| n + 2 * shape.byte_size() as u64)
}

fn argument(session: &Session, i: usize, argument: Argument) -> Result<Arc<HeldBuffer>, Status> {
    match argument.value {
        Some(Value::Buffer(handle)) => session.buffer(handle),
        Some(Value::Inline(piece)) => {
            let mut array = IncomingArray::new(&piece.shape, &session.account)?;
            array.add(&piece.data)?;
            Ok(Arc::new(array.finish()?))
        }
        None => Err(Status::invalid_argument(format!(
            "argument {i}: expected a buffer or an array, found nothing"
        ))),
    }
}
