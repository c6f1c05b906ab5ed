//! An open document.

use crate::diagnostics::{Checked, PartDiagnostic};
use crate::facts::Facts;
use crate::language::Language;
use crate::reading::Reading;
use crate::text::Text;
use lsp_types::{Diagnostic, Position, Range, TextDocumentContentChangeEvent, Uri};
use std::cell::OnceCell;
use std::sync::Arc;

/// A document and information about its text.
pub struct Document {
    /// The URI.
    pub uri: Uri,
    /// The language.
    pub language: Language,
    /// The version number of the editor.
    pub version: i32,
    /// A number that identifies this state of the document.
    pub state: u64,
    /// The text, shared with the thread that checks it.
    pub text: Arc<Text>,
    reading: OnceCell<Box<dyn Reading>>,
    /// The results of checking the text. Empty until they arrive.
    checked: Checked,
}

impl Document {
    /// Creates a document that the editor has opened.
    pub fn new(uri: Uri, language: Language, version: i32, state: u64, text: String) -> Self {
        let text = Arc::new(Text::new(text));
        Self { uri, language, version, state, text, reading: OnceCell::new(), checked: Checked::default() }
    }

    /// Applies changes in order.
    pub fn change(&mut self, version: i32, state: u64, changes: Vec<TextDocumentContentChangeEvent>) {
        // The reading shares the text. The text can be changed without a copy only if it is not shared.
        self.reading = OnceCell::new();
        self.checked = Checked::default();
        // The editor sends whole texts or ranges. Changes before the last whole text do not matter.
        let whole = changes.iter().rposition(|c| c.range.is_none());
        let mut text = std::mem::replace(&mut self.text, Arc::new(Text::new(String::new())));
        let mut changes = changes.into_iter().skip(whole.unwrap_or(0));
        if whole.is_some() {
            text = Arc::new(Text::new(changes.next().map_or(String::new(), |c| c.text)));
        }
        let changes: Vec<_> = changes.filter_map(|c| Some((c.range?, c.text))).collect();
        if !changes.is_empty() {
            let changes: Vec<_> = changes.iter().map(|(range, new)| (*range, new.as_str())).collect();
            text = Arc::new(Arc::unwrap_or_clone(text).edited(&changes));
        }
        (self.text, self.version, self.state) = (text, version, state);
    }

    /// Stores the results of checking the current text.
    pub fn set_checked(&mut self, checked: Checked) {
        self.checked = checked;
    }

    /// Returns the diagnostics of the text known so far.
    pub fn found(&self) -> &[PartDiagnostic] {
        &self.checked.found
    }

    /// Converts a diagnostic of the text to the protocol's type, with related locations if the editor supports
    /// them.
    pub fn diagnostic(&self, found: &PartDiagnostic, with_related: bool) -> Diagnostic {
        found.to_lsp(&self.text, &self.uri, self.language.name(), with_related)
    }

    /// Returns other information about the text.
    pub fn facts(&self) -> &Facts {
        &self.checked.facts
    }

    /// Returns the parsed text.
    pub fn reading(&self) -> &dyn Reading {
        self.reading.get_or_init(|| self.language.read(self.text.clone())).as_ref()
    }

    /// Returns the byte offset of a position.
    pub fn offset(&self, position: Position) -> usize {
        self.text.offset(position)
    }

    /// Returns the range of a byte range.
    pub fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        self.text.range(bytes.start, bytes.end)
    }
}
