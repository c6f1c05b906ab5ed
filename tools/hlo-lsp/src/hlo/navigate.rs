//! Definitions and uses of instructions and computations.

use super::Source;
use super::index::{Part, PlaceInProgram, Symbol, is_definition};
use crate::reading::{Definition, Occurrence};
use hlo_parser::outline::{Role, Token};
use lsp_types::{Location, Position, Range, Uri};

/// Returns the item named at an offset, its module, and the token.
pub fn symbol_at(d: &Source, offset: usize) -> Option<(&Part, Symbol, Token)> {
    let part = d.part_at(offset)?;
    let (symbol, token) = part.symbol_at(d.text_of(part), offset.checked_sub(part.start)?)?;
    Some((part, symbol, token))
}

/// Returns all occurrences of the item named at an offset.
pub fn occurrences(d: &Source, offset: usize) -> Vec<Occurrence> {
    let Some((part, symbol, _)) = symbol_at(d, offset) else { return Vec::new() };
    let occurrence = |t: Token| Occurrence {
        range: t.span.moved(part.start).range(),
        is_definition: is_definition(t.role),
    };
    part.occurrences(d.text_of(part), symbol).into_iter().map(occurrence).collect()
}

/// Returns the definition of the item named at an offset. For `metadata`, returns the locations in the user's
/// program.
pub fn definition(d: &Source, offset: usize) -> Option<Definition> {
    let Some((part, symbol, _)) = symbol_at(d, offset) else { return source(d, offset) };
    Some(Definition::Here(part.name(symbol).moved(part.start).range()))
}

/// Returns the source locations of the instruction whose `metadata` is at an offset, innermost first.
fn source(d: &Source, offset: usize) -> Option<Definition> {
    let part = d.part_at(offset)?;
    let text = d.text_of(part);
    let token = part.token_at(text, offset.checked_sub(part.start)?)?;
    if token.role != Role::Attribute || text.get(token.span.range()) != Some("metadata") {
        return None;
    }
    let place = |frame: &PlaceInProgram| {
        let at = |line: i32, column: i32| Position::new(line.max(1) as u32 - 1, column.max(1) as u32 - 1);
        let (first, last) = (at(frame.lines.0, frame.columns.0), at(frame.lines.1, frame.columns.1));
        Some(Location::new(file_uri(&frame.file)?, Range::new(first, last.max(first))))
    };
    let places: Vec<Location> = part.source(text, token.owner).iter().filter_map(place).collect();
    (!places.is_empty()).then_some(Definition::Elsewhere(places))
}

/// Returns the URI of a file with an absolute path.
fn file_uri(path: &str) -> Option<Uri> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'~');
    let escaped =
        path.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") });
    path.starts_with('/').then(|| format!("file://{}", escaped.collect::<String>()))?.parse().ok()
}
