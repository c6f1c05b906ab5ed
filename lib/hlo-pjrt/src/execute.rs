//! Runs of programs.

use crate::buffer::{Buffer, Value};
use crate::engines::{Calls, RunIndex};
use crate::event::Event;
use crate::fault::{Fault, Result, catch};
use crate::ffi::ExecuteContext;
use crate::pool::Unfinished;
use crate::program::{Leaf, Program};
use crate::promise::{Pending, Promise};
use crate::task::{Task, TaskReference};
use hlo_client::run_data::{self, RunData};
use hlo_client::{Argument, Buffer as Array, DeviceRunOptions, Executable, RunOptions};
use hlo_ir::Shape;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// An argument of a run.
struct RunArgument {
    value: Value,
    /// Whether the run may write to the argument.
    is_donated: bool,
}

/// The caller's settings of a run.
pub struct Run<'a> {
    /// The arguments, one list for each device.
    pub arguments: Vec<Vec<&'a Buffer>>,
    /// The arguments that must not be donated, whatever the program says.
    pub kept: Vec<usize>,
    /// The data that the caller provides for functions that the program calls.
    pub context: Option<&'a ExecuteContext>,
    /// The device that the caller selects for a portable program.
    pub device: Option<usize>,
}

/// The results on each device, and the event that completes when they are ready.
pub type Started = Vec<(Vec<Buffer>, Event)>;

/// Starts a run. A short run whose arguments are ready is over when this function returns.
///
/// # Errors
/// The arguments do not fit the program, or one of them was deleted.
pub fn execute(program: &Arc<Program>, run: Run<'_>) -> Result<Started> {
    let devices = match run.device {
        Some(device) => vec![device],
        None => program.devices.clone(),
    };
    if run.arguments.len() != devices.len() {
        let (expected, found) = (devices.len(), run.arguments.len());
        return Err(Fault::invalid(format!(
            "expected arguments for {expected} devices, found them for {found}"
        )));
    }
    for arguments in &run.arguments {
        check(program, arguments)?;
    }
    let calls_back = program.calls == Calls::Python;
    let context = run.context.filter(|_| program.calls != Calls::Nobody).map(ExecuteContext::user_data);
    let given = run.arguments.iter().map(|list| take_arguments(program, list, &run.kept));
    let given = given.collect::<Result<Vec<Vec<RunArgument>>>>()?;
    let waits: Vec<Arc<Promise<()>>> = (given.iter().flatten())
        .filter_map(|g| match &g.value {
            Value::Ready(_) => None,
            Value::Pending(pending) => Some(pending.over().clone()),
        })
        .collect();
    let turn = program.engines.begin_run()?;
    if program.engines.starts_compilation(turn) {
        program.compile_later();
    }
    if waits.is_empty() && program.engines.is_quick(turn) && !calls_back && devices.len() == 1 {
        let outcome = perform(program, turn, given, context);
        return Ok(finished(program, &devices, outcome));
    }
    let ticket = (!calls_back).then(|| program.platform.pool.admit());
    let maker = TaskReference::default();
    let pending = || program.results.iter().map(|_| Pending::by(maker.clone())).collect();
    let promises: Vec<Vec<Arc<Pending>>> = devices.iter().map(|_| pending()).collect();
    let over: Arc<Promise<()>> = Arc::default();
    let started = devices.iter().zip(&promises).map(|(&device, promises)| {
        let values = promises.iter().map(|p| Value::Pending(p.clone()));
        let event = Event::Later(over.clone());
        (buffers(program, device, values), event)
    });
    let started = started.collect();
    // Without results, nothing else would report an exception of the caller's function.
    let awaited = (calls_back && program.results.is_empty()).then(|| over.clone());
    let (here, platform) = (program.clone(), program.platform.clone());
    let unfinished = Unfinished::new(calls_back);
    if calls_back {
        platform.effects.begin(over.clone());
    }
    let job = move || {
        let outcome = perform(&here, turn, given, context);
        let platform = here.platform.clone();
        drop(ticket);
        let outcome = keep(&here, promises, outcome);
        drop(here);
        if calls_back {
            platform.effects.end(&over, outcome);
        } else {
            over.keep(outcome);
        }
        drop((platform, unfinished));
    };
    let is_short = devices.len() == 1 && program.engines.is_short(turn);
    run_after(waits, move || {
        if calls_back {
            return platform.pool.push_apart(job);
        }
        let task = Task::new(job);
        if is_short {
            maker.offer(&task);
        }
        platform.pool.push_task(task);
    });
    awaited.map_or(Ok(()), |over| over.wait().clone())?;
    Ok(started)
}

/// Fulfils the promises of the results of a run. Tokens are ready even if the run failed, because they only
/// define an order and later operations must be able to continue.
fn keep(program: &Program, promises: Vec<Vec<Arc<Pending>>>, outcome: Result<Vec<Vec<Array>>>) -> Result {
    match outcome {
        Ok(results) => {
            for (promise, array) in promises.into_iter().flatten().zip(results.into_iter().flatten()) {
                promise.keep(Ok(array));
            }
            Ok(())
        }
        Err(fault) => {
            for (promise, leaf) in
                promises.into_iter().flat_map(|list| list.into_iter().zip(&program.results))
            {
                promise.keep(if leaf.is_token() { leaf.token() } else { Err(fault.clone()) });
            }
            Err(fault)
        }
    }
}

/// Returns the results of a run that is over.
fn finished(program: &Arc<Program>, devices: &[usize], outcome: Result<Vec<Vec<Array>>>) -> Started {
    match outcome {
        Ok(results) => (devices.iter().zip(results))
            .map(|(&device, arrays)| {
                (buffers(program, device, arrays.into_iter().map(Value::Ready)), Event::Over(Ok(())))
            })
            .collect(),
        Err(fault) => (devices.iter())
            .map(|&device| {
                let promises: Vec<Arc<Pending>> =
                    program.results.iter().map(|_| Pending::by(TaskReference::default())).collect();
                let outcome = keep(program, vec![promises.clone()], Err(fault.clone()));
                let failed = promises.into_iter().map(Value::Pending);
                (buffers(program, device, failed), Event::Over(outcome))
            })
            .collect(),
    }
}

/// Creates the caller's buffers for the results of a run on a device.
fn buffers(program: &Arc<Program>, device: usize, values: impl Iterator<Item = Value>) -> Vec<Buffer> {
    let platform = &program.platform;
    let buffer = |(leaf, value): (&Leaf, Value)| {
        let memory = platform.memory_of_kind(device, leaf.memory_kind);
        // Until the array is ready, dynamic dimensions have their bounds.
        let dims = match &value {
            Value::Ready(array) => array.shape().as_array().map(|a| a.dims.clone()),
            Value::Pending(_) => None,
        };
        let dims = dims.unwrap_or_else(|| leaf.dims.clone());
        Buffer::new(platform.clone(), memory, leaf.element_type, dims, value).in_order(leaf.order.clone())
    };
    program.results.iter().zip(values).map(buffer).collect()
}

/// Runs a job once all promises are fulfilled, successfully or not.
fn run_after(waits: Vec<Arc<Promise<()>>>, job: impl FnOnce() + Send + 'static) {
    if waits.is_empty() {
        return job();
    }
    let left = Arc::new(AtomicUsize::new(waits.len()));
    let job = Arc::new(Mutex::new(Some(job)));
    for wait in waits {
        let (left, job) = (left.clone(), job.clone());
        wait.then(move |_| {
            if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                let job = job.lock().unwrap_or_else(PoisonError::into_inner).take();
                job.into_iter().for_each(|job| job());
            }
        });
    }
}

/// Checks that the arguments match the parameters of the program.
fn check(program: &Program, arguments: &[&Buffer]) -> Result {
    if arguments.len() != program.parameters.len() {
        let (expected, found) = (program.parameters.len(), arguments.len());
        return Err(Fault::invalid(format!("the program takes {expected} arguments, found {found}")));
    }
    for (n, (leaf, buffer)) in program.parameters.iter().zip(arguments).enumerate() {
        if !Arc::ptr_eq(&buffer.platform, &program.platform) {
            return Err(Fault::invalid(format!("argument {n} is another client's")));
        }
        let fits = match &leaf.shape {
            Shape::Array(array) if !array.is_static() => array.accepts_sizes(&buffer.dims),
            _ => leaf.dims == buffer.dims,
        };
        if !fits || leaf.element_type != buffer.element_type {
            let expected = Shape::array(leaf.element_type, leaf.dims.iter().copied());
            return Err(Fault::invalid(format!(
                "argument {n}: expected a buffer of {expected}, found one of {}",
                buffer.shape()
            )));
        }
    }
    Ok(())
}

/// Takes the arguments from the caller's buffers.
fn take_arguments(program: &Program, arguments: &[&Buffer], kept: &[usize]) -> Result<Vec<RunArgument>> {
    let mut donated = Cow::Borrowed(&program.donated);
    for &n in kept.iter().filter(|&&n| n < program.donated.len()) {
        donated.to_mut()[n] = false;
    }
    if donated.contains(&true) {
        let mut uses: HashMap<*const Buffer, (usize, bool)> = HashMap::new();
        for (n, (&buffer, &is_donated)) in arguments.iter().zip(&*donated).enumerate() {
            match uses.insert(buffer, (n, is_donated)) {
                Some((first, was_donated)) if is_donated || was_donated => {
                    return Err(Fault::invalid(format!(
                        "Attempt to donate the same buffer twice in Execute(): it is argument {first} and argument {n}"
                    )));
                }
                _ => {}
            }
        }
    }
    let mut given = Vec::with_capacity(arguments.len());
    for (&buffer, &is_donated) in arguments.iter().zip(&*donated) {
        let value = if is_donated { buffer.take()? } else { buffer.value()? };
        given.push(RunArgument { value, is_donated: is_donated && !buffer.is_shared() });
    }
    Ok(given)
}

/// Executes a run whose arguments are ready.
fn perform(
    program: &Program,
    turn: RunIndex,
    given: Vec<Vec<RunArgument>>,
    context: Option<Arc<crate::ffi::UserData>>,
) -> Result<Vec<Vec<Array>>> {
    catch(|| {
        let executable = program.executable_of(turn);
        let start = Instant::now();
        let context = context.map(|data| data as RunData);
        let results = run_data::with(context, || run(program, executable, given))?;
        program.engines.note(start.elapsed());
        Ok(results)
    })
}

fn run(program: &Program, executable: &Executable, given: Vec<Vec<RunArgument>>) -> Result<Vec<Vec<Array>>> {
    let mut arguments: Vec<Vec<Owned>> = Vec::with_capacity(given.len());
    let mut kept = HashSet::new();
    for (list, device) in given.into_iter().zip(executable.devices()) {
        let mut own = Vec::with_capacity(list.len());
        for (given, leaf) in list.into_iter().zip(&program.parameters) {
            let array = match given.value {
                Value::Ready(array) => array,
                Value::Pending(pending) => pending.into_array()?,
            };
            if leaf.is_token() {
                own.push(Owned { array: Array::zeros(&Shape::Token)?, is_donated: false });
                continue;
            }
            let array = leaf.placed(array)?;
            let elsewhere = array.device().is_some_and(|d| d != device);
            let array = if elsewhere { array.copy_to_device(device)? } else { array };
            if !given.is_donated {
                kept.insert(array.bytes()?.as_ptr().addr());
            }
            own.push(Owned { array, is_donated: given.is_donated });
        }
        arguments.push(own);
    }
    let lists = arguments.iter_mut().map(|own| own.iter_mut().map(Owned::argument).collect());
    let mut lists: Vec<Vec<Argument<'_>>> = lists.collect();
    let results = match lists.len() {
        1 => vec![executable.execute_donating(lists.remove(0), RunOptions::default())?],
        _ => executable.execute_on_devices_donating(lists, DeviceRunOptions::default())?,
    };
    results.into_iter().map(|leaves| own_memory(program, leaves, &mut kept)).collect()
}

/// An argument that is kept for the duration of the run.
struct Owned {
    array: Array,
    is_donated: bool,
}

impl Owned {
    fn argument(&mut self) -> Argument<'_> {
        if self.is_donated {
            let nothing = Array::zeros(&Shape::Token).unwrap_or_else(|_| self.array.clone());
            Argument::Donated(std::mem::replace(&mut self.array, nothing))
        } else {
            Argument::Kept(&self.array)
        }
    }
}

/// Converts results to the layouts of the program's results. Gives each result its own memory, separate from
/// the memory of kept arguments and of other results.
fn own_memory(program: &Program, leaves: Vec<Array>, taken: &mut HashSet<usize>) -> Result<Vec<Array>> {
    let mut results = Vec::with_capacity(leaves.len());
    for (array, leaf) in leaves.into_iter().zip(&program.results) {
        if leaf.is_token() {
            results.push(leaf.token()?);
            continue;
        }
        let array = leaf.placed(array)?;
        let bytes = array.bytes()?;
        let is_new = bytes.is_empty() || taken.insert(bytes.as_ptr().addr());
        let array = if is_new { array } else { Array::from_slice(bytes, array.shape())? };
        results.push(array);
    }
    Ok(results)
}
