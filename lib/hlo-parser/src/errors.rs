//! The number and the order of the diagnostics of a text.

use hlo_ir::diag::Diag;

/// Maximum number of errors. The parser stops after this many.
pub const MAX_ERRORS: usize = 20;

/// Sorts diagnostics by their position in the text, and truncates the list to [`MAX_ERRORS`].
pub fn in_order(mut diags: Vec<Diag>, what: &str) -> Vec<Diag> {
    diags.sort_by_key(|d| d.labels.iter().find(|l| l.primary).map(|l| l.span.start));
    if diags.len() > MAX_ERRORS {
        diags.truncate(MAX_ERRORS);
        if let Some(last) = diags.last_mut() {
            last.notes.push(format!("there are more {what} than these {MAX_ERRORS}"));
        }
    }
    diags
}
