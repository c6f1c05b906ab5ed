//! Formatting: the document as `hlo-opt` prints its modules.

use crate::document::Document;
use crate::edits::replace_all;
use crate::index::Part;
use crate::server::{Answer, refuse};
use hlo_ir::Span;
use hlo_ir::print::{PrintOptions, print_module};
use lsp_types::TextEdit;

/// The edits that format a document: none if a module has errors. Comments before and after a module stay; one
/// inside of it would be lost, so that the document is not formatted then.
pub fn format(d: &Document) -> Answer<Option<Vec<TextEdit>>> {
    let text = d.text.as_str();
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for part in d.parts() {
        out.push_str(text.get(end..part.start).unwrap_or_default());
        end = part.end;
        let module = d.text_of(part);
        let (start, rest) = content(module, &part.outline.comments);
        if start >= rest {
            out.push_str(module);
            continue;
        }
        if let Some(comment) = lost_comment(module, part, start, rest) {
            let line = d.text.position(part.start + comment.start as usize).line + 1;
            return Err(refuse(format!("not formatted: the comment in line {line} would be lost")));
        }
        let Some(formatted) = formatted(module)? else { return Ok(None) };
        out.push_str(&module[..start]);
        out.push_str(formatted.trim_end());
        out.push_str(match &module[rest..] {
            "" => "\n",
            rest => rest,
        });
    }
    out.push_str(text.get(end..).unwrap_or_default());
    Ok(Some(replace_all(d, &out)))
}

/// Where the blanks and comments before a module end, and where those after it start.
fn content(text: &str, comments: &[Span]) -> (usize, usize) {
    let blank = |start: usize, end: usize| text.get(start..end).is_some_and(|s| s.trim().is_empty());
    let mut start = 0;
    for c in comments {
        if !blank(start, c.start as usize) {
            break;
        }
        start = c.end as usize;
    }
    let mut end = text.len();
    for c in comments.iter().rev() {
        if !blank(c.end as usize, end) {
            break;
        }
        end = c.start as usize;
    }
    let space = |s: &str| s.len() - s.trim_start().len();
    let start = start + text.get(start..).map_or(0, space);
    (start, text.get(..end).map_or(end, |s| s.trim_end().len()))
}

/// The first comment inside of a module that printing does not write itself.
fn lost_comment(text: &str, part: &Part, start: usize, end: usize) -> Option<Span> {
    let is_index = |c: &Span| {
        let number = text[c.range()].strip_prefix("/*index=").and_then(|c| c.strip_suffix("*/"));
        number.is_some_and(|n| n.parse::<u64>().is_ok())
    };
    let inside = |c: &&Span| c.start as usize >= start && c.end as usize <= end;
    part.outline.comments.iter().filter(inside).find(|c| !is_index(c)).copied()
}

/// A module as it is printed; `None` if it has errors.
fn formatted(text: &str) -> Answer<Option<String>> {
    let Ok(module) = hlo_parser::parse_module(text) else { return Ok(None) };
    if !hlo_ir::verify::verify(&module).is_empty() {
        return Ok(None);
    }
    let printed = print_module(&module, &PrintOptions::default());
    match hlo_parser::parse_module(&printed) {
        Ok(again) if again.same_as(&module) => Ok(Some(printed)),
        _ => Err(refuse("not formatted: the printed module is not the same, a defect in hlo-lsp")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo_parser::outline::outline;

    #[test]
    fn comments_around_a_module() {
        for (text, expected) in [
            ("// a\n\n/* b */ HloModule m\ne { }\n// c\n", "HloModule m\ne { }"),
            (" e {}", "e {}"),
            ("// a", ""),
            ("", ""),
            ("e { // x\n}", "e { // x\n}"),
        ] {
            let (start, end) = content(text, &outline(text).comments);
            assert_eq!(text.get(start..end).unwrap_or(""), expected, "{text}");
        }
    }
}
