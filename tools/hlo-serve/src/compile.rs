//! Making programs of texts.

use crate::budget::CompileBudget;
use hlo_client::{Budget, Client, ClientOptions, CompileOptions, ENGINES, Engine, Error, Executable};
use hlo_custom_call::Registry;
use hlo_ir::Module;
use hlo_remote::proto::{self, Failure};
use hlo_remote::wire;
use std::sync::Arc;

/// About the bytes of code for a byte of the text.
const CODE_BYTES_PER_BYTE: u64 = 2;

/// The most bytes that reading takes for a byte of the text.
const READING_BYTES_PER_BYTE: u64 = 32;

/// What a program is made of; two programs of the same are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// The module's text.
    pub text: Arc<str>,
    /// How it is compiled. The engine is said, and so are the bytes that a run may take.
    options: CompileOptions,
}

/// A program.
#[derive(Debug)]
pub struct Program {
    /// What runs.
    pub executable: Executable,
    /// The text that it was made of.
    pub text: Arc<str>,
    /// Bytes of the program itself, with its text.
    pub bytes: u64,
    /// Bytes of the temporaries of a run.
    pub run_bytes: u64,
    /// True if the program keeps that memory from run to run.
    pub keeps_memory: bool,
}

impl Recipe {
    /// What options and a text say; a run may take `memory` bytes at most.
    pub fn new(options: &proto::CompileOptions, text: Arc<str>, memory: u64) -> Self {
        let said = wire::read_compile_options(options);
        let options = CompileOptions {
            engine: said.engine.or(ENGINES.first().copied()),
            memory_limit: Some(said.memory_limit.map_or(memory, |bytes| bytes.min(memory))),
            ..said
        };
        Self { text, options }
    }

    /// Makes the program, on a thread with room for recursion.
    ///
    /// # Errors
    /// What is wrong with the text, what a pass or the engine refuses, or a budget that is used up.
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
        let bytes = budget.held().saturating_add(length.saturating_mul(1 + CODE_BYTES_PER_BYTE));
        let arena = arena_bytes(&executable);
        let run_bytes = arena.unwrap_or(memory_limit);
        let text = self.text.clone();
        Ok(Program { executable, text, bytes, run_bytes, keeps_memory: arena.is_some() })
    }
}

/// A client without a place for traced values: a server's standard error is not for its clients.
fn silent_client() -> Result<Client, Error> {
    let mut custom_calls = Registry::new();
    custom_calls.set_tracer(|_, _| {});
    Client::new(&ClientOptions { custom_calls, ..ClientOptions::default() })
}

/// The bytes of the arena of a compiled program.
fn arena_bytes(executable: &Executable) -> Option<u64> {
    #[cfg(feature = "codegen")]
    return executable.compiled().map(|program| program.arena_bytes());
    #[cfg(not(feature = "codegen"))]
    {
        let _ = executable;
        None
    }
}

/// The bytes that the values of an interpreted module may take: all at once, and each with a copy in another form.
fn interpreted_bytes(module: &Module) -> u64 {
    let instructions = module.computations().flat_map(|c| module[c].instructions());
    let bytes = instructions.map(|&i| module[i].shape.byte_size() as u64);
    bytes.fold(1 << 19, u64::saturating_add).saturating_mul(2)
}
