//! Donated arguments, whose memory becomes that of results.

use crate::executable::Executable;
use crate::{Buffer, DeviceRunOptions, Error, RunOptions};
#[cfg(feature = "codegen")]
use crate::{
    Device,
    executable::{check_device, common_device},
    local::{LocalProgram, written},
    time_limit::limited,
};
#[cfg(feature = "codegen")]
use hlo_codegen::Input;

/// An argument of a run ([`Executable::execute_donating`]).
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// The caller keeps the buffer.
    Kept(&'a Buffer),
    /// The caller donates the buffer.
    Donated(Buffer),
}

impl Argument<'_> {
    /// Returns the buffer.
    pub fn buffer(&self) -> &Buffer {
        match self {
            Argument::Kept(buffer) => buffer,
            Argument::Donated(buffer) => buffer,
        }
    }
}

impl Executable {
    /// Runs the program as [`Executable::execute`] does, on arguments of which some are donated. If the
    /// module's `input_output_alias` maps a result to a donated argument, the result reuses the memory of the
    /// argument. Where the program updates the argument, it does so in place, so a training step or a growing
    /// cache costs no copy. This requires a program compiled with [`crate::CompileOptions::donation`] and an
    /// argument whose memory no clone and no value shares. Other donated arguments are freed after the run.
    ///
    /// # Errors
    /// As [`Executable::execute`].
    ///
    /// # Example
    /// ```
    /// use hlo_client::{Argument, Client, CompileOptions, RunOptions};
    /// use hlo_ir::Literal;
    ///
    /// let text = "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
    /// ENTRY e {
    ///   cache = f32[1000] parameter(0)
    ///   value = f32[1] parameter(1)
    ///   at = s32[] parameter(2)
    ///   ROOT next = f32[1000] dynamic-update-slice(cache, value, at)
    /// }";
    /// let options = CompileOptions { donation: true, ..CompileOptions::default() };
    /// let append = Client::local().compile_text(text, &options)?;
    /// let mut cache = append.buffers(&[
    ///     Literal::full(&[1000], 0f32).expect("memory"), Literal::r1(&[1f32]), Literal::r0(0i32),
    /// ])?.remove(0);
    /// for n in 0..10 {
    ///     let value = Literal::r1(&[n as f32]);
    ///     let value = hlo_client::Buffer::from_literal(&value, value.shape())?;
    ///     let at = hlo_client::Buffer::from_slice(&[n], &append.parameters()[2])?;
    ///     let arguments = vec![Argument::Donated(cache), Argument::Kept(&value), Argument::Kept(&at)];
    ///     cache = append.execute_donating(arguments, RunOptions::default())?.remove(0);
    /// }
    /// assert_eq!(cache.elements::<f32>()?[..4], [0.0, 1.0, 2.0, 3.0]);
    /// # Ok::<(), hlo_client::Error>(())
    /// ```
    pub fn execute_donating(
        &self,
        arguments: Vec<Argument<'_>>,
        options: RunOptions<'_>,
    ) -> Result<Vec<Buffer>, Error> {
        #[cfg(feature = "codegen")]
        if let Some(program) = self.in_place() {
            return self.execute_in_place(program, arguments, options);
        }
        let buffers: Vec<&Buffer> = arguments.iter().map(Argument::buffer).collect();
        self.execute(&buffers, options)
    }

    /// Runs the program as [`Executable::execute_on_devices`] does, on arguments of which some are donated,
    /// as in [`Executable::execute_donating`].
    ///
    /// # Errors
    /// As [`Executable::execute_on_devices`].
    pub fn execute_on_devices_donating(
        &self,
        arguments: Vec<Vec<Argument<'_>>>,
        options: DeviceRunOptions<'_>,
    ) -> Result<Vec<Vec<Buffer>>, Error> {
        #[cfg(feature = "codegen")]
        if let Some((here, program)) = self.in_place() {
            let given = arguments.into_iter().map(|a| self.given((here, program), a));
            return self.execute_given_on_devices(given.collect::<Result<_, _>>()?, options);
        }
        let buffers: Vec<Vec<&Buffer>> =
            arguments.iter().map(|a| a.iter().map(Argument::buffer).collect()).collect();
        self.execute_on_devices(&buffers, options)
    }

    /// Returns the program if it can reuse the memory of arguments.
    #[cfg(feature = "codegen")]
    fn in_place(&self) -> Option<(&LocalProgram, &hlo_codegen::Executable)> {
        let here = self.local_program()?;
        let program = here.compiled().filter(|p| !p.donations().is_empty() && !here.is_padded())?;
        Some((here, program))
    }

    #[cfg(feature = "codegen")]
    fn execute_in_place(
        &self,
        (here, program): (&LocalProgram, &hlo_codegen::Executable),
        arguments: Vec<Argument<'_>>,
        options: RunOptions<'_>,
    ) -> Result<Vec<Buffer>, Error> {
        let mut given = self.given((here, program), arguments)?;
        given.check_device(self.device())?;
        let (inputs, mut outputs) = given.parts()?;
        limited(options, |options| {
            let mut nobody = hlo_ir::host::NoHost;
            let host = options.host.unwrap_or(&mut nobody);
            let outcome = program.run_watched(&inputs, &mut outputs, host, options.watch.as_deref());
            outcome.map_err(|e| here.failure(e))
        })?;
        here.finish(given.into_results(self.device()))
    }

    /// Converts arguments to the form that the program takes. Donated arguments that can be reused become the
    /// memory of results.
    #[cfg(feature = "codegen")]
    fn given(
        &self,
        (here, program): (&LocalProgram, &hlo_codegen::Executable),
        arguments: Vec<Argument<'_>>,
    ) -> Result<PreparedRun, Error> {
        let mut kept: Vec<&Buffer> = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            argument.buffer().wait()?;
            kept.push(argument.buffer());
        }
        self.check_arguments(&kept)?;
        let device = common_device(kept.iter().copied())?;
        let leaves = program.result().leaves();
        let mut results: Vec<Option<Buffer>> = vec![None; leaves.len()];
        let mut inputs: Vec<InputLocation> = Vec::with_capacity(arguments.len());
        for (parameter, argument) in arguments.into_iter().enumerate() {
            let output = program.donations().iter().find(|d| d.parameter == parameter).map(|d| d.output);
            let buffer = match argument {
                Argument::Donated(buffer) => buffer.into_settled()?,
                Argument::Kept(buffer) => buffer.settled()?,
            };
            let mut buffer = here.placed(parameter, buffer)?;
            inputs.push(match output {
                Some(output) if buffer.is_own_in(leaves[output]) => {
                    results[output] = Some(buffer);
                    InputLocation::InOutput(output)
                }
                Some(_) | None => InputLocation::Argument(buffer),
            });
        }
        let results = (results.into_iter().zip(leaves))
            .map(|(result, shape)| result.map_or_else(|| Buffer::allocate(shape), Ok))
            .collect::<Result<Vec<Buffer>, Error>>()?;
        Ok(PreparedRun { inputs, results, device })
    }
}

/// The arguments of a run and the memory of its results.
#[cfg(feature = "codegen")]
pub(crate) struct PreparedRun {
    inputs: Vec<InputLocation>,
    results: Vec<Buffer>,
    /// The device of the arguments, if any of them has one.
    device: Option<Device>,
}

/// The location of an argument.
#[cfg(feature = "codegen")]
enum InputLocation {
    Argument(Buffer),
    InOutput(usize),
}

#[cfg(feature = "codegen")]
impl PreparedRun {
    /// Checks that the arguments are on `device`.
    pub(crate) fn check_device(&self, device: &Device) -> Result<(), Error> {
        check_device(self.device.as_ref(), device)
    }

    /// Returns the inputs of the run and the memory for its results.
    pub(crate) fn parts(&mut self) -> Result<(Vec<Input<'_>>, Vec<&mut [u8]>), Error> {
        let inputs = (self.inputs.iter()).map(|input| match input {
            InputLocation::Argument(buffer) => buffer.bytes().map(Input::Bytes),
            InputLocation::InOutput(output) => Ok(Input::InOutput(*output)),
        });
        Ok((inputs.collect::<Result<_, Error>>()?, written(&mut self.results)))
    }

    /// Returns the results of the run, assigned to the device that computed them.
    pub(crate) fn into_results(self, device: &Device) -> Vec<Buffer> {
        self.results.into_iter().map(|buffer| buffer.on(device)).collect()
    }
}
