//! Edits of a document.

use crate::document::Document;
use lsp_types::{TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;

/// Returns the edits that replace a document's text with `new`. They keep the lines at the start and the end
/// that do not change, so that the cursor keeps its position.
pub fn replace_all(d: &Document, new: &str) -> Vec<TextEdit> {
    let old = d.text.as_str();
    if old == new {
        return Vec::new();
    }
    let same = |(a, b): &(&str, &str)| a == b;
    let lines = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    let start: usize = lines.take_while(same).map(|(a, _)| a.len()).sum();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let lines = old_rest.split_inclusive('\n').rev().zip(new_rest.split_inclusive('\n').rev());
    let end: usize = lines.take_while(same).map(|(a, _)| a.len()).sum();
    let range = d.text.range(start, old.len() - end);
    vec![TextEdit::new(range, new_rest[..new_rest.len() - end].to_owned())]
}

/// Returns edits of one document.
#[allow(clippy::mutable_key_type, reason = "the protocol's own type")]
pub fn of_document(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit::new(HashMap::from([(uri.clone(), edits)]))
}
