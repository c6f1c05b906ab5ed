//! `hlo-lsp`: a language server for HLO text, StableHLO and Tile. An editor starts it and communicates with
//! it over standard input and output, using the Language Server Protocol. The binary only calls [`run`].

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

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::document::Document;
    pub use crate::format::format;
    pub use crate::language::Language;
    pub use crate::navigate::{definition, highlights, hover, references};
    pub use crate::rename::{prepare, rename};
    pub use crate::semantic::tokens;
    pub use crate::symbols::{folding_ranges, symbols};
    pub use crate::text::Text;
    pub use crate::transport::{Incoming, read};

    /// Internals of the support for HLO text.
    pub mod hlo {
        pub use crate::hlo::attributes::{common, of_module, opcode};
        pub use crate::hlo::complete::snippet;
        pub use crate::hlo::rename::invalid_name_reason;
    }

    /// Internals of the support for StableHLO.
    pub mod stablehlo {
        pub use crate::stablehlo::outline::Outline;
        pub use crate::stablehlo::scan::{Kind, Token};
    }

    /// Internals of the support for Tile.
    pub mod tile {
        pub use crate::tile::builtins::{
            ELEMENT_TYPES, FUNCTIONS, OF_CONTRACTIONS, OF_OUTPUTS, OF_SHAPES, OF_TENSORS, parameters,
        };
        pub use crate::tile::outline::Role;
        pub use crate::tile::scan::{Kind, scan};
        pub use crate::tile::structure::outline;
    }
}

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

/// Runs the server with the arguments of the process until the editor ends the session. Returns the exit code
/// of the process.
pub fn run() -> ExitCode {
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
