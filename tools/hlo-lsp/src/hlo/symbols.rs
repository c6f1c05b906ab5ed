//! The structure of a file: computations and their instructions, as symbols and as folding ranges.

use super::Source;
use super::index::Part;
use crate::symbol::{shortened, symbol};
use lsp_types::{DocumentSymbol, SymbolKind};

/// Returns the symbols of a file. An instruction with an inline computation contains that computation.
pub fn symbols(d: &Source) -> Vec<DocumentSymbol> {
    d.parts().iter().flat_map(|p| PartSymbols { d, part: p }.all()).collect()
}

struct PartSymbols<'a> {
    d: &'a Source,
    part: &'a Part,
}

impl PartSymbols<'_> {
    /// Returns the symbols of a module. Iterates backwards and moves inner items into the items that contain
    /// them, so that no recursion is needed.
    fn all(&self) -> Vec<DocumentSymbol> {
        let outline = &self.part.outline;
        let mut in_computation: Vec<Vec<DocumentSymbol>> = vec![Vec::new(); outline.computations.len()];
        let mut in_instruction: Vec<Option<Vec<DocumentSymbol>>> = vec![None; outline.instructions.len()];
        let mut roots = Vec::new();
        // An inner item starts after the item that contains it.
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
        // The protocol requires a name that is not empty.
        let name = if name.is_empty() { "instruction" } else { name };
        symbol((name, selection_range), detail, kind, range, children)
    }
}

/// Returns the line ranges of computations that extend over several lines.
pub fn folds(d: &Source) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    for part in d.parts() {
        for c in &part.outline.computations {
            let range = d.text.span_range(part.start, c.span);
            // The line of the closing brace stays visible.
            if range.end.line > range.start.line + 1 {
                out.push((range.start.line, range.end.line - 1));
            }
        }
    }
    out
}
