//! Printing modules, byte for byte as XLA's `HloModule::ToString()` prints them.
//!
//! What is printed parses back to the same module, and prints again as the same text, as far as the form keeps
//! all information: see [`PrintOptions`]. XLA prints modules that it has read; [`Module::normalize`] does to a
//! module what XLA does to it then.

pub(crate) mod asynchronous;
mod attributes;
mod computation;
mod float;
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
    /// Does to a module what XLA does when it reads one: instruction names and computation names become unique
    /// in the module, stack frames are numbered by their first use. Call it after diagnostics, which speak of the
    /// names in the text, and before passes and printing. Linear.
    pub fn normalize(&mut self) {
        self.make_names_unique();
        self.renumber_stack_frames();
    }
}
