//! Splits files with several modules, separated by lines `// -----`.

use crate::rules;
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use std::ops::Range;

/// The separator, on a line by itself.
pub const SEPARATOR: &str = "// -----";

/// Returns the ranges of the parts.
///
/// # Errors
/// Returns a diagnostic for each line that resembles a separator, because it would silently join two modules.
pub fn parts(text: &str) -> Result<Vec<Range<usize>>, Vec<Diag>> {
    let mut errors = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if content != SEPARATOR && is_near_miss(content) {
            let indent = line.len() - line.trim_start().len();
            let span = Span::new(at + indent, at + indent + content.len());
            errors.push(
                Diag::error("a line that is nearly a separator of modules")
                    .with_code(rules::SEPARATOR)
                    .at(span, format!("the separator is `{SEPARATOR}`")),
            );
        }
        at += line.len();
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(ranges(text))
}

/// Returns the ranges of the parts. Ignores lines that resemble a separator.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim() == SEPARATOR {
            ranges.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    // A separator at the end does not begin another module.
    if ranges.is_empty() || !text[start..].trim().is_empty() {
        ranges.push(start..text.len());
    }
    ranges
}

/// Whether a line consists of `//` and at least three dashes.
fn is_near_miss(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("//") else { return false };
    let rest = rest.trim();
    rest.len() >= 3 && rest.bytes().all(|b| b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_stands_between_separators() {
        let parts = |text: &'static str| {
            let ranges = parts(text).unwrap();
            ranges.into_iter().map(|r| &text[r]).collect::<Vec<_>>()
        };
        assert_eq!(parts(""), [""]);
        assert_eq!(parts("aé\n// -----\n\n"), ["aé\n"]);
        assert_eq!(parts("a\n// -----\nb\n"), ["a\n", "b\n"]);
        assert_eq!(parts("a\r\n  // -----\r\n"), ["a\r\n"]);
    }

    #[test]
    fn near_misses_are_errors() {
        for line in ["// ---", "//-----", "// ------", "//  -----"] {
            let text = format!("a\n{line}\nb\n");
            let errors = parts(&text).unwrap_err();
            assert_eq!(&text[errors[0].labels[0].span.range()], line);
        }
        assert_eq!(parts("// -- a comment\n// - x\n").unwrap().len(), 1);
    }
}
