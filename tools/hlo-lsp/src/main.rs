//! `hlo-lsp`: the binary of the language server.

use std::process::ExitCode;

fn main() -> ExitCode {
    hlo_lsp::run()
}
