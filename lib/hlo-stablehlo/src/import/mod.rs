//! StableHLO to HLO: translates a [`Tree`] to a module.
//!
//! The module is the same as that of XLA's translation, except for names. `main` is the entry. Called
//! functions and regions become computations. Values from outside that a region of a loop or a branch uses
//! become operands; constants are created again inside it. Shardings, donation and layouts in attributes
//! become properties of instructions and of the header. Locations become metadata and the tables of stack
//! frames.
//!
//! Modules:
//! - `importer`: the new module, and the instructions that represent values;
//! - `functions`, `regions`: computations, in the order in which they are needed;
//! - `entry`, `header`: attributes of arguments, of results and of the module;
//! - `attributes`, `types`, `locations`, `shardings`, `shardy`: readers of parts of the tree;
//! - `ops`: the operations by family, as in `hlo_ir::ops`.
//!
//! No code here recurses over chains of operations or calls. Regions nest at most [`crate::tree::MAX_DEPTH`]
//! deep.

mod attribute_text;
mod attributes;
mod entry;
pub(crate) mod failure;
pub(crate) mod functions;
mod header;
mod importer;
mod locations;
mod ops;
pub(crate) mod regions;
mod shardings;
mod shardy;
pub(crate) mod types;

use crate::Tree;
use hlo_ir::diag::Diag;
use hlo_ir::{Module, verify};

pub(crate) use ops::chlo;

/// Translates a StableHLO program to a verified module.
///
/// # Errors
/// The errors of [`import_function`].
pub fn import(tree: &Tree) -> Result<Module, Vec<Diag>> {
    import_function(tree, None)
}

/// Translates a function of a program to a verified module. Without `function`, the entry is the only
/// function, or `main` if there are several. Unknown sizes are refined ([`crate::refine`]), which requires
/// that the types of the function's arguments have known or bounded sizes.
///
/// # Errors
/// All operations that cannot be translated, each with its position in the text and its source location.
/// Causes are operations and types that HLO lacks, unknown sizes, invalid attribute values, and violations of
/// the rules of StableHLO or HLO. At most [`verify::MAX_REPORTS`] errors are reported, and one more that
/// tells that there are more.
pub fn import_function(tree: &Tree, function: Option<&str>) -> Result<Module, Vec<Diag>> {
    let broken = crate::verify::verify(tree);
    if !broken.is_empty() {
        return Err(broken);
    }
    let refined;
    let tree = if crate::refine::is_needed(tree) {
        refined = crate::refine::refine_as_declared(tree, function)?;
        &refined
    } else {
        tree
    };
    let module = translate(tree, function)?;
    let broken = verify::verify(&module);
    if broken.is_empty() { Ok(module) } else { Err(broken) }
}

/// Translates a function without verifying the module.
///
/// # Errors
/// The operations that cannot be translated.
pub(crate) fn translate(tree: &Tree, function: Option<&str>) -> Result<Module, Vec<Diag>> {
    importer::Importer::new(tree, function).run()
}
