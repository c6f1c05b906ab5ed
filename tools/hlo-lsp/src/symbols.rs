//! The structure of a document, as symbols and as folding ranges.

use crate::document::Document;
use lsp_types::{
    DocumentSymbol, DocumentSymbolResponse, FoldingRange, FoldingRangeKind, Location, Range,
    SymbolInformation, SymbolKind,
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

/// Returns a symbol with a name, which may be all of `range`, and its children.
#[allow(deprecated, reason = "a field that the protocol no longer uses has no other way to be left out")]
pub fn symbol(
    (name, selection_range): (&str, Range),
    detail: &str,
    kind: SymbolKind,
    range: Range,
    children: Option<Vec<DocumentSymbol>>,
) -> DocumentSymbol {
    DocumentSymbol {
        name: name.to_owned(),
        detail: (!detail.is_empty()).then(|| detail.to_owned()),
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children,
    }
}

/// Returns the start of a text on one line.
pub fn shortened(text: &str, max: usize) -> String {
    let mut out: String =
        text.chars().take(max).map(|c| if c.is_ascii_whitespace() { ' ' } else { c }).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
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
