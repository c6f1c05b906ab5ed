//! Language support for Tile.

pub mod builtins;
mod check;
mod complete;
mod description;
mod hover;
mod library;
mod members;
pub mod outline;
mod rename;
pub mod scan;
mod semantic;
pub mod structure;
mod symbols;

pub use check::check;

use crate::answer::Answer;
use crate::facts::Facts;
use crate::reading::{Definition, Occurrence, Reading};
use crate::text::Text;
use crate::word::Word;
use hlo_ir::Span;
use lsp_types::{CompletionList, DocumentSymbol};
use outline::{Outline, is_definition};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// A Tile file.
pub struct Source {
    text: Arc<Text>,
    outline: OnceCell<Outline>,
}

impl Source {
    /// Creates the file for a text.
    pub fn new(text: Arc<Text>) -> Self {
        Self { text, outline: OnceCell::new() }
    }

    fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| structure::outline(self.text.as_str()))
    }

    /// Returns the text at a span.
    fn at(&self, span: Span) -> &str {
        self.text.as_str().get(span.range()).unwrap_or_default()
    }

    /// Returns the number of the line where a span begins.
    fn line(&self, span: Span) -> u32 {
        self.text.position(span.start as usize).line + 1
    }
}

impl Reading for Source {
    fn hover(&self, at: usize, facts: &Facts) -> Option<(String, Range<usize>)> {
        hover::hover(self, at, facts)
    }

    fn definition(&self, at: usize) -> Option<Definition> {
        let word = self.outline().word_at(at)?;
        let found = self.outline().definition(self.text.as_str(), word)?;
        Some(Definition::Here(found.span.range()))
    }

    fn occurrences(&self, at: usize) -> Vec<Occurrence> {
        let (text, outline) = (self.text.as_str(), self.outline());
        let symbol = outline.word_at(at).and_then(|word| outline.symbol(text, word));
        let words = symbol.map_or(Vec::new(), |symbol| outline.occurrences(text, symbol));
        let occurrence =
            |w: outline::Word| Occurrence { range: w.span.range(), is_definition: is_definition(w.role) };
        words.into_iter().map(occurrence).collect()
    }

    fn renamed(&self, at: usize, new: &str) -> Answer<String> {
        rename::renamed(self, at, new)
    }

    fn symbols(&self) -> Vec<DocumentSymbol> {
        symbols::symbols(self)
    }

    fn folds(&self) -> Vec<(u32, u32)> {
        symbols::folds(self)
    }

    fn complete(&self, at: usize, snippets: bool) -> CompletionList {
        complete::complete(self, at, snippets)
    }

    fn words(&self, _: Range<usize>) -> Vec<Word> {
        semantic::words(self)
    }

    fn formatted(&self) -> Answer<Option<String>> {
        Ok(None)
    }
}
