//! The options and errors of programs. They are the same for execution in this process (`hlo-client`) and on
//! a server (`hlo-remote`).

use crate::diag::{Diag, Source};
use crate::host::Host;
use crate::rules::code;
use crate::watch::Watch;
use crate::{InstrId, Module};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The engine that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Machine code, compiled by MLIR and LLVM.
    Compiled,
    /// The interpreter. It is slow, and written for comparison with the semantics.
    Interpreted,
}

/// The passes that run before a program is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Passes {
    /// The passes for fast programs (`cpu` in docs/passes.md) for compiled code, and no passes for the
    /// interpreter.
    #[default]
    Default,
    /// Only the passes that code generation requires.
    Lowering,
    /// This pipeline, in the language of `hlo-opt --passes`, followed by the passes that code generation requires.
    /// The passes of the crate `hlo-passes-xla` are known after `hlo_passes_xla::register()`. Servers do not have them.
    Pipeline(String),
}

/// The options of a compilation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// The engine. By default, machine code if LLVM is available.
    pub engine: Option<Engine>,
    /// The passes to run before.
    pub passes: Passes,
    /// Number of threads for compilation and execution. 0 means all threads that this process may use. The
    /// interpreter uses one thread, and a server uses the number it was configured with.
    pub threads: usize,
    /// The seed of random numbers. They also depend on the instruction that draws them (see
    /// [`crate::streams`]).
    pub seed: u64,
    /// Maximum number of bytes of parameters, results and temporaries together. By default, the available
    /// memory; on a server, the memory available to this client.
    pub memory_limit: Option<u64>,
    /// Whether results reuse the memory of parameters, according to the module's `input_output_alias`, if the
    /// caller gives the arguments away. Arguments are copied in runs that do not receive ownership of them,
    /// and on a server.
    pub donation: bool,
    /// The numbers of the client's devices that the program runs on. Replica `r` and partition `p` use entry
    /// `r * num_partitions + p`. If it is empty, the program uses the client's first devices. A server runs
    /// programs on its first device.
    pub device_assignment: Vec<usize>,
    /// Whether to partition a program for all partitions into the program of each of them, by the shardings
    /// of its values. The passes `expand-unreduced`, `sharding-propagation` and `spmd-partitioning` do this
    /// before all other passes. Parameters and results are then those of one device. A program with one
    /// partition does not change. Do not set it for a program that is already partitioned, because this is
    /// not detected.
    pub spmd_partitioning: bool,
    /// Whether LLVM optimizes. Without it, compilation takes a fraction of the time, and the program takes
    /// several times as long. A server always optimizes.
    pub optimize: bool,
    /// The file that the module was read from, if debuggers and profilers need information about compiled
    /// code in this process.
    pub debug_info: Option<Arc<Source>>,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            engine: None,
            passes: Passes::default(),
            threads: 0,
            seed: 0,
            memory_limit: None,
            donation: false,
            device_assignment: Vec::new(),
            spmd_partitioning: false,
            optimize: true,
            debug_info: None,
        }
    }
}

/// The options of a run.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// The host for infeeds and outfeeds. By default there is none. A server has none.
    pub host: Option<&'a mut dyn Host>,
    /// The watch that observes the run and can end it. For a run on a server, the position is known only
    /// after its end.
    pub watch: Option<Arc<Watch>>,
    /// The time limit of the run. On a server, it applies if it is shorter than the server's limit. The run
    /// then ends as if the watch had stopped it.
    pub time_limit: Option<Duration>,
}

/// The reason why a program cannot be compiled or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The diagnostics, with spans in the text of the module. At least one.
    Diags(Vec<Diag>),
    /// Sizes known only at run time do not match. The interpreter reports the position.
    Sizes,
    /// The watch ended the run.
    Stopped {
        /// The position: an instruction of the module that runs, after the passes.
        instruction: Option<InstrId>,
        /// The name of the instruction. May be empty.
        name: String,
    },
    /// The run exceeded its time limit.
    TimedOut {
        /// The time limit.
        after: Duration,
        /// The position, as in [`Error::Stopped`].
        instruction: Option<InstrId>,
        /// The name of the instruction. May be empty.
        name: String,
    },
    /// A server refused the call.
    Refused {
        /// The server's address.
        server: String,
        /// The kind of the reason.
        kind: Refusal,
        /// The reason: the expected and the found value.
        message: String,
    },
    /// There is no connection to a server, or the session has ended. The server's data for this client is
    /// lost.
    Disconnected {
        /// The server's address.
        server: String,
        /// The reason.
        message: String,
    },
}

/// The kinds of reasons why a server refuses calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A limit of the server: of memory, of counts, of the size of a message.
    Limit,
    /// The call exceeded its time limit.
    Time,
    /// The server does not know the buffer or program.
    NotFound,
    /// The request is invalid.
    Invalid,
    /// Client and server use different versions of the protocol.
    Version,
    /// A bug in the server. The server continues to run.
    Defect,
    /// Anything else.
    Other,
}

impl Error {
    /// Creates an error without a position in a module.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Diags(vec![Diag::error(message)])
    }

    /// Creates the error of too little memory.
    pub fn memory(message: impl Into<String>) -> Self {
        Self::Diags(vec![Diag::error(message).with_code(code::MEMORY)])
    }

    /// Returns whether the error is that memory, or the memory limit of the program, is exceeded.
    pub fn is_memory(&self) -> bool {
        matches!(self, Self::Diags(diags) if diags.first().is_some_and(|d| d.code == Some(code::MEMORY)))
    }

    /// Creates the error of a wrong number of arguments.
    pub fn argument_count(expected: usize, found: usize) -> Self {
        let what = "one for each leaf of the parameters";
        Self::new(format!("expected {expected} arguments, {what}, found {found}"))
    }

    /// Creates the error of a run that was stopped at an instruction.
    pub fn stopped(module: &Module, instruction: Option<InstrId>) -> Self {
        let name = instruction.map_or_else(String::new, |id| module[id].name.to_string());
        Self::Stopped { instruction, name }
    }

    /// Adds the number of the device to the error of a run on several devices.
    pub fn on_device(mut self, device: usize) -> Self {
        if let Self::Diags(diags) = &mut self
            && let Some(first) = diags.first_mut()
        {
            first.message = format!("device {device}: {}", first.message);
        }
        self
    }

    /// Converts the error of a stopped run to that of a run that exceeded its time limit.
    pub fn timed_out(self, after: Duration) -> Self {
        match self {
            Self::Stopped { instruction, name } => Self::TimedOut { after, instruction, name },
            other => other,
        }
    }

    /// Converts the error to diagnostics, at least one.
    pub fn to_diags(&self) -> Vec<Diag> {
        match self {
            Self::Diags(diags) if !diags.is_empty() => diags.clone(),
            other => vec![Diag::error(other.to_string())],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |f: &mut fmt::Formatter<'_>, name: &str| match name {
            "" => Ok(()),
            name => write!(f, ", at `{name}`"),
        };
        match self {
            Self::Diags(diags) => {
                f.write_str(diags.first().map_or("an error that was not told", |d| &d.message))
            }
            Self::Sizes => f.write_str("sizes known at run time only do not fit each other"),
            Self::Stopped { name, .. } => {
                f.write_str("the run was stopped")?;
                at(f, name)
            }
            Self::TimedOut { after, name, .. } => {
                write!(f, "the run was stopped after {after:?}, its limit")?;
                at(f, name)
            }
            Self::Refused { server, message, .. } => {
                write!(f, "the server at {server} refused the call: {message}")
            }
            Self::Disconnected { server, message } => {
                write!(f, "no session with the server at {server}: {message}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<Vec<Diag>> for Error {
    fn from(diags: Vec<Diag>) -> Self {
        Self::Diags(diags)
    }
}

impl From<Diag> for Error {
    fn from(diag: Diag) -> Self {
        Self::Diags(vec![diag])
    }
}
