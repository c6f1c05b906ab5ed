//! Several modules in one file, separated by lines `// -----`.

use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use std::ops::Range;

/// The separator, a line by itself.
pub const SEPARATOR: &str = "// -----";

/// The parts, each with the text before it blanked out (line ends kept), so that positions are positions in the
/// file. A line that is nearly a separator is an error: it would join two modules silently.
pub fn parts(text: &str) -> Result<Vec<String>, Vec<Diag>> {
    let mut errors = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if content != SEPARATOR && is_near_miss(content) {
            let indent = line.len() - line.trim_start().len();
            let span = Span::new(at + indent, at + indent + content.len());
            errors.push(
                Diag::error("a line that is nearly a separator of modules")
                    .with_code(code::SEPARATOR)
                    .at(span, format!("the separator is `{SEPARATOR}`")),
            );
        }
        at += line.len();
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(ranges(text).into_iter().map(|r| blank(&text[..r.start]) + &text[r]).collect())
}

/// The ranges of the parts.
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
    // A separator at the end begins no module.
    if ranges.is_empty() || !text[start..].trim().is_empty() {
        ranges.push(start..text.len());
    }
    ranges
}

/// `//` and dashes, but not five.
fn is_near_miss(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("//") else { return false };
    let rest = rest.trim();
    rest.len() >= 3 && rest.bytes().all(|b| b == b'-')
}

/// Spaces in place of everything but line ends, as many bytes.
fn blank(text: &str) -> String {
    text.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_positions() {
        let text = "aé\n// -----\nb\n";
        let parts = parts(text).unwrap();
        assert_eq!(parts[0], "aé\n");
        assert_eq!(parts[1].find('b'), text.find('b'));
        assert_eq!(parts[1].trim(), "b");
    }

    #[test]
    fn a_separator_at_the_end_begins_nothing() {
        assert_eq!(parts("a\n// -----\n\n").unwrap(), ["a\n"]);
        assert_eq!(parts("").unwrap(), [""]);
    }

    #[test]
    fn ranges_are_what_stands_between_separators() {
        let parts = |text: &'static str| ranges(text).into_iter().map(|r| &text[r]).collect::<Vec<_>>();
        assert_eq!(parts(""), [""]);
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
