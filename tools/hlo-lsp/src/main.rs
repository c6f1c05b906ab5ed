//! `hlo-lsp`: a language server for HLO text and Tile. An editor starts it and talks to it over standard input and
//! output, in the Language Server Protocol.

mod actions;
mod check;
mod completion;
mod document;
mod edits;
mod facts;
mod format;
mod hlo;
mod language;
mod navigate;
mod rename;
mod requests;
mod semantic;
mod server;
mod stablehlo;
mod symbols;
mod text;
mod tile;
mod transport;

use clap::Parser;
use hlo_tools_common::parse_arguments;
use std::process::ExitCode;

/// Language server for HLO, the tensor IR of XLA, and for Tile. Editors start it; it talks over standard input and output.
#[derive(Parser, Debug)]
#[command(name = "hlo-lsp", version, after_help = NOTES)]
struct Cli {
    /// Talk over standard input and output; it always does, some editors say so
    #[arg(long)]
    stdio: bool,
    /// End when the process of that number ends; standard input closes then, which ends the server too
    #[arg(long, value_name = "PID", hide = true)]
    client_process_id: Option<u64>,
}

const NOTES: &str = "\
It gives diagnostics while typing with quick fixes, hover, definitions and references, completion, rename,
formatting (of HLO and StableHLO), document symbols and highlighting. Documents of the language `tile`, or whose names
end in .tile, are Tile, of `mlir` or in .mlir StableHLO, all others HLO. docs/editors.md says how to set up VS Code, Neovim and Helix.

Exit codes: 0 after `shutdown` and `exit`, 1 if the editor goes without them, 2 the command line makes no sense.";

fn main() -> ExitCode {
    if let Err(code) = parse_arguments::<Cli>("hlo-lsp") {
        return code;
    }
    // Requests read modules too: as much stack as the thread that checks.
    let serve = || server::Server::new().run();
    match std::thread::Builder::new().name("serve".into()).stack_size(check::STACK).spawn(serve) {
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
