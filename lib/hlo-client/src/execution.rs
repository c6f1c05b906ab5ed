//! Runs that go on while the program does something else.

use crate::buffer::Promise;
use crate::executable::Executable;
use crate::{Buffer, Error, RunOptions};
use hlo_ir::host::Host;
use hlo_ir::watch::Watch;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// What a run has besides its arguments that goes on while its caller does something else.
#[derive(Clone, Default)]
pub struct AsyncRunOptions {
    /// What infeeds read from and outfeeds write to; it is locked while the program runs.
    pub host: Option<Arc<Mutex<dyn Host>>>,
    /// Who watches the run, and may end it.
    pub watch: Option<Arc<Watch>>,
    /// How long it may take once it has begun, as in [`RunOptions`].
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

/// A run that was started.
///
/// Dropping it does not end the run: that is what the [`Watch`] of its options is for.
#[derive(Clone, Debug)]
pub struct Execution {
    results: Vec<Buffer>,
    over: Arc<OnceLock<Result<(), Error>>>,
}

impl Execution {
    /// The leaves of the result, each ready once the run is over. Other runs take them as arguments at once.
    pub fn results(&self) -> &[Buffer] {
        &self.results
    }

    /// The leaves of the result, as [`Execution::results`]. Nobody else has them then, so that they can be given away
    /// ([`Executable::execute_donating`]).
    pub fn into_results(self) -> Vec<Buffer> {
        self.results
    }

    /// True once the run is over, which may be a moment after its results are there.
    pub fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// Waits until the run is over, and gives the leaves of the result.
    ///
    /// # Errors
    /// What the run ended with: see [`Executable::execute`].
    pub fn wait(&self) -> Result<Vec<Buffer>, Error> {
        self.over.wait().clone()?;
        self.results.iter().map(Buffer::settled).collect()
    }
}

/// Who says that a run is over; that it broke off, if it is dropped before.
struct Ending(Arc<OnceLock<Result<(), Error>>>);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.set(Err(Error::new("internal error: the run ended without a result")));
    }
}

impl Executable {
    /// Starts a run on one buffer for each leaf of the parameters, and returns at once. Runs that were started on a device go
    /// on one after the other, in that order; arguments may be results of runs that are not over. What is still to be run when
    /// the process ends is not run.
    ///
    /// A function that a run calls, a host or the target of a custom call, must not wait for a run that was started on the same
    /// device: that one comes after it.
    ///
    /// # Errors
    /// There are more or fewer arguments than parameters, or a buffer that is there does not fit its parameter.
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
        let (results, promises): (Vec<Buffer>, Vec<Promise>) =
            self.result().leaves().into_iter().map(Buffer::later).unzip();
        let over = Arc::new(OnceLock::new());
        let ending = Ending(over.clone());
        let arguments: Vec<Buffer> = arguments.iter().map(|&b| b.clone()).collect();
        let program = self.clone();
        self.device().queue().push(move || {
            let outcome = program.run_here(&arguments, &options);
            // What nobody else needs is free before anybody hears of the end.
            drop((arguments, program));
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
            let _ = ending.0.set(end);
        });
        Ok(Execution { results, over })
    }

    fn run_here(&self, arguments: &[Buffer], options: &AsyncRunOptions) -> Result<Vec<Buffer>, Error> {
        // A run that this one waits for may need the host first.
        let arguments = self.arguments(&arguments.iter().collect::<Vec<_>>())?;
        let mut results = self.room()?;
        // A host whose user panicked is still one.
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
