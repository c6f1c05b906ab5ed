//! The other devices of a run: each is a thread with an evaluator of its own.

use crate::evaluator::Evaluator;
use crate::{EvalError, Options};
use hlo_communicator::{Communicator, Failure, Options as ProcessOptions, Process, Table};
use hlo_ir::devices::{self, DeviceCounts};
use hlo_ir::effects::effect::Effect;
use hlo_ir::host::Host;
use hlo_ir::watch::Watch;
use hlo_ir::{InstrId, Literal, Module};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What one device of a run is given.
pub struct DeviceRun<'a> {
    /// One value for each parameter of the entry.
    pub inputs: Vec<Literal>,
    /// What its infeeds and outfeeds read from and write to.
    pub host: &'a mut dyn Host,
    /// Who watches it, in place of [`Options::watch`].
    pub watch: Option<Arc<Watch>>,
}

/// The collectives of a module by their numbers in a [`Table`].
pub(crate) struct Sites {
    pub(crate) counts: DeviceCounts,
    numbers: HashMap<InstrId, usize>,
}

impl Sites {
    fn of(module: &Module, counts: DeviceCounts) -> Result<(Self, Table), EvalError> {
        let mut table = Table::new(counts.devices());
        let mut numbers = HashMap::new();
        for id in module.computations().flat_map(|c| module[c].instructions().iter().copied()) {
            let op = &module[id].op;
            if !matches!(op.effect(), Effect::Groups(_) | Effect::Pairs { .. }) {
                continue;
            }
            let groups = devices::groups(module, id, counts).map_err(|e| EvalError::new(e).at(id))?;
            numbers.insert(id, table.add(format!("`{}` `{}`", op.name(), module[id].name), &groups));
        }
        Ok((Self { counts, numbers }, table))
    }

    /// The number of a collective.
    pub(crate) fn number(&self, id: InstrId) -> Result<usize, EvalError> {
        self.numbers.get(&id).copied().ok_or_else(|| EvalError::internal("a collective without a number"))
    }
}

/// A device's end of the communication with the others.
#[derive(Clone, Copy)]
pub(crate) struct Devices<'m> {
    pub(crate) communicator: &'m dyn Communicator,
    pub(crate) sites: &'m Sites,
}

impl Devices<'_> {
    /// The number of this device.
    pub(crate) fn own(&self) -> usize {
        self.communicator.device()
    }
}

/// Runs the entry computation on all devices, each with what it is given.
pub(crate) fn run(
    module: &Module,
    runs: Vec<DeviceRun<'_>>,
    options: &Options,
    timeout: Option<Duration>,
    body: impl Fn(&mut Evaluator<'_>, Vec<Literal>) -> Result<Literal, EvalError> + Sync,
) -> Result<Vec<Literal>, EvalError> {
    let counts = DeviceCounts::of(module).ok_or_else(|| EvalError::internal("too many devices"))?;
    let (sites, table) = Sites::of(module, counts)?;
    let names: Vec<Option<Arc<Watch>>> = match runs.len() {
        1 => vec![runs[0].watch.clone().or_else(|| options.watch.clone())],
        // Each device notes where it is, for the messages of those that wait for it.
        _ => runs.iter().map(|r| Some(r.watch.clone().unwrap_or_default())).collect(),
    };
    let mut process = ProcessOptions { position: position(module, &names), ..ProcessOptions::default() };
    process.timeout = timeout.unwrap_or(process.timeout);
    let process = Process::new(Arc::new(table), process);
    let error: Mutex<Option<EvalError>> = Mutex::new(None);
    let states: Vec<_> = runs.into_iter().zip(names).collect();
    let outcome = process.run(states, |member, (run, watch)| {
        let options = Options { watch, ..options.clone() };
        let mut evaluator = Evaluator::new(module, &options, run.host);
        evaluator.devices = Some(Devices { communicator: member, sites: &sites });
        body(&mut evaluator, run.inputs).map_err(|e| match evaluator.failed_elsewhere {
            true => Failure::Elsewhere,
            false => {
                let message = e.message.clone();
                error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
                Failure::Here(message)
            }
        })
    });
    outcome.map_err(|(device, message)| {
        let known = error.lock().unwrap_or_else(PoisonError::into_inner).take();
        let error = known.filter(|e| e.message == message).unwrap_or_else(|| EvalError::new(message));
        match counts.devices() {
            1 => error,
            _ => EvalError { message: format!("device {device}: {}", error.message), ..error },
        }
    })
}

/// What tells where in the module a device is.
fn position(module: &Module, watches: &[Option<Arc<Watch>>]) -> Box<hlo_communicator::Position> {
    let watches = watches.to_vec();
    let names: HashMap<InstrId, String> = match watches.len() {
        1 => HashMap::new(),
        _ => module
            .computations()
            .flat_map(|c| module[c].instructions().iter().copied())
            .map(|id| (id, module[id].name.to_string()))
            .collect(),
    };
    Box::new(move |device| names.get(&watches.get(device)?.as_ref()?.at()?).cloned())
}

impl Evaluator<'_> {
    /// What a communicator says, as an error of this device.
    pub(crate) fn communicated<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, EvalError> {
        outcome.map_err(|failure| {
            self.failed_elsewhere |= failure == Failure::Elsewhere;
            EvalError::new(failure.to_string())
        })
    }
}
