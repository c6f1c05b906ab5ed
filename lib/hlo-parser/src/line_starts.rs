//! Recognizes from the start of a line what the line contains.

use hlo_ir::blank::TrimBlanks;

/// Returns whether `rest` starts like the entry computation.
pub fn starts_entry(rest: &str) -> bool {
    let name = rest.strip_prefix("ENTRY").filter(|r| r.starts_with([' ', '\t'])).map(str::trim_blanks_start);
    name.is_some_and(|n| !n.starts_with('='))
}

/// Returns whether `rest` starts like an instruction: a name and ` =`, or `= ` by mistake.
pub fn starts_instruction(rest: &str) -> bool {
    after_name(rest).is_some_and(|after| after.starts_with("= ")) || defines_instruction(rest)
}

/// Returns whether `rest` starts with a name and an `=` that define an instruction. An `=` directly after the
/// name is that of an attribute, unless the name follows `ROOT` or the value looks like a shape.
pub fn defines_instruction(rest: &str) -> bool {
    let Some(after) = after_name(rest) else { return false };
    let name = &rest[..rest.len() - after.len()];
    let is_meant = |value: &str| name.contains([' ', '\t']) || starts_shape(value.trim_blanks_start());
    (name.contains('%') && after.starts_with('='))
        || after.strip_prefix("= ").is_some_and(is_meant)
        || (after.starts_with([' ', '\t']) && after.trim_blanks_start().starts_with('='))
}

/// Returns whether a value looks like a shape: `f32[…` or `(…`.
fn starts_shape(value: &str) -> bool {
    let word = value.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(value.len());
    value.starts_with('(') || (word > 0 && value[word..].starts_with('['))
}

/// Returns the text after the name at the start of `rest`. `ROOT` may precede the name.
fn after_name(rest: &str) -> Option<&str> {
    let root = rest.strip_prefix("ROOT").filter(|r| r.starts_with([' ', '\t']));
    let rest = root.unwrap_or(rest).trim_blanks_start();
    let (rest, with_percent) = rest.strip_prefix('%').map_or((rest, false), |rest| (rest, true));
    let name = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')));
    let after = &rest[name.filter(|&e| e > 0)?..];
    Some(after.strip_prefix(':').filter(|_| !with_percent).unwrap_or(after))
}
