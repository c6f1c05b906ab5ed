//! An open document.

use crate::check::{Checked, Found};
use crate::facts::Facts;
use crate::language::{Language, Reading};
use crate::text::Text;
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use std::cell::OnceCell;
use std::sync::Arc;

/// A document and what is known of its text.
pub struct Document {
    /// Its address.
    pub uri: Uri,
    /// Its language.
    pub language: Language,
    /// The version that the editor gave it.
    pub version: i32,
    /// A number that no other state of a document has.
    pub state: u64,
    /// The text, shared with the thread that checks it.
    pub text: Arc<Text>,
    reading: OnceCell<Box<dyn Reading>>,
    /// What is known of the text, once it has been checked.
    checked: Checked,
}

impl Document {
    /// A document as it was opened.
    pub fn new(uri: Uri, language: Language, version: i32, state: u64, text: String) -> Self {
        let text = Arc::new(Text::new(text));
        Self { uri, language, version, state, text, reading: OnceCell::new(), checked: Checked::default() }
    }

    /// Makes changes, in order.
    pub fn change(&mut self, version: i32, state: u64, changes: Vec<TextDocumentContentChangeEvent>) {
        // What was read of the text has it, too; it can be changed without a copy if nobody else has it.
        self.reading = OnceCell::new();
        self.checked = Checked::default();
        // The editor sends whole texts or ranges: what comes before a whole text does not matter.
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

    /// Takes what was found out about the text as it is.
    pub fn learn(&mut self, checked: Checked) {
        self.checked = checked;
    }

    /// What is wrong with the text, as far as that is known.
    pub fn found(&self) -> &[Found] {
        &self.checked.found
    }

    /// What else is known of it.
    pub fn facts(&self) -> &Facts {
        &self.checked.facts
    }

    /// The text, read in its language.
    pub fn reading(&self) -> &dyn Reading {
        self.reading.get_or_init(|| self.language.read(self.text.clone())).as_ref()
    }

    /// The byte at a position.
    pub fn offset(&self, position: Position) -> usize {
        self.text.offset(position)
    }

    /// The range of some bytes.
    pub fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        self.text.range(bytes.start, bytes.end)
    }
}
