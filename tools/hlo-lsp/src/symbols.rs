//! The structure of a document: computations with their instructions, as symbols and as ranges to fold.

use crate::document::Document;
use crate::index::Part;
use lsp_types::{
    DocumentSymbol, DocumentSymbolResponse, FoldingRange, FoldingRangeKind, Location, SymbolInformation,
    SymbolKind,
};

/// The symbols of a document. An instruction with an inline computation contains that one.
pub fn symbols(d: &Document, nested: bool) -> DocumentSymbolResponse {
    let roots: Vec<DocumentSymbol> =
        d.parts().iter().flat_map(|p| PartSymbols { d, part: p }.all()).collect();
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

struct PartSymbols<'a> {
    d: &'a Document,
    part: &'a Part,
}

impl PartSymbols<'_> {
    /// The symbols of a module. Inside before outside: entries are moved into what contains them, last one
    /// first, so that no recursion is needed.
    fn all(&self) -> Vec<DocumentSymbol> {
        let outline = &self.part.outline;
        let mut in_computation: Vec<Vec<DocumentSymbol>> = vec![Vec::new(); outline.computations.len()];
        let mut in_instruction: Vec<Option<Vec<DocumentSymbol>>> = vec![None; outline.instructions.len()];
        let mut roots = Vec::new();
        // What is inside starts later than what it is in.
        let mut instructions = outline.instructions.iter().enumerate().rev().peekable();
        for (c, computation) in outline.computations.iter().enumerate().rev() {
            while let Some((n, i)) = instructions.next_if(|(_, i)| i.span.start >= computation.span.start) {
                let mut children = in_instruction.get_mut(n).and_then(Option::take);
                if let Some(children) = &mut children {
                    children.reverse();
                }
                let symbol = self.instruction(i, children);
                if let Some(list) = in_computation.get_mut(i.computation as usize) {
                    list.push(symbol);
                }
            }
            let mut children = in_computation.get_mut(c).map(std::mem::take).unwrap_or_default();
            children.reverse();
            let symbol = self.computation(computation, children);
            match computation.parent.and_then(|p| in_instruction.get_mut(p as usize)) {
                Some(list) => list.get_or_insert_default().push(symbol),
                None => roots.push(symbol),
            }
        }
        roots.reverse();
        roots
    }

    fn instruction(
        &self,
        i: &hlo_parser::outline::InstructionOutline,
        children: Option<Vec<DocumentSymbol>>,
    ) -> DocumentSymbol {
        let text = self.d.text_of(self.part);
        let detail = format!("{} {}", shortened(&text[i.shape.range()], 60), &text[i.opcode.range()]);
        let kind = match &text[i.opcode.range()] {
            "parameter" => SymbolKind::PROPERTY,
            "constant" => SymbolKind::CONSTANT,
            _ => SymbolKind::VARIABLE,
        };
        let name = if i.name.is_empty() { i.opcode } else { i.name };
        self.symbol(&text[name.range()], detail.trim(), kind, i.span, name, children)
    }

    fn computation(
        &self,
        c: &hlo_parser::outline::ComputationOutline,
        children: Vec<DocumentSymbol>,
    ) -> DocumentSymbol {
        let text = self.d.text_of(self.part);
        let signature = shortened(&text[c.signature.range()], 100);
        let detail = if c.is_entry { format!("ENTRY {signature}") } else { signature };
        let name = if c.name.is_empty() { "computation" } else { &text[c.name.range()] };
        self.symbol(name, detail.trim(), SymbolKind::FUNCTION, c.span, c.name, Some(children))
    }

    #[allow(deprecated, reason = "a field that the protocol no longer uses has no other way to be left out")]
    fn symbol(
        &self,
        name: &str,
        detail: &str,
        kind: SymbolKind,
        span: hlo_ir::Span,
        selection: hlo_ir::Span,
        children: Option<Vec<DocumentSymbol>>,
    ) -> DocumentSymbol {
        let range = self.d.text.span_range(self.part.start, span);
        let selection_range = if selection.is_empty() {
            lsp_types::Range::new(range.start, range.start)
        } else {
            self.d.text.span_range(self.part.start, selection)
        };
        DocumentSymbol {
            // The protocol wants one that is not empty.
            name: if name.is_empty() { "instruction" } else { name }.to_owned(),
            detail: (!detail.is_empty()).then(|| detail.to_owned()),
            kind,
            tags: None,
            deprecated: None,
            range,
            selection_range,
            children,
        }
    }
}

/// The start of a text, in one line.
pub fn shortened(text: &str, max: usize) -> String {
    let mut out: String =
        text.chars().take(max).map(|c| if c.is_ascii_whitespace() { ' ' } else { c }).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

/// The computations that go over several lines.
pub fn folding_ranges(d: &Document) -> Vec<FoldingRange> {
    let mut out = Vec::new();
    for part in d.parts() {
        for c in &part.outline.computations {
            let range = d.text.span_range(part.start, c.span);
            // The line of the closing brace stays in sight.
            if range.end.line > range.start.line + 1 {
                out.push(FoldingRange {
                    start_line: range.start.line,
                    end_line: range.end.line - 1,
                    kind: Some(FoldingRangeKind::Region),
                    ..FoldingRange::default()
                });
            }
        }
    }
    out
}
