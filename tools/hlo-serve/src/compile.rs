//! Making programs of texts.

use crate::failure;
use hlo_client::{Client, CompileOptions, Engine, Executable, Passes};
use hlo_ir::Module;
use hlo_passes::Pipeline;
use hlo_remote::proto::compile_options::Passes as WirePasses;
use hlo_remote::proto::{self, Failure};
use std::sync::Arc;

/// How many times as much memory as its text a program takes, about: module and code.
const BYTES_A_BYTE: u64 = 8;

/// What a program is made of; two programs of the same are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// The module's text.
    pub text: Arc<str>,
    /// What computes.
    pub engine: Engine,
    /// The passes before.
    pub passes: Wanted,
    /// What random numbers follow from.
    pub seed: u64,
    /// Bytes that a run may take.
    pub memory: u64,
}

/// The passes that a client wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    Default,
    Lowering,
    Pipeline(String),
}

/// A program.
#[derive(Debug)]
pub struct Program {
    /// What runs.
    pub executable: Executable,
    /// The text that it was made of.
    pub text: Arc<str>,
    /// Bytes of the temporaries of a run.
    pub run_bytes: u64,
    /// True if the program keeps that memory from run to run.
    pub keeps_memory: bool,
}

impl Program {
    /// Bytes of the program itself.
    pub fn bytes(&self) -> u64 {
        (self.text.len() as u64).saturating_mul(BYTES_A_BYTE)
    }
}

impl Recipe {
    /// What options and a text say; a run may take `memory` bytes at most.
    pub fn new(options: &proto::CompileOptions, text: Arc<str>, memory: u64) -> Self {
        let engine = match options.engine() {
            proto::Engine::Default => Engine::default(),
            proto::Engine::Compiled => Engine::Compiled,
            proto::Engine::Interpreted => Engine::Interpreted,
        };
        let passes = match &options.passes {
            Some(WirePasses::LoweringOnly(true)) => Wanted::Lowering,
            Some(WirePasses::Pipeline(text)) => Wanted::Pipeline(text.clone()),
            Some(WirePasses::LoweringOnly(false)) | None => Wanted::Default,
        };
        let memory = if options.memory_limit == 0 { memory } else { options.memory_limit.min(memory) };
        Self { text, engine, passes, seed: options.seed, memory }
    }

    /// Makes the program, on a thread with room for recursion.
    ///
    /// # Errors
    /// What is wrong with the text, or what a pass or the engine refuses.
    pub fn compile(&self, threads: usize) -> Result<Program, Failure> {
        let passes = match &self.passes {
            Wanted::Default => Passes::Default,
            Wanted::Lowering => Passes::Lowering,
            Wanted::Pipeline(text) => {
                let pipeline = Pipeline::parse(text).map_err(|d| failure::option("passes", &d))?;
                Passes::These(Arc::new(pipeline))
            }
        };
        let failed = |error: &hlo_client::Error| failure::failure(error, &self.text, None, None);
        let module = hlo_parser::parse_module(&self.text).map_err(|diags| failed(&diags.into()))?;
        let violations = hlo_ir::verify::verify(&module);
        if !violations.is_empty() {
            return Err(failed(&violations.into()));
        }
        let memory_limit = match self.engine {
            Engine::Compiled => self.memory,
            Engine::Interpreted => self.memory.min(interpreted_bytes(&module)),
        };
        let options = CompileOptions {
            engine: self.engine,
            passes,
            threads,
            seed: self.seed,
            memory_limit,
            ..CompileOptions::default()
        };
        let executable = Client::local().compile(&module, &options).map_err(|e| failed(&e))?;
        let arena = arena_bytes(&executable);
        let run_bytes = arena.unwrap_or(memory_limit);
        Ok(Program { executable, text: self.text.clone(), run_bytes, keeps_memory: arena.is_some() })
    }
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
