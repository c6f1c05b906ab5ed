//! Tests of the analyses of modules. They are one program, because linking each test program takes time.

mod buffers;
mod donation;
mod liveness;
mod schedule;
mod sharing;

use hlo_ir::Module;

/// Returns the module with a text.
fn parse(text: &str) -> Module {
    hlo_parser::parse_module(text).expect("a module")
}
