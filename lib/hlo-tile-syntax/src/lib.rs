//! The parser of Tile: converts a file to its syntax tree with `grammar/tile.pest`. `hlo-tile` implements the
//! semantics. The parser is a separate crate because the macro `tile!` parses texts when programs are
//! compiled.

pub mod ast;
mod grammar;
mod lines;
mod parse;
pub mod rules;
mod syntax_error;

pub use parse::{is_name, parse, parse_python};

use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// Returns an error for a text that is not Tile.
fn syntax(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diag {
    Diag::error(message).with_code(rules::TILE_SYNTAX).at(span, label)
}
