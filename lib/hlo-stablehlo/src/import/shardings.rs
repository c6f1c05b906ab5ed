//! Shardings as HLO text has them: `mhlo.sharding`.

use super::attributes::from_text;
use crate::tree::Attribute;
use hlo_ir::attr::{Sharding, ShardingKind};

/// The sharding that an attribute spells; an empty text says nothing.
///
/// # Errors
/// In words: it is no text, or none of a sharding.
pub fn of_attribute(attribute: &Attribute) -> Result<Option<Sharding>, String> {
    let text = attribute.as_str().ok_or("`mhlo.sharding` is no text of a sharding")?;
    if text.is_empty() {
        return Ok(None);
    }
    from_text(text).map(Some).map_err(|why| format!("`{text}` is no sharding: {why}"))
}

/// The sharding of a tuple of values; those of which nothing is said are on all devices.
pub fn tuple_of(shardings: &[Option<Sharding>]) -> Sharding {
    let replicated = Sharding::single(ShardingKind::Replicated);
    let leaves = shardings.iter().flat_map(|s| s.as_ref().unwrap_or(&replicated).leaves());
    Sharding::Tuple(leaves.cloned().collect())
}
