//! Runs of programs on several devices.

use crate::executable::Executable;
use crate::local::LocalProgram;
use crate::time_limit::limited;
use crate::{Arguments, Buffer, Device, Error, Results, RunOptions, Waits};
#[cfg(feature = "codegen")]
use crate::{donation::PreparedRun, local::written};
#[cfg(feature = "codegen")]
use hlo_codegen::{DeviceRun, Input};
#[cfg(feature = "codegen")]
use hlo_communicator::{DEFAULT_TIMEOUT, Options};
use hlo_communicator::{InProcess, World};
use hlo_ir::Literal;
use hlo_ir::host::{Host, NoHost};
use hlo_ir::watch::Watch;
use std::sync::Arc;
use std::time::Duration;

/// Options of a run on several devices.
#[derive(Default)]
pub struct DeviceRunOptions<'a> {
    /// The hosts that the infeeds and outfeeds of each device use. They are ignored if their number differs
    /// from the number of devices.
    pub hosts: Vec<&'a mut dyn Host>,
    /// The watch of the first device, which can stop the run. The progress of the other devices appears in
    /// messages only.
    pub watch: Option<Arc<Watch>>,
    /// Maximum duration of the run.
    pub time_limit: Option<Duration>,
    /// Maximum time that a device waits for the others in a collective. The default is one minute.
    pub collective_timeout: Option<Duration>,
    /// Records the times that devices wait.
    pub waits: Option<&'a Waits>,
    /// The processes that hold the devices. By default all devices are in this process. With several
    /// processes, arguments, results and hosts are those of the devices of this process.
    pub world: Option<&'a dyn World>,
}

impl Executable {
    /// Runs the program on one list of values for each device and returns the result of each device. Each
    /// list has one value for each leaf of the parameters. Device `replica × num_partitions + partition` runs
    /// that replica and partition of the program.
    ///
    /// # Errors
    /// The number of lists differs from the number of devices, a value does not fit its parameter, or the run
    /// fails. The error of a run names the device.
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

    /// Runs a partitioned program ([`crate::CompileOptions::spmd_partitioning`]) on the values of the whole
    /// program, one for each leaf of its parameters, and returns its result. All replicas get the same
    /// values. The result is that of the first replica.
    ///
    /// # Errors
    /// The program was not partitioned, a value does not fit its parameter, or the errors of
    /// [`Executable::run_on_devices`].
    ///
    /// # Example
    /// ```
    /// use hlo_client::{Client, ClientOptions, CompileOptions, Error};
    /// use hlo_ir::Literal;
    ///
    /// let client = Client::new(&ClientOptions { devices: 2, ..ClientOptions::default() })?;
    /// let options = CompileOptions { spmd_partitioning: true, ..CompileOptions::default() };
    /// let double = client.compile_text("HloModule m, num_partitions=2
    /// ENTRY e { x = f32[4] parameter(0), sharding={devices=[2]<=[2]} ROOT y = f32[4] add(x, x) }
    /// ", &options)?;
    /// assert_eq!(double.parameters()[0].to_string(), "f32[2]");
    /// let y = double.run_partitioned(&[Literal::r1(&[1f32, 2., 3., 4.])])?;
    /// assert_eq!(y.elements::<f32>(), [2.0, 4.0, 6.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run_partitioned(&self, values: &[Literal]) -> Result<Literal, Error> {
        let Some(partition) = self.partition() else {
            return Err(Error::new("the program was not cut into what each device does (spmd_partitioning)"));
        };
        let shards = partition.shards(values)?;
        let replicas = self.devices().len() / shards.len().max(1);
        let mut results = self.run_on_devices(&vec![shards; replicas].concat())?;
        results.truncate(partition.partitions());
        partition.whole(&results)
    }

    /// Runs the program on buffers: for each device, one buffer for each leaf of the parameters. Returns one
    /// buffer for each leaf of each device's result.
    ///
    /// # Errors
    /// As [`Executable::run_on_devices`].
    pub fn execute_on_devices(
        &self,
        arguments: &[Vec<&Buffer>],
        options: DeviceRunOptions<'_>,
    ) -> Result<Vec<Vec<Buffer>>, Error> {
        let arguments = arguments.iter().map(|a| self.arguments(a)).collect::<Result<Vec<_>, _>>()?;
        let mut results = arguments.iter().map(|_| self.allocate_results()).collect::<Result<Vec<_>, _>>()?;
        self.execute_on_devices_into(&arguments, &mut results, options)?;
        results.into_iter().map(|r| self.leaves(r)).collect()
    }

    /// Runs the program on all its devices. Compiled code overwrites the results of the last run, unless
    /// other buffers still share their memory.
    ///
    /// # Errors
    /// As [`Executable::execute_into`] and [`Executable::run_on_devices`].
    pub fn execute_on_devices_into(
        &self,
        arguments: &[Arguments],
        results: &mut [Results],
        options: DeviceRunOptions<'_>,
    ) -> Result<(), Error> {
        let (program, devices) = self.devices_here(arguments.len(), &options)?;
        if results.len() != devices.len() {
            let (expected, found) = (devices.len(), results.len());
            return Err(Error::new(format!(
                "expected memory for the results of {expected} devices, found {found}"
            )));
        }
        arguments.iter().zip(devices).try_for_each(|(a, device)| a.check_device(device))?;
        let arguments: Vec<&[Buffer]> = arguments.iter().map(Arguments::buffers).collect();
        let memory: Vec<&mut Vec<Buffer>> = results.iter_mut().map(Results::buffers_mut).collect();
        options.limited(|hosts, watch, place| {
            program.execute_on_devices(&arguments, memory, hosts, watch, place)
        })?;
        results.iter_mut().zip(devices).for_each(|(result, device)| result.set_device(device));
        Ok(())
    }

    /// Runs the program on arguments of which some were donated.
    #[cfg(feature = "codegen")]
    pub(crate) fn execute_given_on_devices(
        &self,
        mut given: Vec<PreparedRun>,
        options: DeviceRunOptions<'_>,
    ) -> Result<Vec<Vec<Buffer>>, Error> {
        let (program, devices) = self.devices_here(given.len(), &options)?;
        given.iter().zip(devices).try_for_each(|(g, device)| g.check_device(device))?;
        let runs = given.iter_mut().map(PreparedRun::parts).collect::<Result<Vec<_>, Error>>()?;
        options.limited(|hosts, watch, place| program.run_compiled_on_devices(runs, hosts, watch, place))?;
        let results = given.into_iter().zip(devices);
        results.map(|(given, device)| program.finish(given.into_results(device))).collect()
    }

    /// Returns the program and those of its devices that are in this process. Checks that `given`, the number
    /// of argument lists, matches them.
    fn devices_here(
        &self,
        given: usize,
        options: &DeviceRunOptions<'_>,
    ) -> Result<(&LocalProgram, &[Device]), Error> {
        let Some(program) = self.local_program() else {
            return Err(Error::new("a server runs programs of one device"));
        };
        let all = self.devices();
        let local = options.world.unwrap_or(&InProcess).local_devices(all.len());
        let devices = all.get(local).unwrap_or_default();
        if given != devices.len() {
            let here = if devices.len() == all.len() { "" } else { " here" };
            let devices = devices.len();
            return Err(Error::new(format!(
                "the program runs on {devices} devices{here}, but was given arguments for {given}"
            )));
        }
        Ok((program, devices))
    }
}

impl<'a> DeviceRunOptions<'a> {
    /// Runs `run` with these options and stops it when its time is over.
    fn limited(
        self,
        run: impl FnOnce(Vec<&'a mut dyn Host>, Option<Arc<Watch>>, &Rendezvous<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { hosts, watch, time_limit, collective_timeout: timeout, waits, world } = self;
        let place = Rendezvous { world: world.unwrap_or(&InProcess), timeout, waits };
        limited(RunOptions { host: None, watch, time_limit }, |options| run(hosts, options.watch, &place))
    }
}

/// The location of the devices, and how they wait for each other.
struct Rendezvous<'a> {
    world: &'a dyn World,
    timeout: Option<Duration>,
    waits: Option<&'a Waits>,
}

impl Rendezvous<'_> {
    /// Records how long a device waited, if the caller wants that recorded.
    fn note(&self, device: usize, name: &str, time: Duration) {
        self.waits.iter().for_each(|waits| waits.note(device, name, time));
    }
}

impl LocalProgram {
    /// Runs the program on one device for each entry of `arguments` and `results`.
    fn execute_on_devices(
        &self,
        arguments: &[&[Buffer]],
        results: Vec<&mut Vec<Buffer>>,
        hosts: Vec<&mut dyn Host>,
        watch: Option<Arc<Watch>>,
        place: &Rendezvous<'_>,
    ) -> Result<(), Error> {
        let devices = arguments.len();
        let results = match self.interpreted() {
            Some(interpreted) => {
                let values = arguments.iter().map(|a| self.values(a)).collect::<Result<Vec<_>, _>>()?;
                let mut nobody = vec![NoHost; devices];
                let runs = values.into_iter().zip(hosts_or_none(hosts, &mut nobody));
                let runs =
                    runs.map(|(inputs, host)| hlo_eval::DeviceRun { inputs, host, watch: watch.clone() });
                let note = |device: usize, name: &str, time: Duration| place.note(device, name, time);
                let options = hlo_eval::DeviceOptions {
                    timeout: place.timeout,
                    waited: place.waits.map(|_| &note as &hlo_eval::WaitCallback<'_>),
                    world: Some(place.world),
                    known: interpreted.known.as_ref(),
                };
                let computed = hlo_eval::evaluate_runs(
                    self.module.as_ref(),
                    runs.collect(),
                    &interpreted.options,
                    &options,
                );
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
                self.compute_on_devices(arguments, &mut results, hosts, watch, place)?;
                results
            }
        };
        results.into_iter().try_for_each(|result| self.check_sizes(result))
    }

    #[cfg(not(feature = "codegen"))]
    fn compute_on_devices(
        &self,
        _: &[&[Buffer]],
        _: &mut [&mut Vec<Buffer>],
        _: Vec<&mut dyn Host>,
        _: Option<Arc<Watch>>,
        _: &Rendezvous<'_>,
    ) -> Result<(), Error> {
        Err(Error::new("compiled execution was not built in: the feature `codegen` of hlo-client"))
    }

    /// Runs compiled code, which overwrites the results of the last run.
    #[cfg(feature = "codegen")]
    fn compute_on_devices(
        &self,
        arguments: &[&[Buffer]],
        results: &mut [&mut Vec<Buffer>],
        hosts: Vec<&mut dyn Host>,
        watch: Option<Arc<Watch>>,
        place: &Rendezvous<'_>,
    ) -> Result<(), Error> {
        let mut runs = Vec::with_capacity(arguments.len());
        for (arguments, results) in arguments.iter().zip(results.iter_mut()) {
            results.iter_mut().try_for_each(Buffer::make_own)?;
            let inputs = arguments.iter().map(|b| b.bytes().map(Input::Bytes));
            runs.push((inputs.collect::<Result<_, _>>()?, written(results)));
        }
        self.run_compiled_on_devices(runs, hosts, watch, place)
    }

    #[cfg(feature = "codegen")]
    fn run_compiled_on_devices(
        &self,
        given: Vec<(Vec<Input<'_>>, Vec<&mut [u8]>)>,
        hosts: Vec<&mut dyn Host>,
        watch: Option<Arc<Watch>>,
        place: &Rendezvous<'_>,
    ) -> Result<(), Error> {
        let Some(program) = self.compiled() else {
            return Err(Error::new("internal error: a program without an engine"));
        };
        let devices = program.devices().devices();
        let first = place.world.local_devices(devices).start;
        let watches = hlo_ir::watch::Watches::with(devices, first, watch);
        let note = |device: usize, name: &str, time: Duration| place.note(device, name, time);
        let waited = place.waits.map(|_| &note as &hlo_eval::WaitCallback<'_>);
        let overseer = hlo_eval::Supervisor { module: &self.module, watches: &watches, waited };
        let timeout = place.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let options = Options { timeout, observer: &overseer, ..Options::default() };
        let mut nobody = vec![NoHost; given.len()];
        let hosts = hosts_or_none(hosts, &mut nobody);
        let runs = given.into_iter().zip(hosts).enumerate().map(|(number, ((inputs, outputs), host))| {
            let watch = watches.of(first + number).map(|w| &**w);
            DeviceRun { inputs, outputs, host, watch }
        });
        program.run_on_devices_in(place.world, runs.collect(), options).map_err(|(device, error)| {
            let failure = self.failure(error);
            if devices > 1 { failure.on_device(device) } else { failure }
        })
    }
}

/// Returns `hosts` if there is one for each device, and otherwise hosts that do nothing.
fn hosts_or_none<'a, 'h: 'a>(
    hosts: Vec<&'h mut dyn Host>,
    nobody: &'a mut [NoHost],
) -> Vec<&'a mut dyn Host> {
    if hosts.len() == nobody.len() {
        hosts.into_iter().map(|host| host as &mut dyn Host).collect()
    } else {
        nobody.iter_mut().map(|host| host as &mut dyn Host).collect()
    }
}
