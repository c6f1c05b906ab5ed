//! Edits of a document.

use crate::document::Document;
use lsp_types::{TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;

/// The edit that turns a document's text into `new`: of the lines between those that stay at the start and at
/// the end, so that the cursor stays where it is.
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

/// Edits of one document.
#[allow(clippy::mutable_key_type, reason = "the protocol's own type")]
pub fn of_document(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit::new(HashMap::from([(uri.clone(), edits)]))
}
