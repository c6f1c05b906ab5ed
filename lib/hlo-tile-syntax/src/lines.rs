//! Logical lines: determines where statements end, so that the grammar can ignore comments and line breaks
//! within brackets.

use crate::syntax;
use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// Maximum nesting depth of brackets. The expression parser recurses for each level.
const MAX_DEPTH: usize = 64;

/// Returns `text` with blanks in place of comments, of line breaks within brackets or after a backslash, and
/// of carriage returns and form feeds. All other bytes keep their offsets.
///
/// # Errors
/// Returns an error if a bracket is unmatched, if a string does not end, or if brackets nest too deeply.
pub(crate) fn logical_lines(text: &str) -> Result<String, Diag> {
    let mut out = text.as_bytes().to_vec();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut at = 0;
    while at < out.len() {
        match out[at] {
            b'#' => {
                let end = line_break(&out, at);
                out[at..end].fill(b' ');
                at = end;
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at = end_of_string(&out, at, quote)?;
                continue;
            }
            bracket @ (b'(' | b'[' | b'{') => {
                open.push((bracket, at));
                if open.len() > MAX_DEPTH {
                    let message = format!("brackets nest more than {MAX_DEPTH} deep");
                    return Err(syntax(Span::new(at, at + 1), message, "one too many"));
                }
            }
            bracket @ (b')' | b']' | b'}') => close(&mut open, bracket, at)?,
            b'\\' if line_break(&out, at) == at + blanks_to_break(&out, at) => {
                let end = (line_break(&out, at) + 1).min(out.len());
                out[at..end].fill(b' ');
                at = end;
                continue;
            }
            b'\n' if !open.is_empty() => out[at] = b' ',
            b'\r' | b'\x0c' => out[at] = b' ',
            _ => {}
        }
        at += 1;
    }
    if let Some((bracket, at)) = open.pop() {
        let message = format!("`{}` is never closed", bracket as char);
        return Err(syntax(Span::new(at, at + 1), message, "opened here"));
    }
    // Only whole characters were overwritten: comments, and single bytes of ASCII.
    String::from_utf8(out).map_err(|_| Diag::error("the text is not UTF-8"))
}

/// Returns the number of bytes from the backslash at `at` to the end of its line, if only blanks are between.
fn blanks_to_break(text: &[u8], at: usize) -> usize {
    1 + text[at + 1..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count()
}

/// Returns the end of the line that contains `at`: the offset of its `\n` or the end of the text.
fn line_break(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|&b| b == b'\n').map_or(text.len(), |n| at + n)
}

/// Removes from the list the bracket that the one at `at` closes.
fn close(open: &mut Vec<(u8, usize)>, bracket: u8, at: usize) -> Result<(), Diag> {
    let (opens, name) = match bracket {
        b')' => (b'(', "`)`"),
        b']' => (b'[', "`]`"),
        _ => (b'{', "`}`"),
    };
    match open.pop() {
        Some((o, _)) if o == opens => Ok(()),
        Some((o, place)) => {
            let message = format!("{name} closes `{}`", o as char);
            Err(syntax(Span::new(at, at + 1), message, "not what closes it")
                .and(Span::new(place, place + 1), "opened here"))
        }
        None => Err(syntax(Span::new(at, at + 1), format!("{name} closes nothing"), "nothing is open here")),
    }
}

/// Returns the offset after the string that begins at `at`.
pub(crate) fn end_of_string(text: &[u8], at: usize, quote: u8) -> Result<usize, Diag> {
    let long = text[at..].starts_with(&[quote; 3]);
    let start = at + if long { 3 } else { 1 };
    let mut i = start;
    while i < text.len() {
        match text[i] {
            b'\\' => i += 1,
            b'\n' if !long => break,
            b if b == quote && !long => return Ok(i + 1),
            b if b == quote && text[i..].starts_with(&[quote; 3]) => return Ok(i + 3),
            _ => {}
        }
        i += 1;
    }
    Err(syntax(Span::new(at, start), "a string that does not end", "begins here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> String {
        let out = logical_lines(text).unwrap();
        assert_eq!(out.len(), text.len());
        out
    }

    #[test]
    fn comments_and_continued_lines_become_blanks() {
        assert_eq!(lines("a # b(\nc"), "a     \nc");
        assert_eq!(lines("f(a, # é\n  b)\nc"), "f(a,        b)\nc");
        assert_eq!(lines("a + \\\r\nb"), "a +    b");
        assert_eq!(lines("a \\ b"), "a \\ b");
        assert_eq!(lines("'#(' + \"\\\"[\" # c"), "'#(' + \"\\\"[\"    ");
        assert_eq!(lines("\"\"\"a\n(\"\"\"\n"), "\"\"\"a\n(\"\"\"\n");
        assert_eq!(lines("a\\"), "a ");
    }

    #[test]
    fn what_is_open_must_be_closed() {
        for (text, message) in [
            ("f(a\nb", "`(` is never closed"),
            ("f(a]", "`]` closes `(`"),
            ("a)", "`)` closes nothing"),
            ("'a\n'", "a string that does not end"),
            ("\"\"\"a\"\"", "a string that does not end"),
        ] {
            assert_eq!(logical_lines(text).unwrap_err().message, message, "{text}");
        }
        assert!(logical_lines(&"(".repeat(100_000)).unwrap_err().message.contains("nest more"));
    }
}
