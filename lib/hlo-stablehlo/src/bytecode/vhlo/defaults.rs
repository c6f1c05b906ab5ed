//! Default values of StableHLO's optional attributes. In VHLO all attributes are present.

use super::lists::is_all;
use crate::bytecode::encoding;
use crate::dialect::OperationInfo;
use crate::tree::Attribute;

/// The value of an absent attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// `false`.
    False,
    /// A number.
    Int(i64),
    /// `""`.
    EmptyString,
    /// `[]`.
    EmptyArray,
    /// `{}`.
    EmptyDictionary,
    /// An empty string or dictionary.
    EmptyConfig,
    /// An empty list of numbers.
    NoInts,
    /// This number for each dimension.
    Each(i64),
    /// This number twice for each dimension.
    EachTwice(i64),
    /// `false` for each dimension.
    EachFalse,
    /// `[DEFAULT, DEFAULT]`.
    Precisions,
    /// `NOTYPE`.
    NoComparison,
    /// `API_VERSION_ORIGINAL`.
    OriginalInterface,
    /// The mode `DEFAULT`, with tolerances of 0.
    Accuracy,
}

/// Returns the default of a VHLO attribute, or `None` if the attribute is required.
pub(super) fn of(info: &OperationInfo, name: &str) -> Option<Absent> {
    use Absent as A;
    Some(match name {
        "channel_id" if info.attribute("channel_handle").is_some_and(|a| a.is_optional) => A::Int(0),
        "infeed_config" | "outfeed_config" => A::EmptyString,
        // The default dimension of a sort is the last one. Other dimensions are required.
        _ if info.attribute(name).is_none_or(|a| !a.is_optional) => return None,
        "sym_visibility" => A::EmptyString,
        "arg_attrs"
        | "res_attrs"
        | "called_computations"
        | "operand_layouts"
        | "result_layouts"
        | "output_operand_aliases"
        | "result_tilings"
        | "layout" => A::EmptyArray,
        "composite_attributes" => A::EmptyDictionary,
        "backend_config" => A::EmptyConfig,
        "use_global_device_ids"
        | "has_dynamic_root"
        | "lower"
        | "has_side_effect"
        | "indices_are_sorted"
        | "unique_indices"
        | "is_host_transfer"
        | "is_stable" => A::False,
        "compare_type" => A::NoComparison,
        "version" => A::Int(0),
        "dimension" => A::Int(-1),
        "window_strides" | "lhs_dilation" | "rhs_dilation" | "base_dilations" | "window_dilations" => {
            A::Each(1)
        }
        "padding" => A::EachTwice(0),
        "window_reversal" => A::EachFalse,
        "precision_config" => A::Precisions,
        "api_version" => A::OriginalInterface,
        "known_expanding_dimensions" | "known_nonexpanding_dimensions" | "source_target_pairs" => A::NoInts,
        "result_accuracy" => A::Accuracy,
        _ => return None,
    })
}

/// Checks whether an attribute has its default value, so that it may be omitted.
pub(super) fn is_default(info: &OperationInfo, name: &str, value: &Attribute) -> bool {
    match of(info, name) {
        None => false,
        // Required attributes are written even if they have their default value.
        Some(_) if info.attribute(name).is_some_and(|a| !a.is_optional) => false,
        Some(Absent::False) => value.as_bool() == Some(false),
        Some(Absent::Int(number)) => value.as_int() == Some(number),
        Some(Absent::EmptyString | Absent::EmptyArray | Absent::EmptyDictionary | Absent::EmptyConfig) => {
            is_empty(value)
        }
        Some(Absent::NoInts) => is_all(value, |_| false),
        Some(Absent::Each(number) | Absent::EachTwice(number)) => is_all(value, |n| n == number),
        Some(Absent::EachFalse) => is_all(value, |n| n == 0),
        Some(Absent::Precisions) => value
            .as_array()
            .is_some_and(|all| all.iter().all(|p| p.word("stablehlo.precision") == Some("DEFAULT"))),
        Some(Absent::NoComparison) => value.word("stablehlo.comparison_type") == Some("NOTYPE"),
        Some(Absent::OriginalInterface) => value.word(encoding::API_VERSION) == Some("API_VERSION_ORIGINAL"),
        Some(Absent::Accuracy) => is_default_accuracy(value),
    }
}

/// Checks whether the value is an empty string, array or dictionary.
pub(super) fn is_empty(value: &Attribute) -> bool {
    match value {
        Attribute::String(text) => text.is_empty(),
        Attribute::Array(all) => all.is_empty(),
        Attribute::Dictionary(all) => all.is_empty(),
        _ => false,
    }
}

fn is_default_accuracy(value: &Attribute) -> bool {
    let Some(fields) = value.fields("stablehlo.result_accuracy") else { return false };
    let is_zero = |name: &str| match fields.get(name) {
        Some(Attribute::Float(number)) => f64::from_bits(number.bits) == 0.0,
        Some(number) => number.as_int() == Some(0),
        None => true,
    };
    ["atol", "rtol", "ulps"].into_iter().all(is_zero)
        && fields.get("mode").and_then(|mode| mode.word("stablehlo.result_accuracy_mode")) == Some("DEFAULT")
}
