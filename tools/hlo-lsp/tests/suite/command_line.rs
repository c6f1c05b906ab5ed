//! Tests of the command line.

use std::process::Command;

#[test]
fn the_command_line_is_sound() {
    // With debug assertions, clap checks the description of the command line and panics if it is wrong.
    for (option, part) in
        [("--help", "Exit codes: "), ("--man", ".TH hlo-lsp"), ("--completions=bash", "--stdio")]
    {
        let out = Command::new(env!("CARGO_BIN_EXE_hlo-lsp")).arg(option).output().unwrap();
        assert!(out.status.success(), "{option}: {out:?}");
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.contains(part), "{option}: {text}");
    }
}
