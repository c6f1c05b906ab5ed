//! Conversion of StableHLO operations to VHLO operations of a given version.

use super::defaults::{self, Absent};
use super::{groups, lists};
use crate::bytecode::encoding;
use crate::bytecode::fault::{Fault, Result};
use crate::dialect::{ListOf, OperationInfo, Version, Versioned};
use crate::tree::{Attribute, Attributes, FloatType, Name, Number, Operation, Type, TypeKind};
use std::sync::Arc;

/// A VHLO operation.
pub(in crate::bytecode) struct Lowered {
    /// The description of the operation in the version.
    pub(in crate::bytecode) versioned: &'static Versioned,
    /// The inherent attributes in alphabetical order.
    pub(in crate::bytecode) inherent: Vec<(&'static str, Attribute)>,
    /// The other attributes.
    pub(in crate::bytecode) discardable: Vec<(Name, Attribute)>,
}

/// Converts an operation of StableHLO or `func` to the corresponding VHLO operation of a version.
pub(in crate::bytecode) fn lower(
    operation: &Operation,
    info: &'static OperationInfo,
    version: Version,
) -> Result<Lowered> {
    let Some(versioned) = info.in_version(version) else {
        return Err(match info.vhlo.first() {
            Some(first) => Fault::new(format!(
                "`{}` came with version {}, but {version} is written",
                info.name, first.since
            )),
            None => Fault::new(format!("VHLO has no `{}`{}", info.name, expansion(info.name))),
        });
    };
    let mut given = operation.attributes.clone();
    // The attributes are first built for the newest version and then reduced to the older one.
    let newest = info.vhlo.last().map_or(&[][..], |v| v.attributes);
    let mut inherent = split(&mut given, info)?;
    for &name in newest {
        if !inherent.iter().any(|(n, _)| *n == name) {
            let value = value_of(&mut given, info, name, &operation.attributes)?;
            inherent.push((name, value));
        }
    }
    inherent.sort_by_key(|&(name, _)| name);
    let is_older = versioned.attributes.len() < newest.len();
    if is_older {
        drop_newer(&mut inherent, info, versioned, version)?;
    }
    if versioned.name == "dynamic_conv_v1" {
        inherent.push(("padding", no_padding(&operation.attributes)?));
        inherent.sort_by_key(|&(name, _)| name);
    }
    let discardable = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Lowered { versioned, inherent, discardable })
}

/// Returns a note on how to express an operation that VHLO lacks.
fn expansion(name: &str) -> String {
    let pass = match name {
        "chlo.ragged_dot" => "ragged-dot-rewriter",
        "chlo.scan" => "scan_expander",
        "chlo.top_k" => "topk-decomposer",
        "chlo.acos" | "chlo.acosh" | "chlo.asin" | "chlo.asinh" | "chlo.atanh" | "chlo.cosh" | "chlo.erf"
        | "chlo.mulhi" | "chlo.sinh" => "elementary-function-expander",
        _ => return String::new(),
    };
    format!(": `hlo-opt --passes={pass}` expresses it by operations that VHLO has")
}

/// Removes the structures from `given` and returns their fields as VHLO attributes.
fn split(given: &mut Attributes, info: &OperationInfo) -> Result<Vec<(&'static str, Attribute)>> {
    let mut inherent = Vec::new();
    for group in groups::of(info.name) {
        let value = given.remove(group.name);
        if value.is_none() && !info.attribute(group.name).is_some_and(|a| a.is_optional) {
            return Err(missing(group.name));
        }
        inherent.extend(group.split(value.as_ref())?);
    }
    if groups::is_channel(info) {
        let handle = match given.remove("channel_handle") {
            None => 0,
            Some(value) => value
                .fields("stablehlo.channel_handle")
                .and_then(|fields| fields.get("handle")?.as_int())
                .ok_or_else(|| Fault::new("the attribute `channel_handle` is none"))?,
        };
        inherent.push(("channel_id", Attribute::i64(handle)));
    }
    Ok(inherent)
}

/// Returns the VHLO attribute of a name: the given value or the default.
fn value_of(
    given: &mut Attributes,
    info: &OperationInfo,
    name: &'static str,
    all: &Attributes,
) -> Result<Attribute> {
    let Some(value) = given.remove(name) else {
        let absent = defaults::of(info, name).ok_or_else(|| missing(name))?;
        return absent_value(absent, all).ok_or_else(|| missing(name));
    };
    let list = info.attribute(name).and_then(|a| a.list);
    let wrong = || Fault::new(format!("the attribute `{name}` is of another type"));
    Ok(match (name, value) {
        ("use_global_device_ids" | "has_dynamic_root", value) => {
            Attribute::Bool(value.as_bool().ok_or_else(wrong)?)
        }
        ("api_version", value) => {
            let number = value.as_int().and_then(|n| usize::try_from(n).ok());
            let word = number.and_then(|n| encoding::API_VERSIONS.get(n)).ok_or_else(wrong)?;
            Attribute::Enum(encoding::API_VERSION.into(), (*word).into())
        }
        (_, value) => match list {
            None => value,
            Some(list) => lists::to_tensor(list, &lists::numbers(&value).ok_or_else(wrong)?),
        },
    })
}

fn missing(name: &str) -> Fault {
    Fault::new(format!("the attribute `{name}` is missing"))
}

/// Returns the number of window dimensions of an operation.
fn window_rank(all: &Attributes) -> Option<usize> {
    if let Some(sizes) = all.get("window_dimensions") {
        return Some(lists::numbers(sizes)?.len());
    }
    let numbers = all.get("dimension_numbers")?.fields("stablehlo.conv")?;
    numbers.get("input_spatial_dimensions").map_or(Some(0), |d| Some(lists::numbers(d)?.len()))
}

/// Returns zero padding: two zeros for each dimension.
fn no_padding(all: &Attributes) -> Result<Attribute> {
    absent_value(Absent::EachTwice(0), all).ok_or_else(|| missing("dimension_numbers"))
}

/// Returns the default value of an attribute, for an operation with the attributes `all`.
fn absent_value(absent: Absent, all: &Attributes) -> Option<Attribute> {
    Some(match absent {
        Absent::False => Attribute::Bool(false),
        Absent::Int(number) => Attribute::i64(number),
        Absent::EmptyString | Absent::EmptyConfig => Attribute::string(""),
        Absent::EmptyArray => Attribute::Array([].into()),
        Absent::EmptyDictionary => Attribute::Dictionary(Arc::default()),
        Absent::NoInts => lists::ints(&[]),
        Absent::Each(number) => lists::ints(&vec![number; window_rank(all)?]),
        Absent::EachTwice(number) => {
            let rank = window_rank(all)?;
            let bytes = std::iter::repeat_n(number.to_le_bytes(), 2 * rank).flatten().collect();
            lists::tensor(&[rank as i64, 2], &Type::integer(64), bytes)
        }
        Absent::EachFalse => lists::to_tensor(ListOf::Bool, &vec![0; window_rank(all)?]),
        Absent::Precisions => {
            let default = Attribute::Enum("stablehlo.precision".into(), "DEFAULT".into());
            Attribute::Array([default.clone(), default].into())
        }
        Absent::NoComparison => Attribute::Enum("stablehlo.comparison_type".into(), "NOTYPE".into()),
        Absent::OriginalInterface => {
            Attribute::Enum(encoding::API_VERSION.into(), "API_VERSION_ORIGINAL".into())
        }
        Absent::Accuracy => {
            let zero = || Attribute::Float(Number { bits: 0, ty: FloatType::F64.into() });
            let mode = Attribute::Enum("stablehlo.result_accuracy_mode".into(), "DEFAULT".into());
            let fields = [("atol", zero()), ("rtol", zero()), ("ulps", Attribute::i64(0)), ("mode", mode)];
            Attribute::of_fields("stablehlo.result_accuracy", fields)
        }
    })
}

/// Removes the attributes that an older version lacks. Fails if one of them does not have its default value.
fn drop_newer(
    inherent: &mut Vec<(&'static str, Attribute)>,
    info: &OperationInfo,
    versioned: &Versioned,
    version: Version,
) -> Result<()> {
    let is_new = |name: &str| !versioned.attributes.contains(&name);
    for (name, value) in inherent.iter().filter(|(name, _)| is_new(name)) {
        let says_nothing = defaults::is_default(info, name, value)
            || lists::is_all(value, |_| false)
            || matches!(value, Attribute::Type(ty) if **ty == TypeKind::None);
        if !says_nothing {
            return Err(Fault::new(format!(
                "the attribute `{name}` of `{}` is newer than version {version}, which is written",
                info.name
            )));
        }
    }
    inherent.retain(|(name, _)| !is_new(name));
    Ok(())
}
