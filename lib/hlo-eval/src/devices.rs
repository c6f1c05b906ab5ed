//! Runs on several devices: each device is a thread with an evaluator of its own.

use crate::context::Context;
use crate::error::EvalError;
use crate::evaluator::run_computation;
use crate::module_cache::ModuleCache;
use crate::options::Options;
use crate::sites::{Devices, Sites};
use hlo_communicator::{Failure, InProcess, Observer, Options as WaitOptions, World, run_in};
use hlo_ir::devices::DeviceCounts;
use hlo_ir::effects::effect::Effect;
use hlo_ir::host::{Host, NoHost};
use hlo_ir::watch::{Watch, Watches};
use hlo_ir::{InstrId, Literal, Module, Op};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The inputs and the host of one device of a run.
pub struct DeviceRun<'a> {
    /// One value for each parameter of the entry.
    pub inputs: Vec<Literal>,
    /// The source of the device's infeeds and the target of its outfeeds.
    pub host: &'a mut dyn Host,
    /// The observer of the run, in place of [`Options::watch`]. Only that of the first device is used.
    pub watch: Option<Arc<Watch>>,
}

/// A callback that reports how long a device has waited for others in a collective. Its arguments are the
/// device, the name of the collective, and the time.
pub type WaitCallback<'a> = dyn Fn(usize, &str, Duration) + Sync + 'a;

/// Options for how the devices of a run wait for each other.
#[derive(Clone, Copy, Default)]
pub struct DeviceOptions<'a> {
    /// Maximum time that a device waits for others in a collective. The default is one minute.
    pub timeout: Option<Duration>,
    /// The callback for waiting times.
    pub waited: Option<&'a WaitCallback<'a>>,
    /// The world of devices. By default all devices are in this process. In a world with other processes, the
    /// runs and results are those of the devices of this process.
    pub world: Option<&'a dyn World>,
    /// Cached data of earlier evaluations of the same module with the same options. The module must have no
    /// implicit parts ([`Module::make_explicit`]).
    pub known: Option<&'a ModuleCache>,
}

/// Runs the entry computation on the devices of this process, each with its own inputs.
pub(crate) fn run(
    module: &Module,
    runs: Vec<DeviceRun<'_>>,
    options: &Options,
    devices: &DeviceOptions<'_>,
    body: impl Fn(&mut Context<'_>, Vec<Literal>) -> Result<Literal, EvalError> + Sync,
) -> Result<Vec<Literal>, EvalError> {
    let counts = DeviceCounts::of(module).ok_or_else(|| EvalError::internal("too many devices"))?;
    let world = devices.world.unwrap_or(&InProcess);
    let (sites, table) = match devices.known.and_then(ModuleCache::sites) {
        Some(known) => known,
        None => {
            let (sites, table) = Sites::of(module, counts)?;
            let (sites, table) = (Arc::new(sites), Arc::new(table));
            devices.known.into_iter().for_each(|known| known.note(&sites, &table));
            (sites, table)
        }
    };
    let first = runs.first().and_then(|r| r.watch.clone()).or_else(|| options.watch.clone());
    // A single device without an observer needs no watch.
    let watches = match (counts.devices(), &first) {
        (1, None) => Watches::new(0, None),
        (devices, _) => Watches::with(devices, world.local_devices(devices).start, first),
    };
    let overseer = Supervisor { module, watches: &watches, waited: devices.waited };
    let waits = WaitOptions { observer: &overseer, ..WaitOptions::default() };
    let waits = WaitOptions { timeout: devices.timeout.unwrap_or(waits.timeout), ..waits };
    let errors: Mutex<Vec<(usize, EvalError)>> = Mutex::new(Vec::new());
    let outcome = run_in(world, table, waits, runs, |member, run| {
        let options = Options { watch: watches.of(member.device()).cloned(), ..options.clone() };
        let mut cx = Context::new(module, &options, run.host, run_computation);
        cx.devices = Some(Devices { communicator: member, sites: &sites });
        if let Some(known) = devices.known {
            cx.plans = known.take();
        }
        let outcome = body(&mut cx, run.inputs);
        if let Some(known) = devices.known {
            known.keep(std::mem::take(&mut cx.plans));
        }
        outcome.map_err(|e| match (cx.failed_elsewhere, e.is_stopped) {
            (true, _) => Failure::Remote,
            (false, true) => Failure::Stopped,
            (false, false) => {
                let message = e.message.clone();
                errors.lock().unwrap_or_else(PoisonError::into_inner).push((member.device(), e));
                Failure::Local(message)
            }
        })
    });
    outcome.map_err(|(device, failure)| {
        let errors = std::mem::take(&mut *errors.lock().unwrap_or_else(PoisonError::into_inner));
        let known = errors.into_iter().find(|(of, _)| *of == device).map(|(_, error)| error);
        match (failure, counts.devices()) {
            (Failure::Stopped, _) => {
                let at = watches.of(device).and_then(|w| w.at());
                EvalError { instruction: at, ..EvalError::stopped() }
            }
            (failure, 1) => known.unwrap_or_else(|| EvalError::new(failure.to_string())),
            (failure, _) => {
                let error = known.unwrap_or_else(|| EvalError::new(failure.to_string()));
                EvalError { message: format!("device {device}: {}", error.message), ..error }
            }
        }
    })
}

/// Checks whether an instruction, or a computation that it calls, communicates with other devices or depends
/// on the device number.
pub(crate) fn reaches(module: &Module, id: InstrId) -> bool {
    let (mut open, mut seen) = (vec![id], HashSet::new());
    while let Some(at) = open.pop() {
        let op = &module[at].op;
        if matches!(op.effect(), Effect::Groups(_) | Effect::Pairs { .. })
            || matches!(op, Op::PartitionId | Op::ReplicaId)
        {
            return true;
        }
        let called = op.called_computations().into_iter().filter(|&c| seen.insert(c));
        open.extend(called.flat_map(|c| module[c].instructions().iter().copied()).collect::<Vec<_>>());
    }
    false
}

/// Runs an evaluation on a module with one device.
///
/// # Errors
/// Fails if the module has several devices. Otherwise returns the errors of `body`.
pub(crate) fn run_on_one_device(
    module: &Module,
    options: &Options,
    body: impl Fn(&mut Context<'_>) -> Result<Literal, EvalError> + Sync,
) -> Result<Literal, EvalError> {
    if let Some(first) = hlo_ir::verify::verify_execution(module).into_iter().next() {
        return Err(EvalError::new(first.message));
    }
    if DeviceCounts::of(module).is_none_or(|counts| counts.devices() != 1) {
        return Err(EvalError::new("devices exchange data in a run of the whole program only"));
    }
    let mut host = NoHost;
    let only = DeviceRun { inputs: Vec::new(), host: &mut host, watch: None };
    let mut values = run(module, vec![only], options, &DeviceOptions::default(), |cx, _| body(cx))?;
    values.pop().ok_or_else(|| EvalError::internal("an instruction without a value"))
}

/// Supervises the devices of a run, also of compiled code: if one device fails, it stops the others.
pub struct Supervisor<'a> {
    /// The module that runs.
    pub module: &'a Module,
    /// The watches of the devices.
    pub watches: &'a Watches,
    /// The callback for waiting times.
    pub waited: Option<&'a WaitCallback<'a>>,
}

impl Observer for Supervisor<'_> {
    fn position(&self, device: usize) -> Option<String> {
        self.watches.position(self.module, device)
    }

    fn is_stopped(&self, device: usize) -> bool {
        self.watches.is_stopped(device)
    }

    fn waited(&self, device: usize, name: &str, time: Duration) {
        if let Some(waited) = self.waited {
            waited(device, name, time);
        }
    }

    fn failed(&self) {
        // A single device has no others to stop.
        if self.watches.len() > 1 {
            self.watches.stop();
        }
    }
}
