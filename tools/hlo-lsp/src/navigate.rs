//! Hover, definitions and uses, in the protocol's types.

use crate::document::Document;
use crate::reading::{Definition, Occurrence};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, GotoDefinitionResponse, Hover, HoverContents, Location,
    MarkupContent, MarkupKind, Position,
};

/// Returns a description of the word at a position.
pub fn hover(d: &Document, position: Position) -> Option<Hover> {
    let (value, bytes) = d.reading().hover(d.offset(position), d.facts())?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(d.range(bytes)) })
}

/// Returns the definition of the name at a position.
pub fn definition(d: &Document, position: Position) -> Option<GotoDefinitionResponse> {
    Some(match d.reading().definition(d.offset(position))? {
        Definition::Here(bytes) => {
            GotoDefinitionResponse::Scalar(Location::new(d.uri.clone(), d.range(bytes)))
        }
        Definition::Elsewhere(places) => GotoDefinitionResponse::Array(places),
    })
}

/// Returns all uses of the item named at a position, and its definition if requested.
pub fn references(d: &Document, position: Position, with_definition: bool) -> Option<Vec<Location>> {
    let found = d.reading().occurrences(d.offset(position)).into_iter();
    let wanted = found.filter(|o| with_definition || !o.is_definition);
    Some(wanted.map(|o| Location::new(d.uri.clone(), d.range(o.range))).collect())
}

/// Returns all occurrences of the item named at a position.
pub fn highlights(d: &Document, position: Position) -> Option<Vec<DocumentHighlight>> {
    let found = d.reading().occurrences(d.offset(position)).into_iter();
    let kind = |is_definition| {
        if is_definition { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }
    };
    let highlight =
        |o: Occurrence| DocumentHighlight { range: d.range(o.range), kind: Some(kind(o.is_definition)) };
    Some(found.map(highlight).collect())
}
