//! Arguments that are given away: their memory becomes that of results.

use crate::executable::Executable;
#[cfg(feature = "codegen")]
use crate::local::LocalProgram;
use crate::{Buffer, Error, RunOptions};

/// An argument of a run ([`Executable::execute_donating`]).
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// The caller keeps it.
    Kept(&'a Buffer),
    /// The caller gives it away.
    Donated(Buffer),
}

impl Argument<'_> {
    /// The array.
    pub fn buffer(&self) -> &Buffer {
        match self {
            Argument::Kept(buffer) => buffer,
            Argument::Donated(buffer) => buffer,
        }
    }
}

impl Executable {
    /// Runs the program as [`Executable::execute`] does, on arguments of which some are given away. A result that the module's
    /// `input_output_alias` ties to such an argument lies in its memory, and where the program updates it, it is updated there:
    /// a step of training, or a cache that grows in place, costs no copy. That takes a program compiled with
    /// [`crate::CompileOptions::donation`], and an argument whose memory nobody else has: no clone, no value. Any other one is
    /// free once the run is over.
    ///
    /// # Errors
    /// Those of [`Executable::execute`].
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
        if let Some(here) = self.here()
            && let Some(program) = here.compiled().filter(|p| !p.donations().is_empty() && !here.is_padded())
        {
            return self.execute_in_place((here, program), arguments, options);
        }
        let buffers: Vec<&Buffer> = arguments.iter().map(Argument::buffer).collect();
        self.execute(&buffers, options)
    }

    #[cfg(feature = "codegen")]
    fn execute_in_place(
        &self,
        (here, program): (&LocalProgram, &hlo_codegen::Executable),
        arguments: Vec<Argument<'_>>,
        options: RunOptions<'_>,
    ) -> Result<Vec<Buffer>, Error> {
        use crate::local::written;
        use crate::time_limit::limited;
        use hlo_codegen::Input;
        let mut kept: Vec<&Buffer> = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            argument.buffer().wait()?;
            kept.push(argument.buffer());
        }
        self.check_arguments(&kept)?;
        let leaves = program.result().leaves();
        let mut results: Vec<Option<Buffer>> = vec![None; leaves.len()];
        let mut inputs: Vec<Given> = Vec::with_capacity(arguments.len());
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
                    Given::InOutput(output)
                }
                Some(_) | None => Given::Here(buffer),
            });
        }
        let mut results = (results.into_iter().zip(leaves))
            .map(|(result, shape)| result.map_or_else(|| Buffer::zeros(shape), Ok))
            .collect::<Result<Vec<Buffer>, Error>>()?;
        let inputs = (inputs.iter())
            .map(|input| match input {
                Given::Here(buffer) => buffer.bytes().map(Input::Bytes),
                Given::InOutput(output) => Ok(Input::InOutput(*output)),
            })
            .collect::<Result<Vec<Input<'_>>, Error>>()?;
        let mut outputs = written(&mut results);
        limited(options, |options| {
            let mut nobody = hlo_ir::host::NoHost;
            let host = options.host.unwrap_or(&mut nobody);
            let outcome = program.run_watched(&inputs, &mut outputs, host, options.watch.as_deref());
            outcome.map_err(|e| here.failure(e))
        })?;
        here.finish(results)
    }
}

/// An argument on its way to the program.
#[cfg(feature = "codegen")]
enum Given {
    Here(Buffer),
    InOutput(usize),
}
