//! `hlo-lsp`: a language server for HLO text, StableHLO and Tile. An editor starts it and communicates with
//! it over standard input and output, using the Language Server Protocol.

mod actions;
mod answer;
mod check;
mod client;
mod completion;
mod diagnostics;
mod document;
mod edits;
mod facts;
mod format;
mod hlo;
mod language;
mod navigate;
mod reading;
mod rename;
mod requests;
mod semantic;
mod server;
mod stablehlo;
mod symbol;
mod symbols;
mod text;
mod tile;
mod transport;
mod word;

use clap::Parser;
use hlo_tools_common::parse_arguments;
use std::process::ExitCode;

/// Language server for HLO, the tensor IR of XLA, for StableHLO, and for Tile. Editors start it and
/// communicate with it over standard input and output.
#[derive(Parser, Debug)]
#[command(name = "hlo-lsp", version, after_help = NOTES)]
struct Cli {
    /// Communicate over standard input and output. This is always the case; some editors pass the option
    #[arg(long)]
    stdio: bool,
    /// End when the process with this number ends. Standard input closes then, which also ends the server
    #[arg(long, value_name = "PID", hide = true)]
    client_process_id: Option<u64>,
}

const NOTES: &str = "\
The server provides diagnostics with quick fixes while you type, hover, definitions and references, completion, rename,
formatting (for HLO and StableHLO), document symbols and highlighting. It treats documents of the language `tile` or with the
extension .tile as Tile, those of `mlir` or with .mlir as StableHLO, and all others as HLO. docs/editors.md explains how to set
up VS Code, Neovim and Helix.

Exit codes: 0 after `shutdown` and `exit`, 1 if the editor disconnects without them, 2 an error in the command line.";

fn main() -> ExitCode {
    if let Err(code) = parse_arguments::<Cli>("hlo-lsp") {
        return code;
    }
    // Requests parse modules too, so this thread needs as much stack as the one that checks.
    let serve = || server::Server::new().run();
    match std::thread::Builder::new().name("serve".into()).stack_size(check::PARSER_STACK_BYTES).spawn(serve)
    {
        Ok(thread) => thread.join().unwrap_or(ExitCode::FAILURE),
        Err(_) => serve(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
