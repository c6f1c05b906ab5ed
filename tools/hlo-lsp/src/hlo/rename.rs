//! Renaming of instructions and computations.

use super::Source;
use super::index::Symbol;
use super::navigate::symbol_at;
use crate::answer::{Answer, request_error};

/// Returns the reason why a name is not valid, or `None` if it is.
pub fn invalid_name_reason(name: &str) -> Option<String> {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !starts || !chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')) {
        let form = "a letter or `_`, then letters, digits, `_`, `.` and `-`";
        return Some(format!("`{name}` is no name: it is {form}"));
    }
    if hlo_ir::names::is_reserved(name) {
        return Some(format!("`{name}` is a word of the language"));
    }
    if name.starts_with("__") && !name.starts_with("__xla_") {
        return Some(format!("`{name}` starts with `__`, which only names that start with `__xla_` may"));
    }
    None
}

/// Returns the text for renaming an instruction or a computation to `new`.
pub fn renamed(d: &Source, offset: usize, new: &str) -> Answer<String> {
    let new = new.strip_prefix('%').unwrap_or(new);
    let Some((part, symbol, _)) = symbol_at(d, offset) else {
        return Err(request_error("there is no instruction and no computation here"));
    };
    if let Some(why) = invalid_name_reason(new) {
        return Err(request_error(why));
    }
    let text = d.text_of(part);
    let taken = match symbol {
        Symbol::Instruction(i) => {
            let computation = part.outline.instructions.get(i as usize).map_or(0, |i| i.computation);
            part.instruction(text, computation, new).map(Symbol::Instruction)
        }
        Symbol::Computation(_) => part.computation(text, new).map(Symbol::Computation),
    };
    if let Some(other) = taken
        && other != symbol
    {
        let line = d.text.position(part.start + part.name(other).start as usize).line + 1;
        let what = match other {
            Symbol::Instruction(_) => "an instruction of this computation",
            Symbol::Computation(_) => "a computation",
        };
        return Err(request_error(format!("`{new}` is {what} already, in line {line}")));
    }
    Ok(new.to_owned())
}
