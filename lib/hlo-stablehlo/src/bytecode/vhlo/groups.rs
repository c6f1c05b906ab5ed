//! Attributes that are a structure in StableHLO and many attributes in VHLO.

use super::lists;
use crate::bytecode::encoding::{self, Field};
use crate::bytecode::fault::{Fault, Result};
use crate::dialect::OperationInfo;
use crate::tree::{Attribute, Attributes, Name, TypeKind};
use std::sync::Arc;

/// A structure and the attributes that VHLO has instead.
pub(super) struct Group {
    /// The attribute in StableHLO.
    pub(super) name: &'static str,
    /// The kind of the structure.
    pub(super) kind: &'static str,
    /// The fields.
    pub(super) fields: &'static [(&'static str, Field)],
    /// The attributes of VHLO, as many, if they are called otherwise than the fields.
    renamed: Option<&'static [&'static str]>,
}

const CHANNEL: &[(&str, Field)] = &[("handle", Field::Int), ("type", Field::Int)];

const fn group(name: &'static str, kind: &'static str, fields: &'static [(&'static str, Field)]) -> Group {
    Group { name, kind, fields, renamed: None }
}

/// The structures of an operation of StableHLO.
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

/// True if VHLO has the number of a channel where StableHLO has a handle: the channel's type is always 0.
pub(super) fn is_channel(info: &OperationInfo) -> bool {
    info.attribute("channel_handle").is_some() && of(info.name).is_empty()
}

impl Group {
    /// VHLO's attribute for a field.
    fn attribute(&self, field: usize) -> &'static str {
        self.renamed.map_or(self.fields[field].0, |renamed| renamed[field])
    }

    /// Takes VHLO's attributes out and puts them together; `None` if all lack.
    pub(super) fn join(&self, all: &mut Vec<(Name, Attribute)>) -> Result<Option<(Name, Attribute)>> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for (at, &(field, kind)) in self.fields.iter().enumerate() {
            let name = self.attribute(at);
            // What came with a later version lacks in older ones; of algorithms it is the type `none` that says so.
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

    /// VHLO's attributes for the fields of a structure; `None` if that is not given.
    pub(super) fn split(&self, value: Option<&Attribute>) -> Result<Vec<(&'static str, Attribute)>> {
        let wrong = || Fault::new(format!("the attribute `{}` is no `{}`", self.name, self.kind));
        let fields = value.map(|value| value.fields(self.kind).ok_or_else(wrong)).transpose()?;
        let mut all = Vec::with_capacity(self.fields.len());
        for (at, &(field, kind)) in self.fields.iter().enumerate() {
            let value = fields.and_then(|fields| fields.get(field));
            let lowered = match (kind, value) {
                // An algorithm is not given if all that it consists of is the type `none`.
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
