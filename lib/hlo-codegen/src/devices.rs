//! Compiled programs on several devices. Each device is a thread that runs the host function.

use crate::executable::{Executable, Input, RunError};
use hlo_communicator::{Failure, InProcess, Options, World, run_in};
use hlo_ir::devices::DeviceCounts;
use hlo_ir::host::Host;
use hlo_ir::watch::Watch;
use std::sync::{Mutex, PoisonError};

/// The buffers, host and watcher of one device in a run.
pub struct DeviceRun<'a> {
    /// One buffer per flattened parameter leaf.
    pub inputs: Vec<Input<'a>>,
    /// One buffer per flattened result leaf.
    pub outputs: Vec<&'a mut [u8]>,
    /// The host that the device's infeeds read from and its outfeeds write to.
    pub host: &'a mut dyn Host,
    /// The watcher of the run, if any.
    pub watch: Option<&'a Watch>,
}

impl Executable {
    /// Returns the number of devices of a run: `replica_count` × `num_partitions` of the module.
    pub fn devices(&self) -> DeviceCounts {
        self.collectives().counts
    }

    /// Runs the program on all devices at the same time. The device of partition `p` of replica `r` runs
    /// `runs[r × num_partitions + p]`. `options` contains the maximum time that devices wait for each other,
    /// and their observer.
    ///
    /// # Errors
    /// Returns the error of [`Executable::run_watched`] on the first device that fails, with the number of the
    /// device.
    /// [`RunError::Devices`] if the number of runs differs from the number of devices.
    pub fn run_on_devices(
        &self,
        runs: Vec<DeviceRun<'_>>,
        options: Options<'_>,
    ) -> Result<(), (usize, RunError)> {
        self.run_on_devices_in(&InProcess, runs, options)
    }

    /// Like [`Executable::run_on_devices`], but in a world whose other devices may be in other processes.
    /// `runs` are the runs of the devices of this process.
    ///
    /// # Errors
    /// Returns the errors of [`Executable::run_on_devices`]. The device that fails may be one of another process.
    pub fn run_on_devices_in(
        &self,
        world: &dyn World,
        runs: Vec<DeviceRun<'_>>,
        options: Options<'_>,
    ) -> Result<(), (usize, RunError)> {
        let local = world.local_devices(self.devices().devices());
        if runs.len() != local.len() {
            return Err((local.start, RunError::Devices { expected: local.len(), found: runs.len() }));
        }
        let errors: Mutex<Vec<(usize, RunError)>> = Mutex::new(Vec::new());
        let table = self.collectives().table.clone();
        let outcome = run_in(world, table, options, runs, |member, mut run| {
            let result = self.run_among(&run.inputs, &mut run.outputs, run.host, run.watch, Some(member));
            result.map_err(|error| {
                let failure = match &error {
                    RunError::Elsewhere => Failure::Remote,
                    RunError::Stopped { .. } => Failure::Stopped,
                    error => Failure::Local(error.to_string()),
                };
                errors.lock().unwrap_or_else(PoisonError::into_inner).push((member.device(), error));
                failure
            })
        });
        outcome.map(drop).map_err(|(device, failure)| {
            let errors = std::mem::take(&mut *errors.lock().unwrap_or_else(PoisonError::into_inner));
            let known = errors.into_iter().find(|(of, _)| *of == device).map(|(_, error)| error);
            (device, known.unwrap_or_else(|| RunError::Failed(failure.to_string())))
        })
    }
}
