//! Shardy's rules of how an operation may be partitioned: `#sdy.op_sharding_rule<([i, j])->([i]) {i=2,
//! j=3}>`.
//!
//! No code here reads the contents of a rule, so it is kept as text.

use crate::tree::{Attribute, Attributes};
use std::fmt::Write;

/// The kind of the structure.
pub(super) const KIND: &str = "sdy.op_sharding_rule";

/// Returns the text of a rule, or `None` if a field has the wrong type.
pub(super) fn text(fields: &Attributes) -> Option<Attribute> {
    let mut text = format!("{KIND}<");
    mappings(fields.get("operand_mappings")?, &mut text)?;
    text.push_str("->");
    mappings(fields.get("result_mappings")?, &mut text)?;
    let sizes = fields.get("factor_sizes")?.ints()?;
    if !sizes.is_empty() {
        let sizes: Vec<String> =
            sizes.iter().zip(0..).map(|(size, at)| format!("{}={size}", factor(at))).collect();
        write!(text, " {{{}}}", sizes.join(", ")).ok()?;
    }
    for kind in ["reduction", "need_replication", "permutation", "blocked_propagation"] {
        let factors = fields.get(&format!("{kind}_factors"))?.ints()?;
        if !factors.is_empty() {
            let names: Vec<String> = factors.into_iter().map(factor).collect();
            write!(text, " {kind}={{{}}}", names.join(", ")).ok()?;
        }
    }
    if fields.get("is_custom_rule")?.as_bool()? {
        text.push_str(", custom");
    }
    text.push('>');
    Some(Attribute::Other(text.into()))
}

/// Writes, for each operand or result, its dimensions, and for each dimension the factors whose product it
/// is.
fn mappings(value: &Attribute, text: &mut String) -> Option<()> {
    let mut all = Vec::new();
    for tensor in value.as_array()? {
        let mut dims = Vec::new();
        for dim in tensor.fields("sdy.tensor_mapping")?.get("dim_mappings")?.as_array()? {
            let factors = dim.fields("sdy.dim_mapping")?.get("factor_indices")?.ints()?;
            dims.push(factors.into_iter().map(factor).collect::<String>());
        }
        all.push(format!("[{}]", dims.join(", ")));
    }
    write!(text, "({})", all.join(", ")).ok()
}

/// Returns the name of a factor: `i` to `z`, then `z_1`, `z_2`.
fn factor(at: i64) -> String {
    const LETTERS: &str = "ijklmnopqrstuvwxyz";
    match usize::try_from(at).ok().and_then(|at| LETTERS.get(at..=at)) {
        Some(letter) => letter.into(),
        None => format!("z_{}", at.saturating_sub(LETTERS.len() as i64 - 1)),
    }
}
