//! Messages made by jaxlib 0.10.2 and by Python's protocol buffers (`tests/protos`), modules of the corpus there and back, and
//! damaged files.

mod damage;
mod fixtures;
mod round_trips;

use hlo_ir::Module;
use std::path::PathBuf;

/// A file of `tests/protos`.
fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/protos").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The same as text.
fn text_fixture(name: &str) -> String {
    String::from_utf8(fixture(name)).expect("a text")
}

/// A module as XLA has it when it has read it: with unique names, and the stack frames that are used.
fn parsed(text: &str) -> Module {
    let mut module = hlo_parser::parse_module(text).unwrap_or_else(|diags| panic!("{}", diags[0].message));
    module.make_names_unique();
    module.renumber_stack_frames();
    module
}
