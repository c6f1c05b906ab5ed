//! Symbols, and texts on one line.

use lsp_types::{DocumentSymbol, Range, SymbolKind};

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
