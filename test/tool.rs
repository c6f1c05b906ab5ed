//! Commands that run the tools of this build. `HLO_RUN` sets another command, with arguments, in place of
//! `hlo-run`. `make memcheck` uses it to run `hlo-run` under a checker.

use std::process::Command;

/// Returns a command that runs `program`.
pub fn tool(program: &str) -> Command {
    let instead = if program == env!("CARGO_BIN_EXE_hlo-run") {
        std::env::var("HLO_RUN").unwrap_or_default()
    } else {
        String::new()
    };
    let mut words = instead.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command
}
