//! Parts of instructions that diagnostics mark, and their positions in the text.
//!
//! A module stores the span of each instruction but not of its parts. They are searched when a diagnostic is
//! shown.

use crate::Span;
use crate::diag::span::clamp;
use std::ops::Range;

/// Maximum number of bytes of an instruction that are searched. One instruction with an enormous constant may
/// have many diagnostics.
const MAX_SEARCHED_BYTES: u32 = 1 << 16;

/// A part of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Everything before the attributes: the name, shape, opcode and operands.
    #[default]
    Head,
    /// The declared shape.
    Shape,
    /// The attribute with this name, and its value.
    Attribute(&'static str),
}

impl Part {
    /// Returns the position of the part in `text`, for the instruction at `span`; `None` if the part is
    /// absent.
    pub fn find(self, span: Span, text: &str) -> Option<Span> {
        let end = span.end.min(span.start.saturating_add(MAX_SEARCHED_BYTES));
        let range = clamp(Span { start: span.start, end }, text);
        let instruction = &text[range.clone()];
        let found = match self {
            Part::Head => split(instruction).into_iter().next(),
            Part::Shape => shape(instruction),
            Part::Attribute(name) => {
                let mut attributes = split(instruction).into_iter().skip(1);
                attributes.find(|r| {
                    let value = instruction[r.clone()].strip_prefix(name);
                    value.is_some_and(|rest| rest.trim_start().starts_with('='))
                })
            }
        };
        found.filter(|r| !r.is_empty()).map(|r| Span::new(range.start + r.start, range.start + r.end))
    }
}

/// Returns the declared shape of an instruction, which follows the `=`.
fn shape(instruction: &str) -> Option<Range<usize>> {
    let equals =
        instruction.find(['=', '(', '[', '{', '"', '/']).filter(|&at| instruction[at..].starts_with('='))?;
    let rest = instruction[equals + 1..].trim_start();
    let start = instruction.len() - rest.len();
    let mut depth = 0usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            c if depth == 0 && c.is_ascii_whitespace() => {
                let found = rest[..at].ends_with([']', '}', ')']);
                return found.then_some(start..start + at);
            }
            _ => {}
        }
    }
    None
}

/// Splits an instruction at commas outside of brackets, strings and comments. The parts do not include
/// surrounding blanks.
fn split(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let (mut depth, mut start, mut at) = (0usize, 0, 0);
    while let Some(&b) = bytes.get(at) {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|&c| c != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |n| at + n + 3);
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = text[at..].find('\n').map_or(bytes.len(), |n| at + n);
            }
            b',' if depth == 0 => {
                out.push(trimmed(text, start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push(trimmed(text, start.min(text.len())..text.len()));
    out
}

/// Returns the range without blanks at its ends.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}
