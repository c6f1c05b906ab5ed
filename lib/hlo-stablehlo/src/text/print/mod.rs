//! From the tree to text.

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

/// How a tree is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// True for the form that all operations have in common: `"stablehlo.add"(%0, %1) : (…) -> …`.
    pub is_generic: bool,
    /// True if each operation says where it comes from.
    pub with_locations: bool,
}

/// The tree as MLIR prints it.
pub fn print(tree: &Tree, options: PrintOptions) -> String {
    operation::Printer::new(tree, options).print()
}

/// A type as messages say it.
pub fn type_text(ty: &Type) -> String {
    let mut out = String::new();
    types::write(&mut out, ty);
    out
}
