//! Formatting: the document as `hlo-opt --format` writes it.

use super::Source;
use crate::answer::{Answer, request_error};
use hlo_tools_common::format::{FormatOptions, Formatted, Unformatted, format_text, read_module};
use hlo_tools_common::split;

/// Returns the formatted text, or `None` if a module has errors. Reports an error if a comment would be lost.
pub fn formatted(d: &Source) -> Answer<Option<String>> {
    let text = d.text.as_str();
    // The file contains no module yet.
    if d.parts().iter().all(|p| p.outline.tokens.is_empty()) {
        return Ok(Some(text.to_owned()));
    }
    let options = FormatOptions { split: true, ..FormatOptions::default() };
    match format_text(text, &options) {
        Ok(Formatted { text: new, .. }) if is_same(text, &new) => Ok(Some(new)),
        Ok(_) => Err(request_error("not formatted: the printed module is not the same, a defect in hlo-lsp")),
        Err(Unformatted::Errors(_)) => Ok(None),
        Err(Unformatted::Comment(comment)) => {
            let line = d.text.position(comment.start as usize).line + 1;
            Err(request_error(format!("not formatted: the comment in line {line} would be lost")))
        }
    }
}

/// Whether both texts contain the same modules.
fn is_same(old: &str, new: &str) -> bool {
    let modules = |text: &str| -> Option<Vec<_>> {
        let ranges = split::ranges(text).into_iter();
        ranges.map(|r| read_module(&text[r], true).ok().map(|p| p.module)).collect()
    };
    match (modules(old), modules(new)) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.same_as(b)),
        _ => false,
    }
}
