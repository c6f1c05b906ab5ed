//! `--verify-diagnostics`: compares the diagnostics of a text to comments in it, as in MLIR's tests.
//!
//! ```text
//! // expected-error @below {{names the same}}
//! // expected-warning-re @+2 {{dimension {{[0-9]+}} of}}
//! ```
//!
//! Without `@`, the diagnostic must be on the line of the comment. `@above`, `@below`, `@+N` and `@-N` are
//! relative to that line. `@unknown` means no line. The text in braces must be a part of the message or of
//! its code. With `-re`, each `{{…}}` inside it is a regular expression.

use hlo_ir::Span;
use hlo_ir::diag::{Code, Diag, Severity};
use regex_lite::Regex;

/// The location of an expected diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A line, starting at 1.
    Line(usize),
    /// No location in the text.
    Unknown,
}

/// The diagnostic that a comment expects.
struct Expected {
    severity: Severity,
    place: Place,
    message: Regex,
    /// The comment, from `expected` to the closing braces.
    span: Span,
}

/// Returns the differences between the diagnostics of a text and its comments.
pub fn differences(text: &str, found: &[Diag]) -> Vec<Diag> {
    let (expected, mut wrong) = expectations(text);
    let mut met = vec![false; expected.len()];
    for diag in found {
        let place = place_of(diag, text);
        let message = format!("{}: {}", diag.code.as_ref().map_or("", Code::as_str), diag.message);
        let fits =
            |e: &Expected| e.severity == diag.severity && e.place == place && e.message.is_match(&message);
        // Prefer a matching comment that has not matched another diagnostic.
        let candidates = || expected.iter().enumerate().filter(|(_, e)| fits(e)).map(|(n, _)| n);
        match candidates().find(|&n| !met[n]).or_else(|| candidates().next()) {
            Some(n) => met[n] = true,
            None => wrong.push(unexpected(diag)),
        }
    }
    for (e, _) in expected.iter().zip(&met).filter(|(_, met)| !**met) {
        let message = format!("expected {} was not produced", e.severity.word());
        wrong.push(Diag::error(message).at(e.span, "this comment asks for it"));
    }
    wrong
}

/// Returns the error for a diagnostic that no comment expects.
fn unexpected(diag: &Diag) -> Diag {
    Diag {
        severity: Severity::Error,
        message: format!("unexpected {}: {}", diag.severity.word(), diag.message),
        ..diag.clone()
    }
}

fn place_of(diag: &Diag, text: &str) -> Place {
    match diag.focused(text).primary() {
        Some(label) => Place::Line(line_of(text, label.span.start as usize)),
        None => Place::Unknown,
    }
}

/// Returns the line number of a byte.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&b| b == b'\n').count()
}

/// Returns the expectations in the comments, and errors for comments that cannot be parsed.
fn expectations(text: &str) -> (Vec<Expected>, Vec<Diag>) {
    let (mut expected, mut wrong) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        if let Some((_, comment)) = line.split_once("//") {
            let comment_start = start + line.len() - comment.len();
            let mut at = 0;
            while let Some(found) = comment[at..].find("expected-") {
                let begin = at + found;
                match one(&comment[begin..], n + 1, comment_start + begin) {
                    Ok((e, length)) => {
                        expected.push(e);
                        at = begin + length;
                    }
                    Err(message) => {
                        let span = Span::new(comment_start + begin, start + line.trim_end().len());
                        wrong.push(
                            Diag::error(message)
                                .at(span, "it has the form `expected-error @below {{message}}`"),
                        );
                        break;
                    }
                }
            }
        }
        start += line.len();
    }
    (expected, wrong)
}

/// Parses one expectation at the start of `text`, which is at byte `start` on line `line`. Also returns its
/// length.
fn one(text: &str, line: usize, start: usize) -> Result<(Expected, usize), String> {
    let rest = text.strip_prefix("expected-").unwrap_or(text);
    let words = [("error", Severity::Error), ("warning", Severity::Warning)];
    let Some((rest, severity)) =
        words.iter().find_map(|(word, severity)| Some((rest.strip_prefix(word)?, *severity)))
    else {
        return Err("errors and warnings can be expected".to_string());
    };
    let (rest, pattern) = match rest.strip_prefix("-re") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (rest, place) = place(rest.trim_start(), line)?;
    let inside = rest.trim_start().strip_prefix("{{").ok_or("the message stands in `{{` and `}}`")?;
    let end = closing(inside).ok_or("the message has no end `}}`")?;
    let message = if pattern { as_regex(&inside[..end])? } else { regex_lite::escape(&inside[..end]) };
    let message = Regex::new(&message).map_err(|e| format!("the message is no regular expression: {e}"))?;
    let length = text.len() - inside.len() + end + 2;
    Ok((Expected { severity, place, message, span: Span::new(start, start + length) }, length))
}

/// Parses `@below` and similar locations, if there is one.
fn place(text: &str, line: usize) -> Result<(&str, Place), String> {
    let Some(rest) = text.strip_prefix('@') else { return Ok((text, Place::Line(line))) };
    let end = rest.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(rest.len());
    let (word, rest) = rest.split_at(end);
    let moved = |by: Option<isize>| by.and_then(|by| line.checked_add_signed(by)).map(Place::Line);
    let place = match word {
        "unknown" => Some(Place::Unknown),
        "above" => moved(Some(-1)),
        "below" => moved(Some(1)),
        _ if word.starts_with(['+', '-']) => moved(word.parse().ok()),
        _ => None,
    };
    let place =
        place.ok_or(format!("`@{word}` is no place: `@above`, `@below`, `@+1`, `@-1` or `@unknown`"))?;
    Ok((rest, place))
}

/// Returns the position of the braces that close a message. Braces of nested regular expressions are skipped
/// in pairs.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(found) = text[at..].find(['{', '}']) {
        let place = at + found;
        match text.get(place..place + 2) {
            Some("{{") => depth += 1,
            Some("}}") if depth == 0 => return Some(place),
            Some("}}") => depth -= 1,
            _ => {
                at = place + 1;
                continue;
            }
        }
        at = place + 2;
    }
    None
}

/// Converts a text in which `{{…}}` are regular expressions to a single regular expression.
fn as_regex(text: &str) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((plain, after)) = rest.split_once("{{") {
        let (pattern, after) = after.split_once("}}").ok_or("a regular expression has no end `}}`")?;
        out.push_str(&regex_lite::escape(plain));
        out.push_str(&format!("(?:{pattern})"));
        rest = after;
    }
    out.push_str(&regex_lite::escape(rest));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, found: &[Diag]) -> Vec<String> {
        differences(text, found).into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn what_is_expected_is_met_once_and_on_its_line() {
        let at = |start: usize| {
            Diag::error("4 is not 5").with_code(Code::new("E0001")).at(Span::new(start, start + 1), "")
        };
        let text = "// expected-error @below {{4 is}}\nx\ny // expected-error {{E0001}}\n";
        let (x, y) = (text.find("\nx").unwrap() + 1, text.find("\ny").unwrap() + 1);
        assert_eq!(shown(text, &[at(x), at(y)]), [""; 0]);
        assert_eq!(shown(text, &[at(x)]), ["expected error was not produced"]);
        let none = ["unexpected error: 4 is not 5"];
        assert_eq!(shown("x\n", &[at(0)]), none);
        // A warning does not match an error, and the line must match.
        let text = "x // expected-warning {{4 is}}\n";
        assert_eq!(shown(text, &[at(0)]).len(), 2);
        let text = "x\n// expected-error {{4 is}}\n";
        assert_eq!(shown(text, &[at(0)]).len(), 2);
        assert_eq!(shown("x\n// expected-error @-1 {{4 is}}\n", &[at(0)]), [""; 0]);
        assert_eq!(shown("// expected-error @unknown {{lost}}\n", &[Diag::error("lost")]), [""; 0]);
    }

    #[test]
    fn patterns_stand_in_braces() {
        let found = [Diag::error("[2] of 17 (x)").at(Span::new(0, 1), "")];
        assert_eq!(shown("x // expected-error-re {{[2] of {{[0-9]+}} (}}\n", &found), [""; 0]);
        assert_eq!(shown("x // expected-error-re {{of {{[a-z]+}}}}\n", &found).len(), 2);
    }

    #[test]
    fn what_is_no_expectation_is_said() {
        for comment in [
            "expected-note {{x}}",
            "expected-error x",
            "expected-error {{x",
            "expected-error @here {{x}}",
            "expected-error-re {{x{{(}}}}",
        ] {
            assert_eq!(differences(&format!("// {comment}\n"), &[]).len(), 1, "{comment}");
        }
    }
}
