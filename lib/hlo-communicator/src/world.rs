//! Worlds: the devices of a program are all in this process, or distributed over the processes of a job.

use crate::{Communicator, Failure, Options, Process, Table, run_data};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The function that each device runs.
pub type Body<'a> = dyn Fn(&dyn Communicator) -> Result<(), Failure> + Sync + 'a;

/// The set of processes that run the devices of a program.
pub trait World: Sync {
    /// Returns the devices of a program that are in this process.
    fn local_devices(&self, devices: usize) -> Range<usize>;

    /// Runs `body` on all devices of a program with these collectives. This process runs its own devices,
    /// each on its own thread. Other processes, if there are any, must call this at the same time.
    ///
    /// # Errors
    /// The first failure of a device of any process, with its number. A device fails if its body returns an
    /// error or panics, if its thread cannot be started, or if it sent a value that was not received.
    fn run(&self, table: Arc<Table>, options: Options<'_>, body: &Body<'_>) -> Result<(), (usize, Failure)>;
}

/// The world of one process, which has all devices ([`Process`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

impl World for InProcess {
    fn local_devices(&self, devices: usize) -> Range<usize> {
        0..devices
    }

    fn run(&self, table: Arc<Table>, options: Options<'_>, body: &Body<'_>) -> Result<(), (usize, Failure)> {
        let states = vec![(); table.devices()];
        Process::new(table, options).run(states, |member, ()| body(member)).map(drop)
    }
}

/// Runs `body` in a world, where each device of this process receives its own element of `states`. Returns
/// the results of these devices in their order.
///
/// # Errors
/// Returns the errors of [`World::run`]. Also fails if the number of states differs from the number of devices of this
/// process.
///
/// # Example
/// ```
/// use hlo_communicator::{Communicator, InProcess, Options, Table, run_in};
/// use std::sync::Arc;
///
/// let table = Arc::new(Table::new(2));
/// let results = run_in(&InProcess, table, Options::default(), vec!["a", "b"], |device, state| {
///     Ok(format!("{state}{}", device.device()))
/// });
/// assert_eq!(results, Ok(vec!["a0".to_string(), "b1".to_string()]));
/// ```
pub fn run_in<S: Send, R: Send>(
    world: &dyn World,
    table: Arc<Table>,
    options: Options<'_>,
    states: Vec<S>,
    body: impl Fn(&dyn Communicator, S) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, (usize, Failure)> {
    let local = world.local_devices(table.devices());
    if states.len() != local.len() {
        let (given, devices) = (states.len(), local.len());
        let message = format!("{given} devices were given something to run, there are {devices}");
        return Err((local.start, message.into()));
    }
    let states: Vec<Mutex<Option<S>>> = states.into_iter().map(|s| Mutex::new(Some(s))).collect();
    let results: Vec<Mutex<Option<R>>> = states.iter().map(|_| Mutex::new(None)).collect();
    world.run(table, options, &|member| {
        let place = member.device().wrapping_sub(local.start);
        let slots = states.get(place).zip(results.get(place));
        let (state, result) =
            slots.ok_or_else(|| Failure::from("internal error: a device too many".to_string()))?;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let state = state.ok_or_else(|| Failure::from("internal error: a device runs twice".to_string()))?;
        let value = body(member, state)?;
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        Ok(())
    })?;
    let results = results.into_iter().map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
    let results: Option<Vec<R>> = results.collect();
    results.ok_or_else(|| (local.start, Failure::Local("internal error: a device has no result".into())))
}

/// Runs `body` for each of these devices, on a thread of its own with a stack of `stack` bytes, while
/// `meanwhile` runs on the calling thread. The threads inherit the caller's [`run_data`]. `body` must not
/// panic. If a thread cannot be started, `no_thread` is called with its device.
pub fn on_threads(
    devices: Range<usize>,
    stack: usize,
    body: &(dyn Fn(usize) + Sync),
    no_thread: &dyn Fn(usize, Failure),
    meanwhile: impl FnOnce(),
) {
    std::thread::scope(|scope| {
        for device in devices {
            let builder = std::thread::Builder::new();
            let builder = builder.name(format!("hlo device {device}")).stack_size(stack);
            let data = run_data::current();
            if let Err(e) = builder.spawn_scoped(scope, move || run_data::with(data, || body(device))) {
                no_thread(device, format!("there is no thread for the device: {e}").into());
            }
        }
        meanwhile();
    });
}

/// Runs `body` and converts a panic to a failure.
///
/// # Errors
/// The error of `body`, or a failure if it panicked.
pub fn catch_panic<R>(body: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    let panicked = |_: Box<dyn Any + Send>| Err(Failure::Local("internal error: a panic".into()));
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(panicked)
}

/// Returns a list of at most eight devices as text: `0, 1 and 2`.
pub fn listed(devices: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = devices.into_iter().collect();
    match &all[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if first.len() < 8 => format!("{} and {last}", first.join(", ")),
        all => format!("{} and {} more", all[..8].join(", "), all.len() - 8),
    }
}
