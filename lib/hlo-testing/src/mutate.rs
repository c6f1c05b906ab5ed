//! Damages texts as typing errors, broken tools or truncated downloads do.

use crate::Numbers;
use crate::dictionary::words;
use std::ops::Range;

/// Returns the tokens of a text as in an editor: words, numbers, strings, single characters. Blanks are
/// skipped.
pub fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut chars = text.char_indices().peekable();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '%');
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut end = start + c.len_utf8();
        if is_word(c) {
            while let Some((i, c)) = chars.next_if(|&(_, c)| is_word(c)) {
                end = i + c.len_utf8();
            }
        } else if c == '"' {
            while let Some((i, c)) = chars.next() {
                end = i + c.len_utf8();
                match c {
                    '"' | '\n' => break,
                    // An escaped character belongs to the string. At the end of the text there may be none.
                    '\\' => end = chars.next().map_or(end, |(i, c)| i + c.len_utf8()),
                    _ => {}
                }
            }
        }
        out.push(start..end);
    }
    out
}

/// Returns the text with one random error.
pub fn damage(text: &str, numbers: &mut Numbers) -> String {
    let tokens = tokens(text);
    let mut out = text.to_string();
    if tokens.is_empty() {
        return out;
    }
    let at = tokens[numbers.below(tokens.len())].clone();
    let other = tokens[numbers.below(tokens.len())].clone();
    let piece = |r: &Range<usize>| text.get(r.clone()).unwrap_or_default();
    match numbers.below(9) {
        // Remove a token, duplicate it, replace it with another one, or insert another one.
        0 => out.replace_range(at, ""),
        1 => out.insert_str(at.start, piece(&at)),
        2 => out.replace_range(at, piece(&other)),
        3 => out.insert_str(at.start, piece(&other)),
        // Swap two tokens.
        4 => {
            let (first, second) = if at.start <= other.start { (at, other) } else { (other, at) };
            if first.end <= second.start {
                let (a, b) = (piece(&first), piece(&second));
                out.replace_range(second, a);
                out.replace_range(first, b);
            }
        }
        // Replace a token with a word of the language.
        5 => {
            let words = words();
            out.replace_range(at, &words[numbers.below(words.len())]);
        }
        // Replace a token with a number.
        6 => {
            let number =
                ["-1", "0", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e999"];
            out.replace_range(at, numbers.pick(&number));
        }
        // Replace a character, possibly with one that is not part of the language.
        7 => {
            let start = at.start;
            let end = start + text[start..].chars().next().map_or(0, char::len_utf8);
            let c = match numbers.below(3) {
                0 => numbers.pick(&['é', '\0', '\u{feff}', '\r', '\u{2028}', '😀']),
                _ => char::from(b' ' + numbers.below(95) as u8),
            };
            out.replace_range(start..end, c.encode_utf8(&mut [0; 4]));
        }
        // Truncate the text.
        _ => out.truncate(at.end),
    }
    out
}
