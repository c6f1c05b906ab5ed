//! Asynchronous runs.

use crate::buffer::Promise;
use crate::executable::{Executable, check_device, common_device};
use crate::queue::push_on_all;
use crate::{Buffer, Device, DeviceRunOptions, Error, RunOptions};
use hlo_ir::host::Host;
use hlo_ir::watch::Watch;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Options of an asynchronous run.
#[derive(Clone, Default)]
pub struct AsyncRunOptions {
    /// The host that infeeds read from and outfeeds write to. It is locked while the program runs.
    pub host: Option<Arc<Mutex<dyn Host>>>,
    /// The watch of the run, which can stop it.
    pub watch: Option<Arc<Watch>>,
    /// Maximum duration of the run from its beginning, as in [`RunOptions`].
    pub time_limit: Option<Duration>,
}

impl fmt::Debug for AsyncRunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncRunOptions")
            .field("watch", &self.watch)
            .field("time_limit", &self.time_limit)
            .finish_non_exhaustive()
    }
}

/// Options of an asynchronous run on several devices.
#[derive(Clone, Default)]
pub struct AsyncDeviceRunOptions {
    /// The hosts that the infeeds and outfeeds of each device use, a different one for each device. They are
    /// ignored if their number differs from the number of devices. They are locked while the program runs.
    pub hosts: Vec<Arc<Mutex<dyn Host>>>,
    /// The watch of the first device, which can stop the run.
    pub watch: Option<Arc<Watch>>,
    /// Maximum duration of the run from its beginning.
    pub time_limit: Option<Duration>,
    /// Maximum time that a device waits for the others in a collective. The default is one minute.
    pub collective_timeout: Option<Duration>,
}

impl fmt::Debug for AsyncDeviceRunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncDeviceRunOptions")
            .field("watch", &self.watch)
            .field("time_limit", &self.time_limit)
            .field("collective_timeout", &self.collective_timeout)
            .finish_non_exhaustive()
    }
}

/// A run that was started on one device.
///
/// Dropping it does not stop the run. Use the [`Watch`] of its options for that.
#[derive(Clone, Debug)]
pub struct Execution {
    results: Vec<Buffer>,
    over: Arc<OnceLock<Result<(), Error>>>,
}

impl Execution {
    /// Returns the leaves of the result. Each becomes ready when the run ends. They can be arguments of other
    /// runs at once.
    pub fn results(&self) -> &[Buffer] {
        &self.results
    }

    /// Returns the leaves of the result like [`Execution::results`]. No other reference to them remains, so
    /// that they can be donated ([`Executable::execute_donating`]).
    pub fn into_results(self) -> Vec<Buffer> {
        self.results
    }

    /// Returns whether the run is over. The results may be ready a moment before that.
    pub fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// Waits until the run is over, and returns the leaves of the result.
    ///
    /// # Errors
    /// The error of the run. See [`Executable::execute`].
    pub fn wait(&self) -> Result<Vec<Buffer>, Error> {
        self.over.wait().clone()?;
        self.results.iter().map(Buffer::settled).collect()
    }
}

/// Reports the end of a run. If it is dropped before, it reports that the run was aborted.
struct CompletionReport(Arc<OnceLock<Result<(), Error>>>);

impl Drop for CompletionReport {
    fn drop(&mut self) {
        let _ = self.0.set(Err(Error::new("internal error: the run ended without a result")));
    }
}

impl CompletionReport {
    /// Fulfils the promises, and reports that the run is over.
    fn report(self, promises: Vec<Promise>, outcome: Result<Vec<Buffer>, Error>) {
        let end = match outcome {
            Ok(buffers) => {
                promises.into_iter().zip(buffers).for_each(|(promise, buffer)| promise.keep(Ok(buffer)));
                Ok(())
            }
            Err(error) => {
                promises.into_iter().for_each(|promise| promise.keep(Err(error.clone())));
                Err(error)
            }
        };
        let _ = self.0.set(end);
    }
}

impl Executable {
    /// Starts a run on one buffer for each leaf of the parameters and returns at once. The runs of a device
    /// execute one after the other, in the order in which they were started. Arguments may be results of runs
    /// that are not over. Runs that have not finished when the process ends are abandoned.
    ///
    /// Functions that a run calls, such as a host or the target of a custom call, must not wait for a run
    /// that was started later on the same device: that run cannot begin until the current run ends.
    ///
    /// # Errors
    /// The number of arguments differs from the number of parameters, a ready buffer does not fit its
    /// parameter, or a buffer is on another device.
    ///
    /// # Example
    /// ```
    /// use hlo_client::{AsyncRunOptions, Client, CompileOptions, Error};
    /// use hlo_ir::Literal;
    ///
    /// let text = "HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }";
    /// let double = Client::local().compile_text(text, &CompileOptions::default())?;
    /// let mut values = double.buffers(&[Literal::r1(&[1.0f32, 2.0])])?;
    /// for _ in 0..3 {
    ///     let run = double.execute_async(&values.iter().collect::<Vec<_>>(), AsyncRunOptions::default())?;
    ///     values = run.results().to_vec();
    /// }
    /// assert_eq!(values[0].elements::<f32>()?, [8.0, 16.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn execute_async(&self, arguments: &[&Buffer], options: AsyncRunOptions) -> Result<Execution, Error> {
        self.check_arguments(arguments)?;
        self.check_place(arguments, self.device())?;
        let (results, promises) = self.promised(self.device());
        let over = Arc::new(OnceLock::new());
        let ending = CompletionReport(over.clone());
        let arguments: Vec<Buffer> = arguments.iter().map(|&b| b.clone()).collect();
        let program = self.clone();
        self.device().queue().push(move || {
            let outcome = program.run_here(&arguments, &options);
            // Free the memory before the end of the run becomes visible.
            drop((arguments, program));
            ending.report(promises, outcome);
        });
        Ok(Execution { results, over })
    }

    /// Starts a run of a program on several devices, with one buffer for each leaf of the parameters of each
    /// device. Returns one run for each device at once. The run begins once all of these devices have
    /// finished what was started on them before. Runs started later on one of the devices come after it.
    ///
    /// # Errors
    /// The number of lists differs from the number of devices, two devices have the same host, or the errors
    /// of [`Executable::execute_async`].
    pub fn execute_on_devices_async(
        &self,
        arguments: &[Vec<&Buffer>],
        options: AsyncDeviceRunOptions,
    ) -> Result<Vec<Execution>, Error> {
        if arguments.len() != self.devices().len() {
            let (expected, found) = (self.devices().len(), arguments.len());
            return Err(Error::new(format!(
                "expected arguments for {expected} devices, found them for {found}"
            )));
        }
        for (of_device, device) in arguments.iter().zip(self.devices()) {
            self.check_arguments(of_device)?;
            self.check_place(of_device, device)?;
        }
        let hosts = &options.hosts;
        if hosts.iter().enumerate().any(|(n, a)| hosts[..n].iter().any(|b| Arc::ptr_eq(a, b))) {
            return Err(Error::new("expected a host of its own for each device, found one twice"));
        }
        let (mut runs, mut endings) = (Vec::new(), Vec::new());
        for device in self.devices() {
            let (results, promises) = self.promised(device);
            let over = Arc::new(OnceLock::new());
            endings.push((CompletionReport(over.clone()), promises));
            runs.push(Execution { results, over });
        }
        let arguments: Vec<Vec<Buffer>> =
            arguments.iter().map(|a| a.iter().map(|&b| b.clone()).collect()).collect();
        let program = self.clone();
        push_on_all(self.devices().iter().map(Device::queue), move || {
            let outcome = program.run_on_devices_here(&arguments, &options);
            drop((arguments, program));
            match outcome {
                Ok(all) => {
                    endings.into_iter().zip(all).for_each(|((e, p), results)| e.report(p, Ok(results)))
                }
                Err(error) => endings.into_iter().for_each(|(e, p)| e.report(p, Err(error.clone()))),
            }
        });
        Ok(runs)
    }

    /// Creates the results that a device will compute. For a program on a server, the server decides where
    /// they are stored.
    fn promised(&self, device: &Device) -> (Vec<Buffer>, Vec<Promise>) {
        let device = self.local_program().map(|_| device);
        self.result().leaves().into_iter().map(|shape| Buffer::pending(shape, device)).unzip()
    }

    /// Checks that all arguments of a program in this process are on `device`, whether they are ready or not.
    fn check_place(&self, arguments: &[&Buffer], device: &Device) -> Result<(), Error> {
        match self.local_program() {
            Some(_) => check_device(common_device(arguments.iter().copied())?.as_ref(), device),
            None => Ok(()),
        }
    }

    fn run_on_devices_here(
        &self,
        arguments: &[Vec<Buffer>],
        options: &AsyncDeviceRunOptions,
    ) -> Result<Vec<Vec<Buffer>>, Error> {
        let arguments: Vec<Vec<&Buffer>> = arguments.iter().map(|a| a.iter().collect()).collect();
        // An earlier run may need a host, so wait for it before locking the hosts.
        arguments.iter().flatten().try_for_each(|buffer| buffer.wait())?;
        // Lock the hosts in a fixed order, because another run may use some of them too.
        let mut order: Vec<(usize, &Arc<Mutex<dyn Host>>)> = options.hosts.iter().enumerate().collect();
        order.sort_by_key(|(_, host)| Arc::as_ptr(host).cast::<()>());
        let mut hosts = Vec::with_capacity(order.len());
        for (n, host) in order {
            hosts.push((n, host.lock().unwrap_or_else(PoisonError::into_inner)));
        }
        hosts.sort_by_key(|(n, _)| *n);
        let options = DeviceRunOptions {
            hosts: hosts.iter_mut().map(|(_, host)| &mut **host as &mut dyn Host).collect(),
            watch: options.watch.clone(),
            time_limit: options.time_limit,
            collective_timeout: options.collective_timeout,
            ..DeviceRunOptions::default()
        };
        self.execute_on_devices(&arguments, options)
    }

    fn run_here(&self, arguments: &[Buffer], options: &AsyncRunOptions) -> Result<Vec<Buffer>, Error> {
        // An earlier run may need the host, so wait for it before locking the host.
        let arguments = self.arguments(&arguments.iter().collect::<Vec<_>>())?;
        let mut results = self.allocate_results()?;
        // Use the host even if a run that used it panicked.
        let mut host = options.host.as_ref().map(|host| host.lock().unwrap_or_else(PoisonError::into_inner));
        let options = RunOptions {
            host: host.as_deref_mut().map(|host| host as &mut dyn Host),
            watch: options.watch.clone(),
            time_limit: options.time_limit,
        };
        self.execute_into(&arguments, &mut results, options)?;
        drop(host);
        self.leaves(results)
    }
}
