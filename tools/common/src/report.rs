//! Reports failures, warnings and notes on standard error, as text or as JSON.

use crate::args::DiagnosticsFormat;
use crate::shown::{MAX_SHOWN, not_shown};
use crate::{EXIT_OK, EXIT_USAGE, Failure, generate, json, print};
#[cfg(feature = "passes")]
use clap::error::{ContextKind, ContextValue, ErrorKind};
use hlo_ir::diag::{Diag, Severity, Source, render};
use std::process::ExitCode;

/// The colors of the words.
const ERROR: &str = "1;31";
const WARNING: &str = "1;33";

/// Prints the diagnostics of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Reporter {
    /// The tool's name.
    pub tool: &'static str,
    /// The output format.
    pub format: DiagnosticsFormat,
    /// Whether text is colored with ANSI escapes.
    pub color: bool,
}

impl Reporter {
    /// Reports the outcome of a tool's run and returns its exit code.
    pub fn finish(&self, result: Result<(), Failure>) -> ExitCode {
        match result {
            Ok(()) => ExitCode::from(EXIT_OK),
            Err(failure) => {
                self.show(&failure);
                ExitCode::from(failure.exit_code())
            }
        }
    }

    /// Reports a failure.
    pub fn show(&self, failure: &Failure) {
        eprint_quietly(&self.failure(failure));
    }

    /// Prints a note.
    pub fn note(&self, message: &str) {
        self.remark("note", "1;32", message);
    }

    /// Prints a warning.
    pub fn warning(&self, message: &str) {
        self.remark("warning", WARNING, message);
    }

    /// Prints the warnings about a text.
    pub fn warnings(&self, source: &Source, diags: &[Diag]) {
        eprint_quietly(&match self.format {
            DiagnosticsFormat::Text => self.diags(source, diags, Severity::Warning),
            DiagnosticsFormat::Json => json::diagnostics(self.tool, source, diags, "file", Severity::Warning),
        });
    }

    fn remark(&self, word: &str, style: &str, message: &str) {
        eprint_quietly(&match self.format {
            DiagnosticsFormat::Text => format!("{}: {message}\n", self.styled(word, style)),
            DiagnosticsFormat::Json => json::remark(self.tool, word, message, None),
        });
    }

    /// Returns the report of a failure.
    pub fn failure(&self, failure: &Failure) -> String {
        match self.format {
            DiagnosticsFormat::Text => self.text(failure),
            DiagnosticsFormat::Json => json::failure(self.tool, failure),
        }
    }

    fn text(&self, failure: &Failure) -> String {
        let error = self.styled("error", ERROR);
        let tool = self.tool;
        match failure {
            Failure::Usage(message) => {
                format!("{error}: {message}\n\nFor more information, try '{tool} --help'.\n")
            }
            Failure::Message(message) => format!("{error}: {message}\n"),
            Failure::File { name, message } => format!("{error}: {name}: {message}\n"),
            Failure::Diags { source, diags } | Failure::Argument { source, diags } => {
                self.diags(source, diags, Severity::Error)
            }
            Failure::Shown | Failure::OutputClosed => String::new(),
        }
    }

    /// Returns the diagnostics up to the maximum number, then a message with `severity` that counts the
    /// others.
    fn diags(&self, source: &Source, diags: &[Diag], severity: Severity) -> String {
        let shown = diags.iter().take(MAX_SHOWN).map(|diag| render(diag, source, self.color));
        let word = severity.word();
        let style = match severity {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
        };
        let more = not_shown(diags.len(), word).map(|more| format!("{}: {more}\n", self.styled(word, style)));
        shown.chain(more).collect()
    }

    fn styled(&self, word: &str, style: &str) -> String {
        if self.color { format!("\x1b[{style}m{word}\x1b[0m") } else { word.to_string() }
    }
}

/// Parses the command line. If it contains `--diagnostics=json`, clap's error is printed as a JSON object.
/// Prints completions and the manual page if requested.
///
/// # Errors
/// Returns the exit code of the tool: that of success after options such as `--help`, or that of an invalid
/// command line.
pub fn parse_arguments<A: clap::Parser>(tool: &'static str) -> Result<A, ExitCode> {
    parse_arguments_of(tool, std::env::args_os().collect())
}

/// Like [`parse_arguments`], for a command line that was preprocessed.
///
/// # Errors
/// Returns the errors of [`parse_arguments`].
pub fn parse_arguments_of<A: clap::Parser>(
    tool: &'static str,
    line: Vec<std::ffi::OsString>,
) -> Result<A, ExitCode> {
    let mut command = generate::with_options(A::command());
    let parsed = command.try_get_matches_from_mut(line).and_then(|mut matches| {
        match generate::requested_output(&command, &matches) {
            Some(text) => Ok(Err(text)),
            None => A::from_arg_matches_mut(&mut matches).map(Ok).map_err(|e| e.format(&mut command)),
        }
    });
    #[cfg_attr(not(feature = "passes"), expect(unused_mut, reason = "passes are proposed there only"))]
    let mut error = match parsed {
        Ok(Ok(arguments)) => return Ok(arguments),
        Ok(Err(text)) => {
            return Err(ExitCode::from(
                print(&text).map_or_else(|failure| failure.exit_code(), |()| EXIT_OK),
            ));
        }
        Err(error) => error,
    };
    #[cfg(feature = "passes")]
    if A::command().get_arguments().any(|a| a.get_long() == Some("passes")) {
        propose_passes(&mut error);
    }
    // Help and version are not errors.
    if !error.use_stderr() || !wants_json(std::env::args_os()) {
        // If the output is closed, nothing remains to be done.
        let _ = error.print();
        return Err(ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { EXIT_OK }));
    }
    eprint_quietly(&json::usage(tool, &error.render().to_string()));
    Err(ExitCode::from(EXIT_USAGE))
}

/// Adds a tip if the name of a pass was given as an option, as in MLIR's tools.
#[cfg(feature = "passes")]
fn propose_passes(error: &mut clap::Error) {
    use hlo_passes::{find, find_ignoring_case, find_pipeline};
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return };
    let name = argument.trim_start_matches('-');
    let pipeline = || find_pipeline(name).map(|p| p.name);
    let Some(name) = find(name).or_else(|| find_ignoring_case(name)).map(|p| p.name).or_else(pipeline) else {
        return;
    };
    if error.kind() == ErrorKind::UnknownArgument {
        let tip = format!("passes are given as '--passes={name}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Whether arguments that clap rejected contain `--diagnostics=json`.
fn wants_json(arguments: impl Iterator<Item = std::ffi::OsString>) -> bool {
    let mut previous = std::ffi::OsString::new();
    for argument in arguments {
        if argument == "--diagnostics=json" || (previous == "--diagnostics" && argument == "json") {
            return true;
        }
        previous = argument;
    }
    false
}

/// Like `eprint!`, but does not panic if standard error is closed.
fn eprint_quietly(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stderr().write_all(text.as_bytes());
}
