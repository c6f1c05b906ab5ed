//! Command-line arguments that several tools share.

use crate::Reporter;
use clap::{Args, ValueEnum};
use std::io::IsTerminal;

/// The HLO text to process.
#[derive(Args, Clone, Debug)]
pub struct InputArg {
    /// The HLO text file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub input: String,
}

/// The options for diagnostics.
#[derive(Args, Clone, Copy, Debug)]
pub struct ShowArgs {
    /// When to color diagnostics: auto colors them on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// The format of diagnostics on standard error: text for readers, json for editors, one object per line
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub diagnostics: DiagnosticsFormat,
}

/// The values of `--diagnostics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiagnosticsFormat {
    /// The source lines with the errors underlined.
    Text,
    /// One JSON object per line.
    Json,
}

/// The values of `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ShowArgs {
    /// Whether diagnostics on standard error are colored.
    pub fn enabled(self) -> bool {
        self.on(std::io::stderr().is_terminal())
    }

    /// Whether output on standard output is colored.
    pub fn enabled_on_stdout(self) -> bool {
        self.on(std::io::stdout().is_terminal())
    }

    /// Returns the reporter for the diagnostics of `tool`.
    pub fn reporter(self, tool: &'static str) -> Reporter {
        Reporter { tool, format: self.diagnostics, color: self.enabled() }
    }

    fn on(self, terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
                !refused && !dumb && terminal
            }
        }
    }
}
