//! The command that runs a tool of this build: as it is, or under the program that `HLO_RUN_UNDER` names (with its
//! arguments), as `make memcheck` does.

use std::process::Command;

/// A command that runs `program`.
pub fn tool(program: &str) -> Command {
    let under = std::env::var("HLO_RUN_UNDER").unwrap_or_default();
    let mut words = under.split_whitespace();
    match words.next() {
        None => Command::new(program),
        Some(first) => {
            let mut command = Command::new(first);
            command.args(words).arg(program);
            command
        }
    }
}
