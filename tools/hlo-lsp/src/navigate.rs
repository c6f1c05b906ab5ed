//! Definitions, references and highlights of instructions and computations.

use crate::document::Document;
use crate::index::{Part, PlaceInProgram, Symbol, is_definition};
use hlo_parser::outline::{Role, Token};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, GotoDefinitionResponse, Location, Position, Range, Uri,
};

/// What a position names, and where.
pub fn symbol_at(d: &Document, position: Position) -> Option<(&Part, Symbol, Token)> {
    let offset = d.text.offset(position);
    let part = d.part_at(offset)?;
    let (symbol, token) = part.symbol_at(d.text_of(part), offset.checked_sub(part.start)?)?;
    Some((part, symbol, token))
}

/// The places of all tokens that name what a position names.
pub fn occurrences(d: &Document, position: Position) -> Vec<(Token, Range)> {
    let Some((part, symbol, _)) = symbol_at(d, position) else { return Vec::new() };
    let tokens = part.occurrences(d.text_of(part), symbol);
    tokens.into_iter().map(|t| (t, d.text.span_range(part.start, t.span))).collect()
}

/// The definition of what a position names; of `metadata` the places in the user's program that it leads to.
pub fn definition(d: &Document, position: Position) -> Option<GotoDefinitionResponse> {
    let Some((part, symbol, _)) = symbol_at(d, position) else { return source(d, position) };
    let range = d.text.span_range(part.start, part.name(symbol));
    Some(GotoDefinitionResponse::Scalar(Location::new(d.uri.clone(), range)))
}

/// Where the instruction comes from whose `metadata` is at a position: the innermost place first.
fn source(d: &Document, position: Position) -> Option<GotoDefinitionResponse> {
    let offset = d.text.offset(position);
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
    (!places.is_empty()).then_some(GotoDefinitionResponse::Array(places))
}

/// The address of a file with an absolute path.
fn file_uri(path: &str) -> Option<Uri> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'~');
    let escaped =
        path.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") });
    path.starts_with('/').then(|| format!("file://{}", escaped.collect::<String>()))?.parse().ok()
}

/// All uses of what a position names, and its definition if asked for.
pub fn references(d: &Document, position: Position, with_definition: bool) -> Option<Vec<Location>> {
    let found = occurrences(d, position).into_iter();
    let wanted = found.filter(|(t, _)| with_definition || !is_definition(t.role));
    Some(wanted.map(|(_, range)| Location::new(d.uri.clone(), range)).collect())
}

/// All places that name what a position names.
pub fn highlights(d: &Document, position: Position) -> Option<Vec<DocumentHighlight>> {
    let highlight = |(t, range): (Token, Range)| DocumentHighlight {
        range,
        kind: Some(if is_definition(t.role) {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    };
    Some(occurrences(d, position).into_iter().map(highlight).collect())
}
