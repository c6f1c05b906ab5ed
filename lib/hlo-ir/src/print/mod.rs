//! Printing modules, byte for byte as XLA's `HloModule::ToString()` prints them.
//!
//! What is printed parses back to the same module, and prints again as the same text, as far as the form keeps
//! all information: see [`PrintOptions`].

pub(crate) mod asynchronous;
mod attributes;
mod computation;
mod float;
mod literal;
mod module;
mod options;
mod shape;

pub use float::{format_f32, format_f64, format_g};
pub use literal::{print_literal, write_value};
pub use module::{print_computation, print_instruction, print_module};
pub use options::PrintOptions;
pub use shape::print_shape;
