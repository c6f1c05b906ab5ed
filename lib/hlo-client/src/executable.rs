//! Programs that can be run.

use crate::{Buffer, CompileOptions, Device, Engine, Error, boundary};
use hlo_ir::host::{Host, NoHost};
use hlo_ir::watch::Watch;
use hlo_ir::{Literal, Module, Shape};
use std::sync::Arc;

/// Where compiled code is kept between processes.
#[cfg(feature = "codegen")]
pub(crate) type CodeCache = Arc<dyn hlo_codegen::CodeCache>;
#[cfg(not(feature = "codegen"))]
pub(crate) type CodeCache = std::convert::Infallible;

/// A program that can be run, from several threads at once. Cloning is cheap: both are the same program.
#[derive(Clone, Debug)]
pub struct Executable(Arc<Program>);

#[derive(Debug)]
struct Program {
    /// What runs.
    module: Module,
    device: Device,
    /// The leaves of the parameters and the result, as the module has them that was given.
    parameters: Vec<Shape>,
    result: Shape,
    /// The leaves of what the program takes, and whether they are padded arrays, with their sizes after all.
    placed: Vec<Shape>,
    is_padded: bool,
    code: Code,
}

#[derive(Debug)]
enum Code {
    #[cfg(feature = "codegen")]
    Compiled(Box<hlo_codegen::Executable>),
    Interpreted(hlo_eval::Options),
}

/// What a run has besides its arguments.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// What infeeds read from and outfeeds write to; nothing, if it is not said.
    pub host: Option<&'a mut dyn Host>,
    /// Who watches the run, and may end it.
    pub watch: Option<Arc<Watch>>,
}

/// The arguments of a program as it takes them: see [`Executable::arguments`].
#[derive(Clone, Debug)]
pub struct Arguments(Vec<Buffer>);

/// The memory of a program's results, from run to run: see [`Executable::room`].
#[derive(Debug)]
pub struct Results(Vec<Buffer>);

impl Results {
    /// The arrays that the last run wrote, as the program has them: those of [`Executable::leaves`] but for sizes that are known
    /// at run time only, which come after them. Before the first run, zeros.
    pub fn buffers(&self) -> &[Buffer] {
        &self.0
    }
}

/// The leaves of the parameters, in the layouts that the program's user sees.
fn parameter_leaves(module: &Module) -> Vec<Shape> {
    module.entry_shapes().0.into_iter().flat_map(Shape::leaves).cloned().collect()
}

impl Executable {
    pub(crate) fn new(
        given: &Module,
        prepared: Module,
        device: Device,
        options: &CompileOptions,
        code_cache: Option<&CodeCache>,
    ) -> Result<Self, Error> {
        let (parameters, result) = (parameter_leaves(given), given.entry_shapes().1.clone());
        let code = match options.engine {
            Engine::Interpreted => {
                let evaluation = hlo_eval::Options {
                    max_bytes: usize::try_from(options.memory_limit).unwrap_or(usize::MAX),
                    custom_calls: options.custom_calls.interpreted.clone(),
                    seed: options.seed,
                    ..hlo_eval::Options::default()
                };
                hlo_eval::check_memory(&prepared, &evaluation).map_err(|e| e.to_diag(&prepared))?;
                Code::Interpreted(evaluation)
            }
            Engine::Compiled => compiled(&prepared, options, code_cache)?,
        };
        let placed = parameter_leaves(&prepared);
        let is_padded = placed.len() != parameters.len();
        let module = prepared;
        Ok(Self(Arc::new(Program { module, device, parameters, result, placed, is_padded, code })))
    }

    /// The module that runs: what passes made of the one that was given.
    pub fn module(&self) -> &Module {
        &self.0.module
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The leaves of the parameters, in order, in the layouts that the module asks for.
    pub fn parameters(&self) -> &[Shape] {
        &self.0.parameters
    }

    /// The shape of the result, in the layout that the module asks for.
    pub fn result(&self) -> &Shape {
        &self.0.result
    }

    /// The compiled program; `None` for one that is interpreted.
    #[cfg(feature = "codegen")]
    pub fn compiled(&self) -> Option<&hlo_codegen::Executable> {
        match &self.0.code {
            Code::Compiled(program) => Some(program),
            Code::Interpreted(_) => None,
        }
    }

    /// Runs the program on values, one for each leaf of the parameters, and gives the result.
    ///
    /// # Errors
    /// A value does not fit its parameter; or what the run ends with.
    pub fn run(&self, values: &[Literal]) -> Result<Literal, Error> {
        let buffers = self.buffers(values)?;
        let leaves = self.execute(&buffers.iter().collect::<Vec<_>>(), RunOptions::default())?;
        self.value(leaves)
    }

    /// Values, one for each leaf of the parameters, in the layouts of these.
    ///
    /// # Errors
    /// A value does not fit its parameter.
    pub fn buffers(&self, values: &[Literal]) -> Result<Vec<Buffer>, Error> {
        let shapes = self.parameters();
        if values.len() != shapes.len() {
            return Err(count(shapes.len(), values.len()));
        }
        values.iter().zip(shapes).map(|(value, shape)| Buffer::from_literal(value, shape)).collect()
    }

    /// The result whose leaves are these.
    ///
    /// # Errors
    /// These are not the leaves of a result of this program.
    pub fn value(&self, leaves: Vec<Buffer>) -> Result<Literal, Error> {
        let count = leaves.len();
        let leaves = leaves.into_iter().map(Buffer::into_literal).collect::<Result<Vec<_>, _>>()?;
        let value = Literal::from_leaves(self.result(), &mut leaves.into_iter());
        value.ok_or_else(|| Error::new(format!("{count} arrays are no result of shape {}", self.result())))
    }

    /// Runs the program on one buffer for each leaf of the parameters, and gives one for each leaf of the result.
    ///
    /// # Errors
    /// A buffer does not fit its parameter; or what the run ends with.
    pub fn execute(&self, arguments: &[&Buffer], options: RunOptions<'_>) -> Result<Vec<Buffer>, Error> {
        let arguments = self.arguments(arguments)?;
        let mut results = self.room()?;
        self.execute_into(&arguments, &mut results, options)?;
        self.leaves(results)
    }

    /// The arguments of a run as the program takes them: in its layouts, and, where sizes are known at run time only, of the
    /// bounds. For those that several runs have. Waits for buffers that are not ready.
    ///
    /// # Errors
    /// A buffer does not fit its parameter, could not be computed, or there is no memory for its other form.
    pub fn arguments(&self, buffers: &[&Buffer]) -> Result<Arguments, Error> {
        let buffers = buffers.iter().map(|b| b.settled()).collect::<Result<Vec<_>, _>>()?;
        self.check_arguments(&buffers.iter().collect::<Vec<_>>())?;
        let Program { placed, is_padded, code, .. } = &*self.0;
        // The interpreter takes arrays of any sizes, unless passes have padded them.
        let as_they_are = matches!(code, Code::Interpreted(_)) && !is_padded;
        let buffers = match as_they_are {
            true => buffers,
            false => boundary::padded(self.parameters(), placed, buffers)?,
        };
        Ok(Arguments(buffers))
    }

    /// Checks the number of arguments, and the shapes of those that are there.
    pub(crate) fn check_arguments(&self, buffers: &[&Buffer]) -> Result<(), Error> {
        let shapes = self.parameters();
        if buffers.len() != shapes.len() {
            return Err(count(shapes.len(), buffers.len()));
        }
        for (i, (shape, buffer)) in shapes.iter().zip(buffers).enumerate() {
            if buffer.is_ready() && !shape.accepts(buffer.shape()) {
                let found = buffer.shape();
                return Err(Error::new(format!(
                    "argument {i}: expected an array of shape {shape}, found {found}"
                )));
            }
        }
        Ok(())
    }

    /// Memory for the results of a run, which the next one can use again.
    ///
    /// # Errors
    /// There is no memory for a result.
    pub fn room(&self) -> Result<Results, Error> {
        match &self.0.code {
            #[cfg(feature = "codegen")]
            Code::Compiled(program) => Ok(Results(
                program.result().leaves().into_iter().map(Buffer::zeros).collect::<Result<_, _>>()?,
            )),
            Code::Interpreted(_) => Ok(Results(Vec::new())),
        }
    }

    /// Runs the program. Compiled code writes the results where those of the last run were, unless buffers of these are still
    /// there.
    ///
    /// # Errors
    /// What the run ends with: an infeed without an item that fits, a custom call that fails, sizes that do not fit each
    /// other ([`Error::Sizes`]), the stop by who watches it; whatever the interpreter does not have.
    pub fn execute_into(
        &self,
        arguments: &Arguments,
        results: &mut Results,
        options: RunOptions<'_>,
    ) -> Result<(), Error> {
        let mut nobody = NoHost;
        let host = options.host.unwrap_or(&mut nobody);
        match &self.0.code {
            #[cfg(feature = "codegen")]
            Code::Compiled(program) => {
                for buffer in &mut results.0 {
                    if buffer.bytes_mut().is_none() {
                        *buffer = Buffer::zeros(buffer.shape())?;
                    }
                }
                let inputs = arguments.0.iter().map(Buffer::bytes).collect::<Result<Vec<&[u8]>, _>>()?;
                let mut outputs = written(&mut results.0);
                let watch = options.watch.as_deref();
                program.run_watched(&inputs, &mut outputs, host, watch).map_err(|e| self.failure(e))?;
            }
            Code::Interpreted(evaluation) => {
                let evaluation = hlo_eval::Options { watch: options.watch.clone(), ..evaluation.clone() };
                results.0 = self.interpret(arguments, &evaluation, host)?;
            }
        }
        if boundary::sizes_fit(&self.0.result, &results.0)? { Ok(()) } else { Err(Error::Sizes) }
    }

    /// True if the program takes padded arrays, and their sizes after all.
    #[cfg(feature = "codegen")]
    pub(crate) fn is_padded(&self) -> bool {
        self.0.is_padded
    }

    /// A buffer that fits the parameter's leaf of that number, as the program takes it.
    #[cfg(feature = "codegen")]
    pub(crate) fn placed(&self, leaf: usize, buffer: Buffer) -> Result<Buffer, Error> {
        let placed = &self.0.placed[leaf];
        match buffer.shape() == placed || placed.as_array().is_none() {
            true => Ok(buffer),
            false => Buffer::from_literal(&buffer.into_literal()?, placed),
        }
    }

    /// The leaves of the result of the last run in this memory.
    ///
    /// # Errors
    /// There is no memory for a result that is cut to its size.
    pub fn leaves(&self, results: Results) -> Result<Vec<Buffer>, Error> {
        // Padded results have their sizes after all.
        match results.0.len() > self.0.result.leaf_count() {
            true => boundary::cut(&self.0.result, results.0),
            false => Ok(results.0),
        }
    }

    fn interpret(
        &self,
        arguments: &Arguments,
        options: &hlo_eval::Options,
        host: &mut dyn Host,
    ) -> Result<Vec<Buffer>, Error> {
        let module = &self.0.module;
        let leaves = arguments.0.iter().map(Buffer::to_literal).collect::<Result<Vec<_>, _>>()?;
        let mut leaves = leaves.into_iter();
        let values = module.parameters(module.entry()).into_iter();
        let values: Option<Vec<Literal>> =
            values.map(|p| Literal::from_leaves(&module[p].shape, &mut leaves)).collect();
        let values = values.ok_or_else(|| Error::new("internal error: too few arguments"))?;
        let result =
            hlo_eval::evaluate_with_host(module, &values, options, host).map_err(|e| {
                match &options.watch {
                    Some(watch) if watch.is_stopped() => Error::Stopped { instruction: e.instruction },
                    _ => e.to_diag(module).into(),
                }
            })?;
        // Sizes, which nobody asked for, come last.
        let shapes = self.0.result.leaves();
        let laid_out = |(k, leaf): (usize, &Literal)| match shapes.get(k) {
            Some(shape) if shape.accepts(leaf.shape()) => Buffer::from_literal(leaf, shape),
            _ => Buffer::from_literal(leaf, leaf.shape()),
        };
        result.leaves().into_iter().enumerate().map(laid_out).collect()
    }

    /// Why compiled code failed.
    #[cfg(feature = "codegen")]
    pub(crate) fn failure(&self, error: hlo_codegen::RunError) -> Error {
        use hlo_codegen::RunError;
        use hlo_ir::diag::Diag;
        match error {
            RunError::Stopped { instruction } => Error::Stopped { instruction },
            RunError::Transfer { instruction, message } => {
                let module = &self.0.module;
                let label = format!("while running `{}`", module[instruction].name);
                Diag::error(message).at(module.span(instruction), label).into()
            }
            other => Error::new(other.to_string()),
        }
    }
}

/// Where the results of compiled code are written.
#[cfg(feature = "codegen")]
pub(crate) fn written(results: &mut [Buffer]) -> Vec<&mut [u8]> {
    results.iter_mut().filter_map(Buffer::bytes_mut).collect()
}

fn count(expected: usize, found: usize) -> Error {
    Error::new(format!("expected {expected} arguments, one for each leaf of the parameters, found {found}"))
}

#[cfg(feature = "codegen")]
fn compiled(
    module: &Module,
    options: &CompileOptions,
    code_cache: Option<&CodeCache>,
) -> Result<Code, Error> {
    let options = hlo_codegen::CompileOptions {
        threads: options.threads,
        memory_limit: options.memory_limit,
        custom_calls: options.custom_calls.compiled.clone(),
        seed: options.seed,
        debug_info: options.debug_info.clone(),
        donation: options.donation,
        optimize: options.optimize,
        code_cache: code_cache.cloned(),
        ..Default::default()
    };
    Ok(Code::Compiled(Box::new(hlo_codegen::compile(module, &options)?)))
}

#[cfg(not(feature = "codegen"))]
fn compiled(_: &Module, _: &CompileOptions, _: Option<&CodeCache>) -> Result<Code, Error> {
    Err(Error::new("compiled execution was not built in: the feature `codegen` of hlo-client"))
}
