//! The structure of a file: functions and their parameters, as symbols and as folding ranges.

use super::Source;
use super::outline::Function;
use crate::symbol::{shortened, symbol};
use lsp_types::{DocumentSymbol, Range, SymbolKind};

/// Returns the functions as symbols.
pub fn symbols(d: &Source) -> Vec<DocumentSymbol> {
    d.outline().functions.iter().map(|f| function(d, f)).collect()
}

fn function(d: &Source, f: &Function) -> DocumentSymbol {
    let parameter = |p: &super::outline::Parameter| {
        let detail = shortened(d.at(p.span).strip_prefix(d.at(p.name)).unwrap_or_default(), 60);
        let selection = d.text.span_range(0, p.name);
        let range = d.text.span_range(0, p.span);
        symbol((d.at(p.name), selection), detail.trim(), SymbolKind::VARIABLE, range, None)
    };
    let range = d.text.span_range(0, f.span);
    // The protocol requires a name that is not empty.
    let named = match d.at(f.name) {
        "" => ("def", Range::new(range.start, range.start)),
        name => (name, d.text.span_range(0, f.name)),
    };
    let signature = d.at(f.signature).strip_prefix(d.at(f.name)).unwrap_or_default();
    let children = f.parameters.iter().map(parameter).collect();
    symbol(named, shortened(signature, 100).trim(), SymbolKind::FUNCTION, range, Some(children))
}

/// Returns the line ranges of the functions.
pub fn folds(d: &Source) -> Vec<(u32, u32)> {
    let lines = d.outline().functions.iter().map(|f| d.text.span_range(0, f.span));
    lines.filter(|r| r.end.line > r.start.line).map(|r| (r.start.line, r.end.line)).collect()
}
