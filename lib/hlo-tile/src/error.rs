//! Errors, each with its rule (`hlo-opt --explain E3010`).

use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// An error of that rule, at a place.
pub(crate) fn error(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
    label: impl Into<String>,
) -> Diag {
    Diag::error(message).with_code(code).at(span, label)
}

/// What is said of a line of a file, as a note.
pub(crate) fn noted(file: &str, line: usize, message: &str) -> String {
    match message {
        "" => format!("{file}:{line}"),
        message => format!("{file}:{line}: {message}"),
    }
}
