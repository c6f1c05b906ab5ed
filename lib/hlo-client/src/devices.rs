//! Runs of programs on several devices.

use crate::executable::Executable;
use crate::local::LocalProgram;
use crate::time_limit::limited;
use crate::{Arguments, Buffer, Error, Results, RunOptions};
use hlo_communicator::{InProcess, World};
use hlo_ir::Literal;
use hlo_ir::host::Host;
use hlo_ir::watch::Watch;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What a run on several devices has besides its arguments.
#[derive(Default)]
pub struct DeviceRunOptions<'a> {
    /// What the infeeds and outfeeds of each device read from and write to; none if there are not as many as devices.
    pub hosts: Vec<&'a mut dyn Host>,
    /// Who watches the first device, and may end the run. Where the others are is told in messages only.
    pub watch: Option<Arc<Watch>>,
    /// How long the run may take.
    pub time_limit: Option<Duration>,
    /// How long a device waits for others in a collective; a minute, if it is not said.
    pub collective_timeout: Option<Duration>,
    /// Where it is noted what devices wait for.
    pub waits: Option<&'a Waits>,
    /// Where the devices are; all in this process, if it is not said. If there are other processes, arguments, results and
    /// hosts are those of the devices of this one.
    pub world: Option<&'a dyn World>,
}

/// How often devices have waited for each other in a run or several, and how long.
#[derive(Debug, Default)]
pub struct Waits(Mutex<BTreeMap<(usize, String), (u64, Duration)>>);

/// What a device has waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The device.
    pub device: usize,
    /// The collective: its opcode and its instruction.
    pub name: String,
    /// How often it ran.
    pub count: u64,
    /// How long the device has waited there, in all, until the others came.
    pub time: Duration,
}

impl Waits {
    fn note(&self, device: usize, name: &str, time: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, sum) = all.entry((device, name.to_string())).or_default();
        *count += 1;
        *sum += time;
    }

    /// What was noted, by devices and names.
    pub fn all(&self) -> Vec<Wait> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = |((device, name), &(count, time)): (&(usize, String), &(u64, Duration))| Wait {
            device: *device,
            name: name.clone(),
            count,
            time,
        };
        all.iter().map(wait).collect()
    }
}

impl Executable {
    /// Runs the program on values, one list for each device with one value for each leaf of the parameters, and gives each
    /// device's result. Device `replica × num_partitions + partition` is that replica and partition of the program.
    ///
    /// # Errors
    /// There are not as many lists as devices; a value does not fit its parameter; or what the run ends with, with the number of
    /// the device.
    ///
    /// # Example
    /// ```
    /// use hlo_client::{Client, ClientOptions, CompileOptions, Error};
    /// use hlo_ir::Literal;
    ///
    /// let client = Client::new(&ClientOptions { devices: 4, ..ClientOptions::default() })?;
    /// let sum = client.compile_text("HloModule m, replica_count=4
    /// add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    /// ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] all-reduce(x), to_apply=add }
    /// ", &CompileOptions::default())?;
    /// let values: Vec<_> = (0..4).map(|device| vec![Literal::r1(&[device as f32, 1.0])]).collect();
    /// let sums = sum.run_on_devices(&values)?;
    /// assert!(sums.iter().all(|sum| sum.elements::<f32>() == [6.0, 4.0]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run_on_devices(&self, values: &[Vec<Literal>]) -> Result<Vec<Literal>, Error> {
        let buffers = values.iter().map(|v| self.buffers(v)).collect::<Result<Vec<_>, _>>()?;
        let arguments: Vec<Vec<&Buffer>> = buffers.iter().map(|b| b.iter().collect()).collect();
        let results = self.execute_on_devices(&arguments, DeviceRunOptions::default())?;
        results.into_iter().map(|leaves| self.value(leaves)).collect()
    }

    /// Runs the program on one buffer for each leaf of the parameters of each device, and gives one for each leaf of each
    /// device's result.
    ///
    /// # Errors
    /// As [`Executable::run_on_devices`].
    pub fn execute_on_devices(
        &self,
        arguments: &[Vec<&Buffer>],
        options: DeviceRunOptions<'_>,
    ) -> Result<Vec<Vec<Buffer>>, Error> {
        let arguments = arguments.iter().map(|a| self.arguments(a)).collect::<Result<Vec<_>, _>>()?;
        let mut results = arguments.iter().map(|_| self.room()).collect::<Result<Vec<_>, _>>()?;
        self.execute_on_devices_into(&arguments, &mut results, options)?;
        results.into_iter().map(|r| self.leaves(r)).collect()
    }

    /// Runs the program on all its devices. Compiled code writes the results where those of the last run were, unless buffers
    /// of these are still there.
    ///
    /// # Errors
    /// As [`Executable::execute_into`], and those of [`Executable::run_on_devices`].
    pub fn execute_on_devices_into(
        &self,
        arguments: &[Arguments],
        results: &mut [Results],
        options: DeviceRunOptions<'_>,
    ) -> Result<(), Error> {
        let Some(program) = self.here() else {
            return Err(Error::new("a server runs programs of one device"));
        };
        let DeviceRunOptions { hosts, watch, time_limit, collective_timeout, waits, world } = options;
        let world = world.unwrap_or(&InProcess);
        let all = self.devices().len();
        let devices = world.local_devices(all).len();
        if arguments.len() != devices || results.len() != devices {
            let given = arguments.len();
            let here = if devices == all { "" } else { " here" };
            return Err(Error::new(format!(
                "the program runs on {devices} devices{here}, but was given arguments for {given}"
            )));
        }
        let arguments: Vec<&[Buffer]> = arguments.iter().map(Arguments::buffers).collect();
        let results: Vec<&mut Vec<Buffer>> = results.iter_mut().map(Results::buffers_mut).collect();
        limited(RunOptions { host: None, watch, time_limit }, |options| {
            let place = Place { world, timeout: collective_timeout, waits };
            program.execute_on_devices(&arguments, results, hosts, options.watch, &place)
        })
    }
}

/// Where devices are, and how they wait for each other.
struct Place<'a> {
    world: &'a dyn World,
    timeout: Option<Duration>,
    waits: Option<&'a Waits>,
}

impl LocalProgram {
    /// Runs the program on as many devices as there are arguments and results.
    fn execute_on_devices(
        &self,
        arguments: &[&[Buffer]],
        results: Vec<&mut Vec<Buffer>>,
        hosts: Vec<&mut dyn Host>,
        watch: Option<Arc<Watch>>,
        place: &Place<'_>,
    ) -> Result<(), Error> {
        let devices = arguments.len();
        let mut nobody = vec![hlo_ir::host::NoHost; devices];
        let hosts: Vec<&mut dyn Host> = match hosts.len() == devices {
            true => hosts.into_iter().map(|host| host as &mut dyn Host).collect(),
            false => nobody.iter_mut().map(|host| host as &mut dyn Host).collect(),
        };
        let results = match self.interpreted() {
            Some(evaluation) => {
                let values = arguments.iter().map(|a| self.values(a)).collect::<Result<Vec<_>, _>>()?;
                let runs = values.into_iter().zip(hosts);
                let runs =
                    runs.map(|(inputs, host)| hlo_eval::DeviceRun { inputs, host, watch: watch.clone() });
                let note = |device: usize, name: &str, time: Duration| {
                    place.waits.iter().for_each(|waits| waits.note(device, name, time));
                };
                let options = hlo_eval::DeviceOptions {
                    timeout: place.timeout,
                    waited: place.waits.map(|_| &note as &hlo_eval::Waited<'_>),
                    world: Some(place.world),
                };
                let computed = hlo_eval::evaluate_runs(&self.module, runs.collect(), evaluation, &options);
                let computed = computed.map_err(|e| self.evaluation_failure(e))?;
                let mut kept = Vec::with_capacity(devices);
                for (value, result) in computed.iter().zip(results) {
                    *result = self.result_buffers(value)?;
                    kept.push(result);
                }
                kept
            }
            None => {
                let mut results = results;
                self.run_compiled_on_devices(arguments, &mut results, hosts, watch, place)?;
                results
            }
        };
        results.into_iter().try_for_each(|result| self.check_sizes(result))
    }

    #[cfg(not(feature = "codegen"))]
    fn run_compiled_on_devices(
        &self,
        _: &[&[Buffer]],
        _: &mut [&mut Vec<Buffer>],
        _: Vec<&mut dyn Host>,
        _: Option<Arc<Watch>>,
        _: &Place<'_>,
    ) -> Result<(), Error> {
        Err(Error::new("compiled execution was not built in: the feature `codegen` of hlo-client"))
    }

    #[cfg(feature = "codegen")]
    fn run_compiled_on_devices(
        &self,
        arguments: &[&[Buffer]],
        results: &mut [&mut Vec<Buffer>],
        hosts: Vec<&mut dyn Host>,
        watch: Option<Arc<Watch>>,
        place: &Place<'_>,
    ) -> Result<(), Error> {
        use crate::local::written;
        use hlo_codegen::{DeviceRun, Input};
        use hlo_communicator::{Options, TIMEOUT};
        let Some(program) = self.compiled() else {
            return Err(Error::new("internal error: a program without an engine"));
        };
        let devices = program.devices().devices();
        let first = place.world.local_devices(devices).start;
        let watches = hlo_ir::watch::Watches::with(devices, first, watch);
        let overseer = Overseer { module: &self.module, watches: &watches, waits: place.waits };
        let timeout = place.timeout.unwrap_or(TIMEOUT);
        let options = Options { timeout, observer: &overseer, ..Options::default() };
        let mut runs = Vec::with_capacity(arguments.len());
        let given = arguments.iter().zip(results.iter_mut()).zip(hosts);
        for (number, ((arguments, results), host)) in given.enumerate() {
            for buffer in results.iter_mut() {
                if buffer.bytes_mut().is_none() {
                    *buffer = Buffer::zeros(buffer.shape())?;
                }
            }
            let inputs = arguments.iter().map(|b| b.bytes().map(Input::Bytes));
            let inputs = inputs.collect::<Result<Vec<Input<'_>>, _>>()?;
            let watch = watches.of(first + number).map(|w| &**w);
            runs.push(DeviceRun { inputs, outputs: written(results), host, watch });
        }
        program.run_on_devices_in(place.world, runs, options).map_err(|(device, error)| {
            let failure = self.failure(error);
            if devices > 1 { failure.on_device(device) } else { failure }
        })
    }
}

/// What looks after the devices of compiled code: if one fails, the others are told to end.
#[cfg(feature = "codegen")]
struct Overseer<'a> {
    module: &'a hlo_ir::Module,
    watches: &'a hlo_ir::watch::Watches,
    waits: Option<&'a Waits>,
}

#[cfg(feature = "codegen")]
impl hlo_communicator::Observer for Overseer<'_> {
    fn position(&self, device: usize) -> Option<String> {
        self.watches.position(self.module, device)
    }

    fn is_stopped(&self, device: usize) -> bool {
        self.watches.is_stopped(device)
    }

    fn waited(&self, device: usize, name: &str, time: Duration) {
        self.waits.iter().for_each(|waits| waits.note(device, name, time));
    }

    fn failed(&self) {
        self.watches.stop();
    }
}
