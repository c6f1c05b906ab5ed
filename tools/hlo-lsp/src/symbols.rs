//! The structure of a document, as symbols and as folding ranges.

use crate::document::Document;
use lsp_types::{
    DocumentSymbol, DocumentSymbolResponse, FoldingRange, FoldingRangeKind, Location, SymbolInformation,
};

/// Returns the symbols of a document: nested, or as a flat list for editors that do not support nesting.
pub fn symbols(d: &Document, nested: bool) -> DocumentSymbolResponse {
    let roots = d.reading().symbols();
    if nested {
        return DocumentSymbolResponse::Nested(roots);
    }
    let mut flat = Vec::new();
    flatten(d, roots, None, &mut flat);
    DocumentSymbolResponse::Flat(flat)
}

#[allow(deprecated, reason = "a field that the protocol no longer uses has no other way to be left out")]
fn flatten(
    d: &Document,
    symbols: Vec<DocumentSymbol>,
    around: Option<&str>,
    out: &mut Vec<SymbolInformation>,
) {
    for s in symbols {
        out.push(SymbolInformation {
            name: s.name.clone(),
            kind: s.kind,
            tags: None,
            deprecated: None,
            location: Location::new(d.uri.clone(), s.range),
            container_name: around.map(str::to_owned),
        });
        flatten(d, s.children.unwrap_or_default(), Some(&s.name), out);
    }
}

/// Returns the folding ranges.
pub fn folding_ranges(d: &Document) -> Vec<FoldingRange> {
    let range = |(start_line, end_line)| FoldingRange {
        start_line,
        end_line,
        kind: Some(FoldingRangeKind::Region),
        ..FoldingRange::default()
    };
    d.reading().folds().into_iter().map(range).collect()
}
