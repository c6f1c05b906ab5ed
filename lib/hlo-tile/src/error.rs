//! Errors, each with the code of its rule (`hlo-opt --explain E3010`).

use hlo_ir::Span;
use hlo_ir::diag::{Code, Diag};

/// Returns an error with a code and a span.
pub(crate) fn error(code: Code, span: Span, message: impl Into<String>, label: impl Into<String>) -> Diag {
    Diag::error(message).with_code(code).at(span, label)
}

/// Returns a note about a line of a file.
pub(crate) fn noted(file: &str, line: usize, message: &str) -> String {
    match message {
        "" => format!("{file}:{line}"),
        message => format!("{file}:{line}: {message}"),
    }
}
