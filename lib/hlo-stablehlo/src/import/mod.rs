//! StableHLO to HLO: a [`Tree`] becomes a module.
//!
//! The module is the one that XLA's translation makes, up to names: `main` is the entry, functions that are called are
//! computations, so are regions; what a region of a loop or a branch takes from outside becomes an operand, constants are
//! made anew in it. Shardings, donation and layouts that attributes say go to the instructions and to the header, locations to
//! metadata and the tables of stack frames.
//!
//! Where things are:
//! - `importer`: the module that is built, and which instruction stands for a value;
//! - `functions`, `regions`: the computations, in the order in which they are needed;
//! - `entry`, `header`: what attributes of arguments, results and of the module say;
//! - `attributes`, `types`, `locations`, `shardings`, `shardy`: what is read of the tree;
//! - `ops`: the operations by family, as in `hlo_ir::ops`.
//!
//! Nothing here recurses over chains of operations or calls; regions nest at most [`crate::tree::MAX_DEPTH`] deep.

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

/// The module that a program of StableHLO stands for. It is verified.
///
/// # Errors
/// Those of [`import_function`].
pub fn import(tree: &Tree) -> Result<Module, Vec<Diag>> {
    import_function(tree, None)
}

/// The module that a function of a program stands for: `function`, or else `main` or the only one. It is verified. Sizes that
/// are not known are refined ([`crate::refine`]), which the types of the function's arguments have to allow.
///
/// # Errors
/// All that can't be translated, with the operation, its place in the text and where it comes from: operations and types that
/// HLO does not have, sizes that are not known, attributes that are no values of theirs, and what breaks StableHLO's rules
/// or HLO's. At most
/// [`verify::MAX_REPORTS`], and one more that says that there are more.
pub fn import_function(tree: &Tree, function: Option<&str>) -> Result<Module, Vec<Diag>> {
    let broken = crate::verify::verify(tree);
    if !broken.is_empty() {
        return Err(broken);
    }
    let refined;
    let tree = match crate::refine::is_needed(tree) {
        true => {
            refined = crate::refine::refine_as_declared(tree, function)?;
            &refined
        }
        false => tree,
    };
    let module = translate(tree, function)?;
    let broken = verify::verify(&module);
    if broken.is_empty() { Ok(module) } else { Err(broken) }
}

/// The module that a function stands for, which is not verified.
///
/// # Errors
/// What can't be translated.
pub(crate) fn translate(tree: &Tree, function: Option<&str>) -> Result<Module, Vec<Diag>> {
    importer::Importer::new(tree, function).run()
}
