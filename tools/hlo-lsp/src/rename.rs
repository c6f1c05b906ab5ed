//! Renaming instructions and computations.

use crate::document::Document;
use crate::edits::of_document;
use crate::index::Symbol;
use crate::navigate::{occurrences, symbol_at};
use crate::server::{Answer, refuse};
use lsp_types::{Position, PrepareRenameResponse, TextEdit, WorkspaceEdit};

/// Why a name can't be given; `None` if it can.
fn objection(name: &str) -> Option<String> {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !starts || !chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')) {
        let form = "a letter or `_`, then letters, digits, `_`, `.` and `-`";
        return Some(format!("`{name}` is no name: it is {form}"));
    }
    if hlo_parser::is_reserved(name) {
        return Some(format!("`{name}` is a word of the language"));
    }
    if name.starts_with("__") && !name.starts_with("__xla_") {
        return Some(format!("`{name}` starts with `__`, which only names that start with `__xla_` may"));
    }
    None
}

/// What would be renamed.
pub fn prepare(d: &Document, position: Position) -> Option<PrepareRenameResponse> {
    let (part, symbol, token) = symbol_at(d, position)?;
    if part.name(symbol).is_empty() {
        return None;
    }
    let placeholder = d.text_of(part).get(token.span.range())?.to_owned();
    let range = d.text.span_range(part.start, token.span);
    Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
}

/// Gives an instruction or a computation another name, everywhere in its module.
pub fn rename(d: &Document, position: Position, new: &str) -> Answer<WorkspaceEdit> {
    let new = new.trim();
    let new = new.strip_prefix('%').unwrap_or(new);
    let Some((part, symbol, _)) = symbol_at(d, position) else {
        return Err(refuse("there is no instruction and no computation here"));
    };
    if let Some(why) = objection(new) {
        return Err(refuse(why));
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
        return Err(refuse(format!("`{new}` is {what} already, in line {line}")));
    }
    let edits = occurrences(d, position).into_iter().map(|(_, range)| TextEdit::new(range, new.into()));
    Ok(of_document(&d.uri, edits.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "_", "x.1", "add-2", "__xla_x", "F32"] {
            assert_eq!(objection(good), None);
        }
        for bad in ["", "1", "a b", "é", "a=", "f32", "ROOT", "__x", "-a", "%%a", "token"] {
            assert!(objection(bad).is_some(), "{bad}");
        }
    }
}
