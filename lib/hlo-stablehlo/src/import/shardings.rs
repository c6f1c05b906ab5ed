//! Shardings in HLO text: `mhlo.sharding`.

use super::attributes::from_text;
use crate::tree::Attribute;
use hlo_ir::attr::{Sharding, ShardingKind};

/// Parses the sharding in an attribute. An empty string means no sharding.
///
/// # Errors
/// A message if the attribute is not a string or does not contain a sharding.
pub fn of_attribute(attribute: &Attribute) -> Result<Option<Sharding>, String> {
    let text = attribute.as_str().ok_or("`mhlo.sharding` is no text of a sharding")?;
    if text.is_empty() {
        return Ok(None);
    }
    from_text(text).map(Some).map_err(|why| format!("`{text}` is no sharding: {why}"))
}

/// Returns the sharding of a tuple of values. Values without a sharding are replicated.
pub fn tuple_of(shardings: &[Option<Sharding>]) -> Sharding {
    let replicated = Sharding::single(ShardingKind::Replicated);
    let leaves = shardings.iter().flat_map(|s| s.as_ref().unwrap_or(&replicated).leaves());
    Sharding::Tuple(leaves.cloned().collect())
}
