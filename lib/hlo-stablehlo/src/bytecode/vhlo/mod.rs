//! Conversion between StableHLO operations and the VHLO operations of a version.
//!
//! VHLO differs from StableHLO in three ways. It has separate attributes instead of structures of dimension
//! numbers. It has no optional attributes and stores defaults instead. It has tensors instead of arrays of
//! numbers.

mod check;
mod defaults;
mod groups;
mod lists;
mod lower;

pub(super) use check::check;
pub(super) use lower::{Lowered, lower};

use super::encoding;
use super::fault::{Fault, Result};
use crate::dialect::{OperationInfo, Versioned};
use crate::tree::{Attribute, Attributes, Name, Type};

/// The meaning of a VHLO operation.
#[derive(Clone)]
pub(super) struct Meaning {
    info: &'static OperationInfo,
    versioned: &'static Versioned,
    name: Name,
}

impl Meaning {
    pub(super) fn new(info: &'static OperationInfo, versioned: &'static Versioned) -> Self {
        Self { info, versioned, name: info.name.into() }
    }

    /// Returns the StableHLO name of the operation. It depends on the name of the parent operation.
    pub(super) fn name(&self, parent: &str) -> Name {
        if self.info.name == "stablehlo.return" && parent == "func.func" {
            return "func.return".into();
        }
        self.name.clone()
    }

    /// Converts VHLO attributes to StableHLO attributes.
    pub(super) fn attributes(&self, mut all: Vec<(Name, Attribute)>) -> Result<Attributes> {
        if all.is_empty() {
            return Ok(Attributes::default());
        }
        if self.versioned.name == "dynamic_conv_v1" {
            // An operand also contains the padding, and takes precedence.
            all.retain(|(name, _)| *name != "padding");
        }
        let mut out = Vec::with_capacity(all.len());
        for group in groups::of(self.info.name) {
            out.extend(group.join(&mut all)?);
        }
        let layouts_are_given = all.iter().any(|(name, value)| {
            matches!(name.as_str(), "operand_layouts" | "result_layouts") && !defaults::is_empty(value)
        });
        for (name, value) in all {
            let keeps_default = layouts_are_given && name.ends_with("_layouts");
            if !keeps_default && defaults::is_default(self.info, &name, &value) {
                continue;
            }
            out.push(self.attribute(name, value)?);
        }
        Ok(out.into_iter().collect())
    }

    /// Converts an attribute that has another form in StableHLO.
    fn attribute(&self, name: Name, value: Attribute) -> Result<(Name, Attribute)> {
        let Some(inherent) = self.info.attribute(&name) else {
            return Ok(match (name.as_str(), &value) {
                ("channel_id", Attribute::Integer(..)) if groups::is_channel(self.info) => {
                    let fields = [("handle", value), ("type", Attribute::i64(0))];
                    ("channel_handle".into(), Attribute::of_fields("stablehlo.channel_handle", fields))
                }
                _ => (name, value),
            });
        };
        let value = match (inherent.list, inherent.name) {
            (Some(list), _) => lists::to_array(list, &value)
                .ok_or_else(|| Fault::new(format!("the attribute `{name}` is no list of numbers")))?,
            (None, "use_global_device_ids" | "has_dynamic_root") => Attribute::Unit,
            (None, "api_version") => match value.word(encoding::API_VERSION) {
                Some(word) => api_number(word),
                None => value,
            },
            (None, "callee" | "decomposition") => to_symbol(value),
            (None, "called_computations") => match value {
                Attribute::Array(all) => Attribute::Array(all.iter().cloned().map(to_symbol).collect()),
                other => other,
            },
            (None, _) => value,
        };
        Ok((name, value))
    }
}

/// Returns StableHLO's number for VHLO's word of an API version.
fn api_number(word: &str) -> Attribute {
    let number = encoding::API_VERSIONS.iter().position(|w| *w == word).unwrap_or(0);
    Attribute::Integer(number as i128, Type::integer(32))
}

/// Converts a string to the symbol that it names.
fn to_symbol(value: Attribute) -> Attribute {
    match value.as_str() {
        Some(text) => Attribute::Symbol(text.into()),
        None => value,
    }
}
