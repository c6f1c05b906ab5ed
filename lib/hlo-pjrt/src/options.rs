//! XLA's options by name, which callers pass with a program (`compiler_options` in JAX). They configure XLA's
//! own compilers and have no effect here. Unknown names and values of a wrong type are reported in XLA's
//! words.

use crate::fault::{Fault, Result};
use hlo_proto::OptionValue;

/// The options, one per line.
const TABLE: &str = include_str!("xla_options.txt");

/// Checks that an option exists and accepts a value.
///
/// # Errors
/// The option does not exist, or it takes values of another type. The messages are those of XLA.
pub fn check(name: &str, value: &OptionValue) -> Result {
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let Some(found) = found else {
        return Err(Fault::invalid(format!("No such compile option: '{name}'")));
    };
    let mut words = found.split(' ');
    let ty = words.next().unwrap_or_default();
    let single = ty.trim_end_matches('*');
    let enumerators: Vec<&str> = words.collect();
    let takes = |text: &str| match single {
        "bool" => matches!(text, "True" | "False"),
        "int32" => text.parse::<i32>().is_ok(),
        "int64" => text.parse::<i64>().is_ok(),
        "float" => text.parse::<f32>().is_ok(),
        "string" => true,
        // The values of an enumeration that another file defines are unknown here.
        "enum" if enumerators.is_empty() => true,
        "enum" => enumerators.iter().any(|e| {
            let (word, number) = e.split_once('=').unwrap_or((e, ""));
            text == word || text == number
        }),
        _ => false,
    };
    let wrong = match value {
        OptionValue::Text(text) => {
            let text = text.to_text();
            let parts = if ty.ends_with('*') { text.split(',').collect() } else { vec![&*text] };
            parts.into_iter().find(|one| !takes(one)).map(str::to_owned)
        }
        OptionValue::Bool(flag) => (single != "bool").then(|| u8::from(*flag).to_string()),
        OptionValue::Integer(number) => {
            let text = number.to_string();
            let fits = single == "bool" || matches!(single, "int32" | "int64" | "enum") && takes(&text);
            (!fits).then_some(text)
        }
        OptionValue::Number(number) => {
            let text = number.to_string();
            let fits = single == "float" || matches!(single, "int32" | "int64") && takes(&text);
            (!fits).then_some(text)
        }
    };
    match wrong {
        None => Ok(()),
        Some(text) => Err(Fault::invalid(format!(
            "While setting option {name}, '{text}' is not a valid {single} value."
        ))),
    }
}
