//! Renaming of an item everywhere in its document.

use crate::answer::Answer;
use crate::document::Document;
use crate::edits::of_document;
use lsp_types::{Position, PrepareRenameResponse, TextEdit, WorkspaceEdit};

/// Returns the name that would be renamed.
pub fn prepare(d: &Document, position: Position) -> Option<PrepareRenameResponse> {
    let at = d.offset(position);
    let places = d.reading().occurrences(at);
    let mut places = places.iter().map(|o| o.range.clone()).filter(|r| !r.is_empty());
    // The name at the position, or directly after it if its sigil is at the position.
    let here = places.clone().find(|r| r.start <= at && at <= r.end);
    let here = here.or_else(|| places.find(|r| r.start == at + 1))?;
    let placeholder = d.text.as_str().get(here.clone())?.to_owned();
    Some(PrepareRenameResponse::RangeWithPlaceholder { range: d.range(here), placeholder })
}

/// Renames the item named at a position everywhere in its document.
///
/// # Errors
/// Returns an error if there is nothing to rename or if the name is not valid.
pub fn rename(d: &Document, position: Position, new: &str) -> Answer<WorkspaceEdit> {
    let at = d.offset(position);
    let new = d.reading().renamed(at, new.trim())?;
    let places = d.reading().occurrences(at).into_iter();
    let edits = places.map(|o| TextEdit::new(d.range(o.range), new.clone()));
    Ok(of_document(&d.uri, edits.collect()))
}
