//! Tests of the code generator: of compiled code through the crate's public interface, and of a few internals.
//! They are one program, because each further program would be linked separately.

mod compile;
mod effects;
mod jit;
mod kernels;
mod locations;
mod long_programs;
mod names;
mod ops;
mod programs;
mod prune;
mod target;
mod types;

use hlo_ir::Module;
use hlo_ir::verify::Verified;

/// Returns the module with a text.
fn module(text: &str) -> Verified<Module> {
    let m = hlo_parser::parse_module(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Verified::new(m).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}
