//! Default values of attributes. The pretty forms omit attributes with these values.

use crate::tree::{Attribute, Attributes, Type};
use std::sync::Arc;

/// Returns the default value of an attribute, or `None` if the attribute has none.
fn of(operation: &str, name: &str) -> Option<Attribute> {
    let i32 = |value| Attribute::Integer(value, Type::integer(32));
    let none = || Attribute::Array(Vec::new().into());
    Some(match (operation.split_once('.')?.1, name) {
        (_, "result_accuracy") => default_accuracy(),
        ("infeed", "infeed_config") | ("outfeed", "outfeed_config") => Attribute::string(""),
        ("send" | "recv", "is_host_transfer")
        | ("cholesky", "lower")
        | ("custom_call", "has_side_effect")
        | ("gather" | "scatter" | "dynamic_gather", "indices_are_sorted")
        | ("scatter", "unique_indices")
        | ("sort", "is_stable")
        | ("scan", "is_reverse") => Attribute::Bool(false),
        ("top_k", "is_stable") => Attribute::Bool(true),
        ("composite", "composite_attributes") => Attribute::Dictionary(Arc::default()),
        ("composite", "version") => i32(0),
        ("custom_call", "api_version") => i32(1),
        ("custom_call", "called_computations" | "output_operand_aliases") => none(),
        ("sort", "dimension") => Attribute::i64(-1),
        ("all_reduce" | "reduce_scatter", "reduction_op") if operation.starts_with("sdy.") => i32(0),
        _ => return None,
    })
}

/// Returns the default accuracy.
fn default_accuracy() -> Attribute {
    let mode = Attribute::Enum("stablehlo.result_accuracy_mode".into(), "DEFAULT".into());
    Attribute::of_fields("stablehlo.result_accuracy", [("mode", mode)])
}

/// Checks whether an attribute has its default value.
pub fn is_default(operation: &str, name: &str, value: &Attribute) -> bool {
    match (name, value) {
        ("result_accuracy", Attribute::Struct(_, fields)) => is_usual(fields),
        _ => of(operation, name).as_ref() == Some(value),
    }
}

fn is_usual(fields: &Attributes) -> bool {
    let is_zero = |value: &Attribute| match value {
        Attribute::Integer(value, _) => *value == 0,
        Attribute::Float(number) => number.bits << 1 == 0,
        Attribute::Enum(_, word) => *word == "DEFAULT",
        _ => false,
    };
    fields.iter().all(|(_, value)| is_zero(value))
}
