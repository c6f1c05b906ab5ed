//! How a tool ends: exit codes, and showing what went wrong.

use hlo_ir::diag::{Diag, Source, render};
use std::fmt::Write as _;
use std::process::ExitCode;

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
    /// Diagnostics that point into a text, exit code 1 (2 if the text is an argument).
    Diags {
        /// The text.
        source: Source,
        /// What is wrong with it.
        diags: Vec<Diag>,
        /// True if the text is part of the command line.
        argument: bool,
    },
    /// All has been said on standard output already, exit code 1.
    Shown,
    /// Whoever read the output has gone (a closed pipe): nothing is left to do, exit code 0.
    OutputClosed,
}

impl Failure {
    /// Diagnostics about an input text.
    pub fn diags(source: &Source, diags: Vec<Diag>) -> Self {
        Failure::Diags { source: source.clone(), diags, argument: false }
    }

    /// Diagnostics about the text of an argument, which `name` tells.
    pub fn argument(name: &str, text: &str, diags: Vec<Diag>) -> Self {
        let source = Source { name: name.to_string(), text: text.to_string() };
        Failure::Diags { source, diags, argument: true }
    }

    /// An error about a file.
    pub fn file(name: &str, message: impl std::fmt::Display) -> Self {
        Failure::Message(format!("{name}: {message}"))
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Diags { argument: true, .. } => EXIT_USAGE,
            Failure::Message(_) | Failure::Diags { .. } | Failure::Shown => EXIT_FAILURE,
            Failure::OutputClosed => EXIT_OK,
        }
    }

    /// What is shown on standard error, colours as ANSI escapes if asked for.
    pub fn render(&self, tool: &str, color: bool) -> String {
        let error = if color { "\x1b[1;31merror\x1b[0m" } else { "error" };
        match self {
            Failure::Usage(message) => {
                format!("{error}: {message}\n\nFor more information, try '{tool} --help'.\n")
            }
            Failure::Message(message) => format!("{error}: {message}\n"),
            Failure::Diags { source, diags, .. } => {
                diags.iter().fold(String::new(), |mut out, diag| {
                    // Writing to a string does not fail.
                    let _ = write!(out, "{}", render(diag, source, color));
                    out
                })
            }
            Failure::Shown | Failure::OutputClosed => String::new(),
        }
    }
}

/// Shows what a tool's run came to and gives its exit code.
pub fn finish(tool: &str, color: bool, result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::from(EXIT_OK),
        Err(failure) => {
            eprint_quietly(&failure.render(tool, color));
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Like `eprint!`, but a closed standard error is no reason to panic.
fn eprint_quietly(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stderr().write_all(text.as_bytes());
}
