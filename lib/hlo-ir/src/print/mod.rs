//! Printing of modules, byte for byte like XLA's `HloModule::ToString()`.
//!
//! The printed text parses back to the same module and prints again as the same text, if the options keep all
//! information: see [`PrintOptions`]. XLA changes names when it reads a module. [`Module::normalize`] makes
//! the same changes, so that the printed text matches XLA's.

pub(crate) mod asynchronous;
mod attributes;
mod computation;
pub(crate) mod float;
mod identity;
mod literal;
mod module;
mod options;
mod shape;

pub use float::{format_f32, format_f64, format_g};
pub use identity::for_each_identifying_part;
pub use literal::{print_literal, write_value};
pub use module::{
    Place, print_computation, print_instruction, print_instruction_within, print_module,
    print_module_with_places,
};
pub use options::PrintOptions;
pub use shape::print_shape;

use crate::Module;

impl Module {
    /// Makes the changes that XLA makes when it reads a module: names of instructions and computations become
    /// unique in the module, and stack frames are numbered by first use. Call it before passes and printing,
    /// but after diagnostics, which refer to the names in the text. Linear.
    pub fn normalize(&mut self) {
        self.make_names_unique();
        self.renumber_stack_frames();
    }
}
