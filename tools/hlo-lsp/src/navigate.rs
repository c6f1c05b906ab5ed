//! Definitions, references and highlights of instructions and computations.

use crate::document::Document;
use crate::index::{Part, Symbol, is_definition};
use hlo_parser::outline::Token;
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, GotoDefinitionResponse, Location, Position, Range,
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

/// The definition of what a position names.
pub fn definition(d: &Document, position: Position) -> Option<GotoDefinitionResponse> {
    let (part, symbol, _) = symbol_at(d, position)?;
    let range = d.text.span_range(part.start, part.name(symbol));
    Some(GotoDefinitionResponse::Scalar(Location::new(d.uri.clone(), range)))
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
