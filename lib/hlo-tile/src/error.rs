//! Errors, each with its rule (`hlo-opt --explain E3010`).

use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// An error of that rule, at a place.
pub(crate) fn error(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
    label: impl Into<String>,
) -> Diag {
    Diag::error(message).with_code(code).at(span, label)
}

/// A text that is not Tile.
pub(crate) fn syntax(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diag {
    error(code::TILE_SYNTAX, span, message, label)
}
