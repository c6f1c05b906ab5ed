//! Descriptions of functions, in Markdown.

use super::Source;
use super::outline::Function;
use crate::symbol::shortened;

/// Maximum length of a statement.
const MAX_STATEMENT_LENGTH: usize = 240;

/// Returns the signature of a function on one line.
pub fn signature(d: &Source, function: &Function) -> String {
    shortened(d.at(function.signature), MAX_STATEMENT_LENGTH)
}

/// Returns the doc string of a function, or the comment before it.
pub fn documentation(d: &Source, function: &Function) -> String {
    if let Some(span) = function.docstring {
        let lines = d.at(span).trim_matches(['"', '\'']).lines().map(str::trim);
        return lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    }
    let before = d.text.as_str().get(..function.span.start as usize).unwrap_or_default();
    let comments = before.lines().rev().map_while(|line| line.trim().strip_prefix('#'));
    let mut lines: Vec<&str> = comments.map(str::trim).filter(|line| !line.starts_with("tile:")).collect();
    lines.reverse();
    lines.join("\n")
}

/// Returns a Tile code block.
pub fn code(text: &str) -> String {
    format!("```tile\n{}\n```", shortened(text, MAX_STATEMENT_LENGTH))
}
