//! Failures of a tool, and exit codes.

use hlo_ir::diag::{Diag, Source};

/// Exit code of a successful run.
pub const EXIT_OK: u8 = 0;
/// Exit code if the input has errors or results differ from the expected ones.
pub const EXIT_FAILURE: u8 = 1;
/// Exit code if the command line is invalid.
pub const EXIT_USAGE: u8 = 2;

/// The reason why a tool stops.
#[derive(Debug)]
pub enum Failure {
    /// An invalid command line. It is shown with a hint to `--help`; exit code 2.
    Usage(String),
    /// An error without a span in a text; exit code 1.
    Message(String),
    /// An error about a file; exit code 1.
    File {
        /// The name of the file.
        name: String,
        /// The description of the error.
        message: String,
    },
    /// Diagnostics with spans in the text of a file; exit code 1.
    Diags {
        /// The text.
        source: Source,
        /// The diagnostics.
        diags: Vec<Diag>,
    },
    /// Diagnostics with spans in the text of an argument; exit code 2.
    Argument {
        /// The name of the option, and the text.
        source: Source,
        /// The diagnostics.
        diags: Vec<Diag>,
    },
    /// A failure that was already printed to standard output; exit code 1.
    Shown,
    /// The reader closed the output pipe. The tool stops without an error; exit code 0.
    OutputClosed,
}

impl Failure {
    /// Returns a failure with diagnostics about an input text.
    pub fn diags(source: &Source, diags: Vec<Diag>) -> Self {
        Failure::Diags { source: source.clone(), diags }
    }

    /// Returns a failure with diagnostics about the text of the argument called `name`.
    pub fn argument(name: &str, text: &str, diags: Vec<Diag>) -> Self {
        let source = Source { name: name.to_string(), text: text.to_string() };
        Failure::Argument { source, diags }
    }

    /// Returns a failure about a file.
    pub fn file(name: &str, message: impl std::fmt::Display) -> Self {
        Failure::File { name: name.to_string(), message: message.to_string() }
    }

    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Argument { .. } => EXIT_USAGE,
            Failure::Message(_) | Failure::File { .. } | Failure::Diags { .. } | Failure::Shown => {
                EXIT_FAILURE
            }
            Failure::OutputClosed => EXIT_OK,
        }
    }
}
