//! How a tool ends: why it stops, and its exit code.

use hlo_ir::diag::{Diag, Source};

/// Everything went well.
pub const EXIT_OK: u8 = 0;
/// The input has errors, or results differ from what was expected.
pub const EXIT_FAILURE: u8 = 1;
/// The command line makes no sense.
pub const EXIT_USAGE: u8 = 2;

/// Why a tool stops.
#[derive(Debug)]
pub enum Failure {
    /// The command line makes no sense: shown with a hint at `--help`, exit code 2.
    Usage(String),
    /// An error without a place in a text, exit code 1.
    Message(String),
    /// An error about a file, exit code 1.
    File {
        /// The file's name.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// Diagnostics that point into the text of a file, exit code 1.
    Diags {
        /// The text.
        source: Source,
        /// What is wrong with it.
        diags: Vec<Diag>,
    },
    /// Diagnostics that point into the text of an argument, exit code 2.
    Argument {
        /// The option's name and the text.
        source: Source,
        /// What is wrong with it.
        diags: Vec<Diag>,
    },
    /// All has been said on standard output already, exit code 1.
    Shown,
    /// Whoever read the output has gone (a closed pipe): nothing is left to do, exit code 0.
    OutputClosed,
}

impl Failure {
    /// Diagnostics about an input text.
    pub fn diags(source: &Source, diags: Vec<Diag>) -> Self {
        Failure::Diags { source: source.clone(), diags }
    }

    /// Diagnostics about the text of an argument, which `name` tells.
    pub fn argument(name: &str, text: &str, diags: Vec<Diag>) -> Self {
        let source = Source { name: name.to_string(), text: text.to_string() };
        Failure::Argument { source, diags }
    }

    /// An error about a file.
    pub fn file(name: &str, message: impl std::fmt::Display) -> Self {
        Failure::File { name: name.to_string(), message: message.to_string() }
    }

    /// The exit code.
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
