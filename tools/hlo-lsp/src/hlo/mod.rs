//! Language support for HLO text.

pub mod attributes;
pub mod complete;
mod format;
mod hover;
mod index;
mod navigate;
pub mod rename;
mod semantic;
mod symbols;

use crate::answer::Answer;
use crate::diagnostics::{PartDiagnostic, modules};
use crate::facts::Facts;
use crate::reading::{Definition, Occurrence, Reading};
use crate::text::Text;
use crate::word::Word;
use hlo_ir::diag::Diag;
use hlo_tools_common::format::parse_and_verify;
use hlo_tools_common::split;
use index::Part;
use lsp_types::{CompletionList, DocumentSymbol};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// A file of HLO text.
pub struct Source {
    text: Arc<Text>,
    parts: OnceCell<Vec<Part>>,
}

impl Source {
    /// Creates the file for a text.
    pub fn new(text: Arc<Text>) -> Self {
        Self { text, parts: OnceCell::new() }
    }

    /// Returns the modules of the file.
    fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| {
            let text = self.text.as_str();
            split::ranges(text).into_iter().map(|r| Part::new(&text[r.clone()], r.start)).collect()
        })
    }

    /// Returns the module that contains an offset.
    fn part_at(&self, offset: usize) -> Option<&Part> {
        let parts = self.parts();
        let after = parts.partition_point(|p| p.start <= offset);
        parts.get(after.checked_sub(1)?)
    }

    /// Returns the text of a module.
    fn text_of(&self, part: &Part) -> &str {
        self.text.as_str().get(part.start..part.end).unwrap_or_default()
    }
}

impl Reading for Source {
    fn hover(&self, at: usize, _: &Facts) -> Option<(String, Range<usize>)> {
        hover::hover(self, at)
    }

    fn definition(&self, at: usize) -> Option<Definition> {
        navigate::definition(self, at)
    }

    fn occurrences(&self, at: usize) -> Vec<Occurrence> {
        navigate::occurrences(self, at)
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

    fn words(&self, wanted: Range<usize>) -> Vec<Word> {
        semantic::words(self, &wanted)
    }

    fn formatted(&self) -> Answer<Option<String>> {
        format::formatted(self)
    }
}

/// Returns all diagnostics of a file.
pub fn check(text: &str) -> Vec<PartDiagnostic> {
    modules(text, check_module)
}

fn check_module(text: &str) -> Vec<Diag> {
    match parse_and_verify(text, false) {
        Ok(parsed) => parsed.warnings,
        Err(diags) => diags,
    }
}
