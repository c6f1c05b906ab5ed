//! Compilation of texts into programs.

use crate::budget::CompileBudget;
use hlo_client::{Budget, Client, ClientOptions, CompileOptions, ENGINES, Engine, Error, Executable};
use hlo_custom_call::Registry;
use hlo_ir::Module;
use hlo_remote::proto::{self, Failure};
use hlo_remote::wire;
use std::sync::Arc;

/// Estimated bytes of code for each byte of the text.
const CODE_BYTES_PER_BYTE: u64 = 2;

/// Maximum memory that the parser uses for each byte of the text, in bytes.
const READING_BYTES_PER_BYTE: u64 = 32;

/// The input of a compilation. Programs with equal recipes are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// The text of the module.
    pub text: Arc<str>,
    /// The compile options. The engine and the memory limit of a run are always set.
    options: CompileOptions,
}

/// A compiled program.
#[derive(Debug)]
pub struct Program {
    /// The executable.
    pub executable: Executable,
    /// The text that the program was compiled from.
    pub text: Arc<str>,
    /// Size of the program, including its text, in bytes.
    pub bytes: u64,
    /// Size of the temporaries of a run, in bytes.
    pub run_bytes: u64,
    /// Whether the program keeps the memory of the temporaries between runs.
    pub keeps_memory: bool,
}

impl Recipe {
    /// Creates a recipe from options and a text. A run may use at most `memory` bytes.
    pub fn new(options: &proto::CompileOptions, text: Arc<str>, memory: u64) -> Self {
        let said = wire::read_compile_options(options);
        let options = CompileOptions {
            engine: said.engine.or(ENGINES.first().copied()),
            memory_limit: Some(said.memory_limit.map_or(memory, |bytes| bytes.min(memory))),
            ..said
        };
        Self { text, options }
    }

    /// Compiles the program. Call this on a thread with a large stack, because the compiler recurses.
    ///
    /// # Errors
    /// The text is invalid, a pass or the engine rejects it, or the budget is used up.
    pub fn compile(&self, threads: usize, budget: &Arc<CompileBudget>) -> Result<Program, Failure> {
        self.program(threads, budget).map_err(|error| wire::failure(&error, &self.text))
    }

    fn program(&self, threads: usize, budget: &Arc<CompileBudget>) -> Result<Program, Error> {
        let length = self.text.len() as u64;
        budget.check(length.saturating_mul(READING_BYTES_PER_BYTE)).map_err(Error::new)?;
        let module = hlo_parser::parse_module(&self.text)?;
        let violations = hlo_ir::verify::verify(&module);
        if !violations.is_empty() {
            return Err(violations.into());
        }
        let mut memory_limit = self.options.memory_limit.unwrap_or(u64::MAX);
        if self.options.engine == Some(Engine::Interpreted) {
            memory_limit = memory_limit.min(interpreted_bytes(&module));
        }
        let options = CompileOptions { threads, memory_limit: Some(memory_limit), ..self.options.clone() };
        let within: Arc<dyn Budget> = budget.clone();
        let executable = silent_client()?.compile_within(&module, &options, &within)?;
        drop(module);
        let bytes = budget.allocated_bytes().saturating_add(length.saturating_mul(1 + CODE_BYTES_PER_BYTE));
        let arena = arena_bytes(&executable);
        let run_bytes = arena.unwrap_or(memory_limit);
        let text = self.text.clone();
        Ok(Program { executable, text, bytes, run_bytes, keeps_memory: arena.is_some() })
    }
}

/// Creates a client that discards traced values, because the standard error of a server is not for its
/// clients.
fn silent_client() -> Result<Client, Error> {
    let mut custom_calls = Registry::new();
    custom_calls.set_tracer(|_, _| {});
    Client::new(&ClientOptions { custom_calls, ..ClientOptions::default() })
}

/// Returns the arena size of a compiled program in bytes.
fn arena_bytes(executable: &Executable) -> Option<u64> {
    #[cfg(feature = "codegen")]
    return executable.compiled().map(|program| program.arena_bytes());
    #[cfg(not(feature = "codegen"))]
    {
        let _ = executable;
        None
    }
}

/// Estimates the bytes that the values of an interpreted module use: all values at once, each with a copy in
/// another form.
fn interpreted_bytes(module: &Module) -> u64 {
    let instructions = module.computations().flat_map(|c| module[c].instructions());
    let bytes = instructions.map(|&i| module[i].shape.byte_size() as u64);
    bytes.fold(1 << 19, u64::saturating_add).saturating_mul(2)
}
