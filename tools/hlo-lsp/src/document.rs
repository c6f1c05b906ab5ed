//! An open document.

use crate::diagnose::Found;
use crate::index::Part;
use crate::text::Text;
use hlo_tools_common::split;
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::cell::OnceCell;
use std::sync::Arc;

/// A document and what is known of its text.
pub struct Document {
    /// Its address.
    pub uri: Uri,
    /// The version that the editor gave it.
    pub version: i32,
    /// A number that no other state of a document has.
    pub state: u64,
    /// The text, shared with the thread that diagnoses it.
    pub text: Arc<Text>,
    /// What is wrong with it, once that is known.
    pub found: Vec<Found>,
    parts: OnceCell<Vec<Part>>,
}

impl Document {
    /// A document as it was opened.
    pub fn new(uri: Uri, version: i32, state: u64, text: String) -> Self {
        let text = Arc::new(Text::new(text));
        Self { uri, version, state, text, found: Vec::new(), parts: OnceCell::new() }
    }

    /// Makes changes, in order.
    pub fn change(&mut self, version: i32, state: u64, changes: Vec<TextDocumentContentChangeEvent>) {
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
        self.parts = OnceCell::new();
        self.found.clear();
    }

    /// The modules of the file.
    pub fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| {
            let text = self.text.as_str();
            split::ranges(text).into_iter().map(|r| Part::new(&text[r.clone()], r.start)).collect()
        })
    }

    /// The module that a byte of the file is in.
    pub fn part_at(&self, offset: usize) -> Option<&Part> {
        let parts = self.parts();
        let after = parts.partition_point(|p| p.start <= offset);
        parts.get(after.checked_sub(1)?)
    }

    /// The text of a module.
    pub fn text_of(&self, part: &Part) -> &str {
        self.text.as_str().get(part.start..part.end).unwrap_or_default()
    }
}
