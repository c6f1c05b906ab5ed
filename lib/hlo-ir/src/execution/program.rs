//! What is asked of a program and what it ends with, the same wherever it is compiled and runs: in this process
//! (`hlo-client`) or on a server (`hlo-remote`).

use crate::diag::{Diag, Source};
use crate::host::Host;
use crate::rules::code;
use crate::watch::Watch;
use crate::{InstrId, Module};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Machine code, by MLIR and LLVM.
    Compiled,
    /// The interpreter: slow, and written to be held against the semantics.
    Interpreted,
}

/// The passes that run before a program is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Passes {
    /// Those that make programs fast (`cpu` in docs/passes.md) for compiled code, none for the interpreter.
    #[default]
    Default,
    /// None but what code generation needs.
    Lowering,
    /// These, as `hlo-opt --passes` takes them, and after them what code generation needs.
    Pipeline(String),
}

/// How a program is compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// What computes; if it is not said, machine code where there is LLVM.
    pub engine: Option<Engine>,
    /// The passes before.
    pub passes: Passes,
    /// Threads to compile and to run on; 0 for all that this process may use. The interpreter takes one, and a server as many
    /// as it was told to.
    pub threads: usize,
    /// What random numbers follow from, besides the instruction that draws them (see [`crate::streams`]).
    pub seed: u64,
    /// The bytes that parameters, results and all between them may take together; if it is not said, what there is, on a
    /// server for this client.
    pub memory_limit: Option<u64>,
    /// Whether results take over the memory of parameters as the module's `input_output_alias` says, if the arguments are given
    /// away. In a run to which they are not given, and on a server, they are copied.
    pub donation: bool,
    /// The numbers of the client's devices that the program runs on, that of replica `r` and partition `p` at
    /// `r * num_partitions + p`; the client's first ones, if it is empty. A server's programs run on its first device.
    pub device_assignment: Vec<usize>,
    /// Whether a program that is for all partitions together is cut into what each of them does, by the shardings of its
    /// values (the passes `expand-unreduced`, `sharding-propagation` and `spmd-partitioning`, before all others). Its parameters and results are
    /// then those of one device. A program of one partition stays as it is. Not for a program that was cut before: that is
    /// not seen.
    pub spmd_partitioning: bool,
    /// Whether LLVM optimises. Without, compilation takes a fraction of the time, and the program several times as long. A
    /// server always does.
    pub optimize: bool,
    /// The file that the module was read from, if debuggers and profilers are to be told of compiled code of this process.
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

/// What a run has besides its arguments.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// What infeeds read from and outfeeds write to; nothing, if it is not said. A server has none.
    pub host: Option<&'a mut dyn Host>,
    /// Who watches the run, and may end it. Where a run on a server is, is told when it has ended only.
    pub watch: Option<Arc<Watch>>,
    /// How long it may take; on a server, if that is less than it allows. It ends as if who watches it had said so.
    pub time_limit: Option<Duration>,
}

/// Why a program can't be compiled or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// What is wrong, and where in the text of the module; at least one diagnostic.
    Diags(Vec<Diag>),
    /// Sizes that are known at run time only do not fit each other. The interpreter says where.
    Sizes,
    /// Whoever watches the run ended it.
    Stopped {
        /// Where it was: an instruction of the module that runs, what passes made of the one that was given.
        instruction: Option<InstrId>,
        /// The name of the instruction; may be empty.
        name: String,
    },
    /// The run took longer than it might.
    TimedOut {
        /// How long it might take.
        after: Duration,
        /// Where it was, as in [`Error::Stopped`].
        instruction: Option<InstrId>,
        /// The name of the instruction; may be empty.
        name: String,
    },
    /// A server refused the call.
    Refused {
        /// The server's address.
        server: String,
        /// Of what kind the reason is.
        kind: Refusal,
        /// The reason: what was expected and what was found.
        message: String,
    },
    /// There is no connection to a server, or no session any more: what it held for this client is gone.
    Disconnected {
        /// The server's address.
        server: String,
        /// Why.
        message: String,
    },
}

/// The kinds of reasons for which a server refuses calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A limit of the server: of memory, of numbers, of a message's size.
    Limit,
    /// The call took longer than it might.
    Time,
    /// A buffer or program that the server does not know.
    NotFound,
    /// What was sent makes no sense.
    Invalid,
    /// The two speak different versions of the protocol.
    Version,
    /// A defect of the server, which goes on all the same.
    Defect,
    /// Anything else.
    Other,
}

impl Error {
    /// An error that is about no place in a module.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Diags(vec![Diag::error(message)])
    }

    /// There is too little memory.
    pub fn memory(message: impl Into<String>) -> Self {
        Self::Diags(vec![Diag::error(message).with_code(code::MEMORY)])
    }

    /// True if there is too little memory, or less than the program may take.
    pub fn is_memory(&self) -> bool {
        matches!(self, Self::Diags(diags) if diags.first().is_some_and(|d| d.code == Some(code::MEMORY)))
    }

    /// A run was given another number of arguments than it takes.
    pub fn argument_count(expected: usize, found: usize) -> Self {
        let what = "one for each leaf of the parameters";
        Self::new(format!("expected {expected} arguments, {what}, found {found}"))
    }

    /// A run of a module that was stopped where it had come to.
    pub fn stopped(module: &Module, instruction: Option<InstrId>) -> Self {
        let name = instruction.map_or_else(String::new, |id| module[id].name.to_string());
        Self::Stopped { instruction, name }
    }

    /// The same error, of a run on several devices, with the number of the one that it happened on.
    pub fn on_device(mut self, device: usize) -> Self {
        if let Self::Diags(diags) = &mut self
            && let Some(first) = diags.first_mut()
        {
            first.message = format!("device {device}: {}", first.message);
        }
        self
    }

    /// The same error, of a run that was stopped because its time was over.
    pub fn timed_out(self, after: Duration) -> Self {
        match self {
            Self::Stopped { instruction, name } => Self::TimedOut { after, instruction, name },
            other => other,
        }
    }

    /// The error as diagnostics; at least one.
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
