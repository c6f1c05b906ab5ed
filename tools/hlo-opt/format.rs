//! `--format` and `--check-format`: HLO text in the form in which it is printed.

use hlo_tools_common::Failure;

/// Lines of context around a difference.
const CONTEXT: usize = 3;
/// How many lines of a difference are shown.
const MAX_LINES: usize = 40;

/// An error if the text has comments, which the printed form has none of.
pub fn refuse_comments(name: &str, text: &str) -> Result<(), Failure> {
    match first_comment(text) {
        None => Ok(()),
        Some(at) => {
            let line = text[..at].matches('\n').count() + 1;
            Err(Failure::file(
                &format!("{name}:{line}"),
                "formatting would drop this comment; `--drop-comments` formats all the same",
            ))
        }
    }
}

/// Where the first comment starts that is not what XLA prints itself, such as `/*index=5*/`.
fn first_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                at += 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => return Some(at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let rest = &bytes[at + 2..];
                let digits =
                    rest.strip_prefix(b"index=").map(|d| d.iter().take_while(|b| b.is_ascii_digit()).count());
                let annotation = digits.is_some_and(|n| n > 0 && rest[6 + n..].starts_with(b"*/"));
                if !annotation {
                    return Some(at);
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
    None
}

/// The first lines that differ, in the form of a unified diff; `None` if the texts are the same.
pub fn difference(name: &str, old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let after = a[before..].iter().rev().zip(b[before..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (removed, added) = (&a[before..a.len() - after], &b[before..b.len() - after]);
    let start = before.saturating_sub(CONTEXT);
    let context_after = &a[a.len() - after..(a.len() - after + CONTEXT).min(a.len())];
    let shown = |lines: &[&str]| lines.len().min(MAX_LINES);
    let whole = shown(removed) == removed.len() && shown(added) == added.len();
    let tail = if whole { context_after } else { &[] };
    let counts = |n: usize| before - start + n + tail.len();
    let mut out = format!(
        "--- {name}\n+++ {name} (formatted)\n@@ -{},{} +{},{} @@\n",
        start + 1,
        counts(shown(removed)),
        start + 1,
        counts(shown(added)),
    );
    let mut push = |mark: char, lines: &[&str]| {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            out.push('\n');
        }
    };
    push(' ', &a[start..before]);
    push('-', &removed[..shown(removed)]);
    push('+', &added[..shown(added)]);
    push(' ', tail);
    if removed.is_empty() && added.is_empty() {
        out.push_str("(only the ends of lines differ)\n");
    }
    if !whole {
        out.push_str("(more lines differ)\n");
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_outside_strings() {
        assert_eq!(first_comment("a // b"), Some(2));
        assert_eq!(first_comment("a \"// \\\" /* \" /* b */"), Some(14));
        assert_eq!(first_comment("(a, /*index=5*/b) '//'"), None);
        assert_eq!(first_comment("/*index=*/"), Some(0));
        assert_eq!(first_comment("\"open"), None);
        assert_eq!(first_comment("/*index=5"), Some(0));
    }

    #[test]
    fn the_lines_that_differ_are_shown() {
        assert_eq!(difference("f", "a\n", "a\n"), None);
        let shown = difference("f", "a\nb\nc\n", "a\nx\ny\nc\n").unwrap();
        assert_eq!(shown, "--- f\n+++ f (formatted)\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n");
        assert!(difference("f", "a\r\n", "a\n").unwrap().ends_with("(only the ends of lines differ)\n"));
    }
}
