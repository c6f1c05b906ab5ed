//! Formatting of documents in languages with a standard form.

use crate::answer::Answer;
use crate::document::Document;
use crate::edits::replace_all;
use lsp_types::TextEdit;

/// Returns the edits that format a document, or `None` if it has errors.
///
/// # Errors
/// Returns an error if formatting would lose something.
pub fn format(d: &Document) -> Answer<Option<Vec<TextEdit>>> {
    Ok(d.reading().formatted()?.map(|new| replace_all(d, &new)))
}
