//! Shortens messages. They quote shapes, lists and names, which may be as long as the module's text.

use crate::floor_char_boundary;

/// Maximum number of bytes inside brackets. Longer contents are cut.
const MAX_BRACKET_BYTES: usize = 200;
/// Number of bytes that are kept of brackets that are cut.
const KEPT_BRACKET_BYTES: usize = 100;
/// Maximum number of bytes of a whole message.
const MAX_MESSAGE_BYTES: usize = 2000;
/// The replacement for omitted text.
const ELLIPSIS: &str = "…";

/// Returns the text with `…` in place of contents of brackets that are too long, and of the end of a text
/// that is too long. Linear.
pub(crate) fn brief(text: String) -> String {
    if text.len() <= MAX_BRACKET_BYTES {
        return text;
    }
    let mut out = String::new();
    let mut at = 0;
    for (open, close) in long_groups(&text) {
        // Groups inside a cut group are already omitted.
        if open >= at {
            out.push_str(&text[at..floor_char_boundary(&text, open + KEPT_BRACKET_BYTES)]);
            out.push_str(ELLIPSIS);
            at = close;
        }
    }
    out.push_str(&text[at..]);
    if out.len() > MAX_MESSAGE_BYTES {
        out.truncate(floor_char_boundary(&out, MAX_MESSAGE_BYTES));
        out.push_str(ELLIPSIS);
    }
    out
}

/// Returns the positions of matching brackets that are far apart, in the order of the opening brackets.
fn long_groups(text: &str) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut groups = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        let wanted = match byte {
            b'(' | b'[' | b'{' => {
                open.push((at, byte));
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        // A closing bracket without a match is ignored: it is part of a quotation.
        if let Some(&(start, _)) = open.last().filter(|o| o.1 == wanted) {
            open.pop();
            if at - start > MAX_BRACKET_BYTES {
                groups.push((start, at));
            }
        }
    }
    groups.sort_unstable();
    groups
}
