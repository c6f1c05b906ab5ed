//! Attributes that are one structure in StableHLO and several attributes in VHLO.

use super::lists;
use crate::bytecode::encoding::{self, Field};
use crate::bytecode::fault::{Fault, Result};
use crate::dialect::OperationInfo;
use crate::tree::{Attribute, Attributes, Name, TypeKind};
use std::sync::Arc;

/// A structure and the corresponding VHLO attributes.
pub(super) struct Group {
    /// The name of the attribute in StableHLO.
    pub(super) name: &'static str,
    /// The kind of the structure.
    pub(super) kind: &'static str,
    /// The fields of the structure.
    pub(super) fields: &'static [(&'static str, Field)],
    /// The names of the VHLO attributes, in the order of the fields, if they differ from the field names.
    renamed: Option<&'static [&'static str]>,
}

const CHANNEL: &[(&str, Field)] = &[("handle", Field::Int), ("type", Field::Int)];

const fn group(name: &'static str, kind: &'static str, fields: &'static [(&'static str, Field)]) -> Group {
    Group { name, kind, fields, renamed: None }
}

/// Returns the structures of a StableHLO operation.
pub(super) fn of(operation: &str) -> &'static [Group] {
    match operation {
        "stablehlo.convolution" | "stablehlo.dynamic_conv" => {
            &[const { group("dimension_numbers", "stablehlo.conv", encoding::CONVOLUTION) }]
        }
        "stablehlo.dot_general" => &[
            const { group("dot_dimension_numbers", "stablehlo.dot", encoding::DOT) },
            const { group("algorithm", "stablehlo.dot_algorithm", encoding::DOT_ALGORITHM) },
        ],
        "stablehlo.gather" | "stablehlo.dynamic_gather" => {
            &[const { group("dimension_numbers", "stablehlo.gather", encoding::GATHER) }]
        }
        "stablehlo.scatter" => {
            &[const { group("scatter_dimension_numbers", "stablehlo.scatter", encoding::SCATTER) }]
        }
        "stablehlo.send" | "stablehlo.recv" => {
            const GROUP: Group = Group {
                name: "channel_handle",
                kind: "stablehlo.channel_handle",
                fields: CHANNEL,
                renamed: Some(&["channel_id", "channel_type"]),
            };
            &[GROUP]
        }
        _ => &[],
    }
}

/// Checks whether VHLO stores only the channel number where StableHLO has a handle. The channel's type is
/// always 0.
pub(super) fn is_channel(info: &OperationInfo) -> bool {
    info.attribute("channel_handle").is_some() && of(info.name).is_empty()
}

impl Group {
    /// Returns the VHLO attribute of a field.
    fn attribute(&self, field: usize) -> &'static str {
        self.renamed.map_or(self.fields[field].0, |renamed| renamed[field])
    }

    /// Removes the VHLO attributes from `all` and returns the structure, or `None` if all of them are absent.
    pub(super) fn join(&self, all: &mut Vec<(Name, Attribute)>) -> Result<Option<(Name, Attribute)>> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for (at, &(field, kind)) in self.fields.iter().enumerate() {
            let name = self.attribute(at);
            // Attributes of later versions are absent in older ones. The fields of an absent algorithm are
            // the type `none`.
            let Some(place) = all.iter().position(|(n, _)| *n == name) else { continue };
            let (_, value) = all.remove(place);
            if matches!(&value, Attribute::Type(ty) if **ty == TypeKind::None) {
                continue;
            }
            let fits = match kind {
                Field::Ints => lists::numbers(&value).map(Attribute::i64s),
                Field::Bool => value.as_bool().map(Attribute::Bool),
                Field::Int => value.as_int().map(Attribute::i64),
                _ => Some(value),
            };
            let value = fits.ok_or_else(|| {
                Fault::new(format!("the attribute `{name}` is of another type than numbers"))
            })?;
            fields.push((field.into(), value));
        }
        if fields.is_empty() {
            return Ok(None);
        }
        let fields: Attributes = fields.into_iter().collect();
        Ok(Some((self.name.into(), Attribute::Struct(self.kind.into(), Arc::new(fields)))))
    }

    /// Returns the VHLO attributes for the fields of a structure that may be absent.
    pub(super) fn split(&self, value: Option<&Attribute>) -> Result<Vec<(&'static str, Attribute)>> {
        let wrong = || Fault::new(format!("the attribute `{}` is no `{}`", self.name, self.kind));
        let fields = value.map(|value| value.fields(self.kind).ok_or_else(wrong)).transpose()?;
        let mut all = Vec::with_capacity(self.fields.len());
        for (at, &(field, kind)) in self.fields.iter().enumerate() {
            let value = fields.and_then(|fields| fields.get(field));
            let lowered = match (kind, value) {
                // The fields of an absent algorithm are the type `none`.
                _ if fields.is_none() => Some(Attribute::Type(TypeKind::None.into())),
                (Field::Ints, None) => Some(lists::ints(&[])),
                (Field::Ints, Some(value)) => lists::numbers(value).map(|all| lists::ints(&all)),
                (Field::Int, None) => Some(Attribute::i64(0)),
                (Field::Int, Some(value)) => value.as_int().map(Attribute::i64),
                (_, value) => value.cloned(),
            };
            all.push((self.attribute(at), lowered.ok_or_else(wrong)?));
        }
        Ok(all)
    }
}
