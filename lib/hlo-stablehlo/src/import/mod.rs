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
mod failure;
mod functions;
mod header;
mod importer;
mod locations;
mod ops;
mod regions;
mod shardings;
mod shardy;
mod types;

use crate::Tree;
use hlo_ir::diag::Diag;
use hlo_ir::{Module, verify};

/// The module that a program of StableHLO stands for. It is verified.
///
/// # Errors
/// All that can't be translated, with the operation, its place in the text and where it comes from: operations and types that
/// HLO does not have, sizes that are not known, attributes that are no values of theirs, and what breaks StableHLO's rules
/// or HLO's. At most
/// [`verify::MAX_REPORTS`], and one more that says that there are more.
pub fn import(tree: &Tree) -> Result<Module, Vec<Diag>> {
    let broken = crate::verify::verify(tree);
    if !broken.is_empty() {
        return Err(broken);
    }
    let module = importer::Importer::new(tree).run()?;
    let broken = verify::verify(&module);
    if broken.is_empty() { Ok(module) } else { Err(broken) }
}
