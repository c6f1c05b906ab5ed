//! Programs that run in this process.

use crate::custom_calls::CustomCalls;
use crate::options::{engine, memory_limit};
use crate::{Buffer, CompileOptions, Engine, Error, Partition, RunOptions, boundary};
use hlo_ir::budget::Budget;
use hlo_ir::host::{Host, NoHost};
use hlo_ir::verify::Verified;
use hlo_ir::watch::Watch;
use hlo_ir::{Literal, Module, Shape};
use std::sync::Arc;

/// The store of compiled code that processes share.
#[cfg(feature = "codegen")]
pub(crate) type CodeCache = Arc<dyn hlo_codegen::CodeCache>;
#[cfg(not(feature = "codegen"))]
pub(crate) type CodeCache = std::convert::Infallible;

/// The properties of a client that a compilation uses, besides the compile options.
#[derive(Clone, Copy)]
pub(crate) struct CompileContext<'a> {
    pub(crate) custom_calls: &'a CustomCalls,
    #[cfg_attr(not(feature = "codegen"), expect(dead_code, reason = "nothing is compiled"))]
    pub(crate) code_cache: Option<&'a CodeCache>,
    #[cfg_attr(not(feature = "codegen"), expect(dead_code, reason = "nothing is compiled"))]
    pub(crate) budget: Option<&'a Arc<dyn Budget>>,
}

/// A program that runs in this process.
#[derive(Debug)]
pub(crate) struct LocalProgram {
    /// The module that runs.
    pub(crate) module: Verified<Module>,
    /// The shapes of the leaves of the parameters, in the module before the passes.
    pub(crate) parameters: Vec<Shape>,
    pub(crate) result: Shape,
    /// The shapes of the leaves of the parameters, in the module that runs. If the passes padded arrays with
    /// dynamic sizes, their sizes are scalars after the last array.
    placed: Vec<Shape>,
    /// How the parameters and results are divided among devices, if the client partitioned the program.
    partition: Option<Partition>,
    code: Code,
}

#[derive(Debug)]
enum Code {
    #[cfg(feature = "codegen")]
    Compiled(Box<hlo_codegen::Executable>),
    Interpreted(Box<Interpreted>),
}

/// The state of an interpreted program.
#[derive(Debug)]
pub(crate) struct Interpreted {
    pub(crate) options: hlo_eval::Options,
    /// Facts about the module that do not depend on values, computed once for all runs. `None` if the module
    /// leaves information implicit ([`Module::has_implicit_information`]).
    pub(crate) known: Option<hlo_eval::ModuleCache>,
}

/// Returns the shapes of the leaves of the parameters of a module.
fn parameter_leaves(module: &Module) -> Vec<Shape> {
    module.entry_shapes().0.into_iter().flat_map(Shape::leaves).cloned().collect()
}

impl LocalProgram {
    pub(crate) fn new(
        given: &Module,
        prepared: Verified<Module>,
        options: &CompileOptions,
        by_client: CompileContext<'_>,
    ) -> Result<Self, Error> {
        let (parameters, result) = (parameter_leaves(given), given.entry_shapes().1.clone());
        let code = match engine(options) {
            Engine::Interpreted => {
                let evaluation = hlo_eval::Options {
                    max_bytes: usize::try_from(memory_limit(options)).unwrap_or(usize::MAX),
                    custom_calls: by_client.custom_calls.interpreted.clone(),
                    seed: options.seed,
                    ..hlo_eval::Options::default()
                };
                hlo_eval::check_memory(&prepared, &evaluation).map_err(|e| e.to_diag(&prepared))?;
                let known = hlo_eval::ModuleCache::new(prepared.as_ref(), &evaluation)
                    .map_err(|e| e.to_diag(&prepared))?;
                let known = (!prepared.has_implicit_information()).then_some(known);
                Code::Interpreted(Box::new(Interpreted { options: evaluation, known }))
            }
            Engine::Compiled => compiled(given, prepared.as_ref(), options, by_client)?,
        };
        let placed = parameter_leaves(&prepared);
        Ok(Self { module: prepared, parameters, result, placed, partition: None, code })
    }

    /// Adds information about how the client partitioned the program.
    pub(crate) fn with_partition(self, partition: Option<Partition>) -> Self {
        Self { partition, ..self }
    }

    /// Returns how the client partitioned the program, or `None` if it did not.
    pub(crate) fn partition(&self) -> Option<&Partition> {
        self.partition.as_ref()
    }

    /// Checks whether the passes padded arrays with dynamic sizes.
    pub(crate) fn is_padded(&self) -> bool {
        self.placed.len() != self.parameters.len()
    }

    /// Estimates the number of bytes that the program occupies: constants, which compiled code copies, and
    /// memory for its temporaries.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let module = &self.module;
        let instructions = module.computations().flat_map(|c| module[c].instructions());
        let constants = instructions.filter_map(|&i| match &module[i].op {
            hlo_ir::Op::Constant(c) => Some(c.literal.bytes().len() as u64),
            _ => None,
        });
        let constants = constants.fold(0, u64::saturating_add);
        match &self.code {
            #[cfg(feature = "codegen")]
            Code::Compiled(program) => constants.saturating_mul(2).saturating_add(program.arena_bytes()),
            Code::Interpreted(_) => constants,
        }
    }

    /// Returns the compiled program, or `None` if the program is interpreted.
    #[cfg(feature = "codegen")]
    pub(crate) fn compiled(&self) -> Option<&hlo_codegen::Executable> {
        match &self.code {
            Code::Compiled(program) => Some(program),
            Code::Interpreted(_) => None,
        }
    }

    /// Returns the state of the interpreter, or `None` if the program is compiled.
    pub(crate) fn interpreted(&self) -> Option<&Interpreted> {
        match &self.code {
            #[cfg(feature = "codegen")]
            Code::Compiled(_) => None,
            Code::Interpreted(interpreted) => Some(interpreted),
        }
    }

    /// Converts buffers to the layouts and sizes that the program requires. The buffers are ready, and match
    /// the parameters.
    pub(crate) fn arguments(&self, buffers: Vec<Buffer>) -> Result<Vec<Buffer>, Error> {
        // The interpreter takes arrays of any sizes, unless passes have padded them.
        if matches!(self.code, Code::Interpreted(_)) && !self.is_padded() {
            Ok(buffers)
        } else {
            boundary::padded(&self.parameters, &self.placed, buffers)
        }
    }

    /// Allocates memory for the results of a run.
    pub(crate) fn allocate_results(&self) -> Result<Vec<Buffer>, Error> {
        match &self.code {
            #[cfg(feature = "codegen")]
            Code::Compiled(program) => program.result().leaves().into_iter().map(Buffer::allocate).collect(),
            Code::Interpreted(_) => Ok(Vec::new()),
        }
    }

    /// Runs the program. Compiled code overwrites the results of the last run, unless other buffers still
    /// share their memory.
    pub(crate) fn execute_into(
        &self,
        arguments: &[Buffer],
        results: &mut Vec<Buffer>,
        options: RunOptions<'_>,
    ) -> Result<(), Error> {
        let mut nobody = NoHost;
        let host = options.host.unwrap_or(&mut nobody);
        match &self.code {
            #[cfg(feature = "codegen")]
            Code::Compiled(program) => {
                results.iter_mut().try_for_each(Buffer::make_own)?;
                let inputs = arguments.iter().map(Buffer::bytes).collect::<Result<Vec<&[u8]>, _>>()?;
                let mut outputs = written(results);
                let watch = options.watch.as_deref();
                program.run_watched(&inputs, &mut outputs, host, watch).map_err(|e| self.failure(e))?;
            }
            Code::Interpreted(interpreted) => {
                *results = self.interpret(arguments, interpreted, options.watch, host)?;
            }
        }
        self.check_sizes(results)
    }

    /// Checks the dynamic sizes, and returns the leaves of the result that compiled code wrote.
    #[cfg(feature = "codegen")]
    pub(crate) fn finish(&self, results: Vec<Buffer>) -> Result<Vec<Buffer>, Error> {
        self.check_sizes(&results)?;
        self.leaves(results)
    }

    /// Checks that dynamic sizes matched each other.
    pub(crate) fn check_sizes(&self, results: &[Buffer]) -> Result<(), Error> {
        if boundary::sizes_fit(&self.result, results)? { Ok(()) } else { Err(Error::Sizes) }
    }

    /// Checks that the buffers have the number and the shapes of this program's results.
    pub(crate) fn check_results(&self, results: &[Buffer]) -> Result<(), Error> {
        match &self.code {
            #[cfg(feature = "codegen")]
            Code::Compiled(program) => boundary::check_leaves(&program.result().leaves(), results),
            // Dynamic sizes follow the leaves.
            Code::Interpreted(_) => {
                let count = self.result.leaf_count();
                boundary::check_leaves(&self.result.leaves(), results.get(..count).unwrap_or(results))
            }
        }
    }

    /// Returns the leaves of the result of the last run that wrote to `results`.
    pub(crate) fn leaves(&self, results: Vec<Buffer>) -> Result<Vec<Buffer>, Error> {
        // The sizes of padded results follow the last array.
        if results.len() > self.result.leaf_count() {
            boundary::cut(&self.result, results)
        } else {
            Ok(results)
        }
    }

    /// Converts a buffer that matches leaf `leaf` of the parameters to the layout that the program requires.
    #[cfg(feature = "codegen")]
    pub(crate) fn placed(&self, leaf: usize, buffer: Buffer) -> Result<Buffer, Error> {
        let placed = &self.placed[leaf];
        if buffer.shape() == placed || placed.as_array().is_none() {
            Ok(buffer)
        } else {
            Buffer::from_literal(&buffer.into_literal()?, placed)
        }
    }

    fn interpret(
        &self,
        arguments: &[Buffer],
        interpreted: &Interpreted,
        watch: Option<Arc<Watch>>,
        host: &mut dyn Host,
    ) -> Result<Vec<Buffer>, Error> {
        let run = hlo_eval::DeviceRun { inputs: self.values(arguments)?, host, watch };
        let devices = hlo_eval::DeviceOptions {
            known: interpreted.known.as_ref(),
            ..hlo_eval::DeviceOptions::default()
        };
        let results =
            hlo_eval::evaluate_runs(self.module.as_ref(), vec![run], &interpreted.options, &devices);
        let results = results.map_err(|e| self.evaluation_failure(e))?;
        let result = results.first().ok_or_else(|| Error::new("internal error: a run without a result"))?;
        self.result_buffers(result)
    }

    /// Builds the values of the parameters from their leaves.
    pub(crate) fn values(&self, arguments: &[Buffer]) -> Result<Vec<Literal>, Error> {
        let module = &self.module;
        let leaves = arguments.iter().map(Buffer::to_literal).collect::<Result<Vec<_>, _>>()?;
        let mut leaves = leaves.into_iter();
        let values = module.parameters(module.entry()).into_iter();
        let values: Option<Vec<Literal>> =
            values.map(|p| Literal::from_leaves(&module[p].shape, &mut leaves)).collect();
        values.ok_or_else(|| Error::new("internal error: too few arguments"))
    }

    /// Returns the leaves of the interpreter's result, with the layouts of the module before the passes.
    /// Sizes that the passes added to the result come last.
    pub(crate) fn result_buffers(&self, result: &Literal) -> Result<Vec<Buffer>, Error> {
        let shapes = self.result.leaves();
        let laid_out = |(k, leaf): (usize, &Literal)| match shapes.get(k) {
            Some(shape) if shape.accepts(leaf.shape()) => Buffer::from_literal(leaf, shape),
            _ => Buffer::from_literal(leaf, leaf.shape()),
        };
        result.leaves().into_iter().enumerate().map(laid_out).collect()
    }

    /// Converts an error of the interpreter.
    pub(crate) fn evaluation_failure(&self, error: hlo_eval::EvalError) -> Error {
        if error.is_stopped {
            Error::stopped(&self.module, error.instruction)
        } else {
            error.to_diag(&self.module).into()
        }
    }

    /// Converts an error of compiled code.
    #[cfg(feature = "codegen")]
    pub(crate) fn failure(&self, error: hlo_codegen::RunError) -> Error {
        use hlo_codegen::RunError;
        use hlo_ir::diag::Diag;
        match error {
            RunError::Stopped { instruction } => Error::stopped(&self.module, instruction),
            RunError::Transfer { instruction, message } => {
                let module = &self.module;
                let label = format!("while running `{}`", module[instruction].name);
                Diag::error(message).at(module.span(instruction), label).into()
            }
            RunError::OutOfMemory(_) => Error::memory(error.to_string()),
            other => Error::new(other.to_string()),
        }
    }
}

/// Returns the memory that compiled code writes the results to.
#[cfg(feature = "codegen")]
pub(crate) fn written(results: &mut [Buffer]) -> Vec<&mut [u8]> {
    results.iter_mut().filter_map(Buffer::bytes_mut).collect()
}

#[cfg(feature = "codegen")]
fn compiled(
    given: &Module,
    module: Verified<&Module>,
    options: &CompileOptions,
    by_client: CompileContext<'_>,
) -> Result<Code, Error> {
    let file = options.debug_info.as_ref().map(|s| hlo_codegen::SourceFile::new(&s.name, &s.text));
    let options = hlo_codegen::CompileOptions {
        threads: options.threads,
        memory_limit: memory_limit(options),
        custom_calls: by_client.custom_calls.compiled.clone(),
        seed: options.seed,
        debug_info: file.map(Arc::new),
        // Padding copies an argument, so the donated memory would not be the memory that the program reads.
        donation: options.donation && parameter_leaves(given).len() == parameter_leaves(&module).len(),
        optimize: options.optimize,
        code_cache: by_client.code_cache.cloned(),
        budget: by_client.budget.cloned(),
    };
    Ok(Code::Compiled(Box::new(hlo_codegen::compile(module, &options)?)))
}

#[cfg(not(feature = "codegen"))]
fn compiled(
    _: &Module,
    _: Verified<&Module>,
    _: &CompileOptions,
    _: CompileContext<'_>,
) -> Result<Code, Error> {
    Err(Error::new("compiled execution was not built in: the feature `codegen` of hlo-client"))
}
