//! The annotated shardings of instructions, in normal form.

use crate::rules;
use hlo_ir::attr::TileAssignment;
use hlo_ir::diag::{Diag, Part};
use hlo_ir::{InstrId, Module};

/// Returns the tile assignment of each leaf of an instruction's sharding. Tokens, and leaves without a
/// sharding, have none.
pub(super) fn tilings(
    module: &Module,
    id: InstrId,
    devices: usize,
) -> Result<Vec<Option<TileAssignment>>, Diag> {
    TileAssignment::of_instruction(&module[id], devices).map_err(|why| invalid_sharding(module, id, &why))
}

/// Returns the error about a sharding that cannot be followed.
pub(super) fn invalid_sharding(module: &Module, id: InstrId, why: &str) -> Diag {
    let message = format!("the sharding of `{}` can't be followed: {why}", module[id].name);
    Diag::error(message).with_code(rules::SHARDING_DEVICES).at_instruction(
        module.span(id),
        Part::Attribute("sharding"),
        why,
    )
}
