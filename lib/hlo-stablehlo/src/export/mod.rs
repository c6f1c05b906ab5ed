//! HLO to StableHLO.
//!
//! An instruction becomes the operations that compute its value. HLO's tuples are taken apart: an instruction that gives
//! one has as many values as it has leaves, so that `tuple` and `get-tuple-element` need no operation. Computations that
//! are applied become regions, those that are called functions. What has no StableHLO form is a diagnostic that names the
//! instruction and the pass that makes it something that has one.

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
mod types;
mod value;

use crate::Tree;
use exporter::Exporter;
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::verify::verify;

/// The StableHLO program that computes what a module does: `func.func @main` is its entry.
///
/// # Errors
/// The module is not valid, or something in it has no StableHLO form: all such instructions, up to a limit, each with its
/// name and its place in the module's text.
pub fn export(module: &Module) -> Result<Tree, Vec<Diag>> {
    let errors = verify(module);
    if !errors.is_empty() {
        return Err(errors);
    }
    if module.leaves_unsaid() {
        let mut explicit = module.clone();
        explicit.make_explicit();
        return Exporter::new(&explicit).run();
    }
    Exporter::new(module).run()
}
