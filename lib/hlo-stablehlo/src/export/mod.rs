//! HLO to StableHLO.
//!
//! An instruction becomes the operations that compute its value. HLO's tuples are taken apart: an instruction
//! with a tuple result has one value for each leaf, so `tuple` and `get-tuple-element` need no operation.
//! Applied computations become regions. Called computations become functions. If an instruction has no
//! StableHLO form, the diagnostic names the instruction and a pass that rewrites it.

mod asynchronous;
mod attributes;
mod bitcast;
mod collective;
mod common;
mod control;
mod custom_call;
mod effects;
mod elementwise;
mod exporter;
mod failure;
mod function;
mod indexing;
mod instruction;
mod linear_algebra;
mod location;
mod movement;
mod operation;
mod reduction;
mod sharding;
mod structural;
mod symbols;
mod types;
mod value;

use crate::Tree;
use exporter::Exporter;
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::verify::verify;

/// Exports a module as a StableHLO program. Its entry is `func.func @main`.
///
/// # Errors
/// The module is invalid, or instructions have no StableHLO form. All such instructions are reported up to a
/// limit, each with its name and its position in the module's text.
pub fn export(module: &Module) -> Result<Tree, Vec<Diag>> {
    let errors = verify(module);
    if !errors.is_empty() {
        return Err(errors);
    }
    if module.has_implicit_information() {
        let mut explicit = module.clone();
        explicit.make_explicit();
        return Exporter::new(&explicit).run();
    }
    Exporter::new(module).run()
}
