//! Tests with messages from jaxlib 0.10.2 and from Python's protocol buffers (`tests/protos`), round trips of
//! the corpus, and damaged files.

mod damage;
mod fixtures;
mod round_trips;

use hlo_ir::Module;
use std::path::PathBuf;

/// Reads a file of `tests/protos`.
fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/protos").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads a file of `tests/protos` as text.
fn text_fixture(name: &str) -> String {
    String::from_utf8(fixture(name)).expect("a text")
}

/// Parses a module and changes it as XLA does on reading: unique names, and only the stack frames in use.
fn parsed(text: &str) -> Module {
    let mut module = hlo_parser::parse_module(text).unwrap_or_else(|diags| panic!("{}", diags[0].message));
    module.make_names_unique();
    module.renumber_stack_frames();
    module
}
