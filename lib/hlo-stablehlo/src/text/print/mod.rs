//! Printer of text.

mod attribute;
mod dimensions;
mod elements;
mod fits;
mod float;
mod forms;
mod location;
mod names;
mod operation;
mod sdy;
mod types;

use crate::tree::{Tree, Type};

/// Options for printing a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Whether to use the generic form of all operations: `"stablehlo.add"(%0, %1) : (…) -> …`.
    pub is_generic: bool,
    /// Whether to print the locations of operations.
    pub with_locations: bool,
}

/// Prints a tree as MLIR does.
pub fn print(tree: &Tree, options: PrintOptions) -> String {
    operation::Printer::new(tree, options).print()
}

/// Returns the text of a type, for messages.
pub fn type_text(ty: &Type) -> String {
    let mut out = String::new();
    types::write(&mut out, ty);
    out
}
