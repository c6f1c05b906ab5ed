//! The text of Tile: from a file to its syntax tree, by `grammar/tile.pest`. What it means is said by `hlo-tile`, of which this is a
//! part of its own because the macro `tile!` reads texts while programs are compiled.

pub mod ast;
mod lines;
mod parse;
mod syntax_error;

pub use parse::{is_name, parse, parse_python};

use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// A text that is not Tile.
fn syntax(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diag {
    Diag::error(message).with_code(code::TILE_SYNTAX).at(span, label)
}
