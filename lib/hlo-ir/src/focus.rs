//! Which part of an instruction a diagnostic is about: an attribute, or what stands before the attributes.

use crate::Span;
use crate::diag::clamp;

/// So many bytes of an instruction are looked at: many reports may be of one with an enormous constant.
const MAX_LOOKED_AT: u32 = 1 << 16;

/// The part of the instruction at `span` to mark: the first attribute that `message` names between backticks, else
/// the name, shape, opcode and operands.
pub(crate) fn focus(span: Span, text: &str, message: &str) -> Span {
    let end = span.end.min(span.start.saturating_add(MAX_LOOKED_AT));
    let range = clamp(Span { start: span.start, end }, text);
    let instruction = &text[range.clone()];
    let mut parts = parts(instruction).into_iter();
    let Some(head) = parts.next() else { return span };
    let attributes: Vec<std::ops::Range<usize>> = parts.collect();
    // `slice` is the opcode and its attribute: a message starts with the opcode.
    let opcode = message.strip_prefix('`').and_then(|m| m.split_once('`')).map_or("", |(first, _)| first);
    let is_opcode = instruction[head.clone()].contains(&format!(" {opcode}("));
    // What stands between the first and second backtick, the third and fourth, and so on.
    let named = message.split('`').skip(1).step_by(2).skip(usize::from(is_opcode));
    let attribute = named.filter(|name| !name.is_empty()).find_map(|name| {
        let is_it = |r: &&std::ops::Range<usize>| {
            instruction[(*r).clone()]
                .strip_prefix(name)
                .is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        attributes.iter().find(is_it)
    });
    let found = attribute.unwrap_or(&head);
    if found.is_empty() { span } else { Span::new(range.start + found.start, range.start + found.end) }
}

/// The shape that is written in the instruction at `span`, behind the `=`; `None` if it is not found.
pub(crate) fn shape(span: Span, text: &str) -> Option<Span> {
    let end = span.end.min(span.start.saturating_add(MAX_LOOKED_AT));
    let range = clamp(Span { start: span.start, end }, text);
    let instruction = &text[range.clone()];
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
                return found.then(|| Span::new(range.start + start, range.start + start + at));
            }
            _ => {}
        }
    }
    None
}

/// The parts of an instruction between the commas outside of brackets, strings and comments, without the blanks
/// around them.
fn parts(text: &str) -> Vec<std::ops::Range<usize>> {
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

/// A range without the blanks at its ends.
fn trimmed(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

#[cfg(test)]
mod tests {
    use super::{focus, shape};
    use crate::Span;

    #[test]
    fn marks_an_attribute_or_what_stands_before() {
        let text = "  y = (f32[4,4]{1,0}, s32[]) op(a, /*, x=*/ b, \"c,(\\\"\"), dims={0,1}, metadata={op_name=\"dims=\"} ";
        let span = Span::new(2, text.len());
        let marked = |message| &text[focus(span, text, message).range()];
        assert_eq!(marked("of `op` in `dims`"), "dims={0,1}");
        assert_eq!(marked("of `op` in `metadata`"), "metadata={op_name=\"dims=\"}");
        let head = "y = (f32[4,4]{1,0}, s32[]) op(a, /*, x=*/ b, \"c,(\\\"\")";
        assert_eq!(marked("of `op`"), head);
        assert_eq!(marked("of `op` in `x`"), head);
        assert_eq!(marked("in `dim`"), head);
    }

    #[test]
    fn an_opcode_is_no_attribute() {
        let text = "y = f32[3] slice(x), slice={[0:2]}";
        let marked = |message| &text[focus(Span::new(0, text.len()), text, message).range()];
        assert_eq!(marked("`slice` gives f32[2]"), "y = f32[3] slice(x)");
        assert_eq!(marked("`slice` takes too much in `slice`"), "slice={[0:2]}");
        assert_eq!(marked("in `slice`"), "slice={[0:2]}");
    }

    #[test]
    fn finds_the_written_shape() {
        let found = |text: &str| shape(Span::new(1, text.len()), text).map(|s| text[s.range()].to_owned());
        for written in
            ["f32[2]", "f32[2,<=3]{1,0:T(8,128)}", "(f32[], /*index=1*/(s32[], u8[2]{0}))", "b(f32[2])"]
        {
            assert_eq!(found(&format!(" ROOT %y = {written} abs(x)")).as_deref(), Some(written));
            assert_eq!(found(&format!(" y={written}\n abs(x)")).as_deref(), Some(written));
        }
        for text in [
            "",
            " y",
            " y =",
            " y = ",
            " y = abs(x)",
            " y = f32 [2] abs(x)",
            " f32[2] abs(x), a=b ",
            " y = ) a",
            " y = (f32[]",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn any_text_has_a_part() {
        for text in ["", ",", "\"", "\"\\", "/*", "//", "a // b", "}}", "a = é(\"é"] {
            let whole = Span::new(0, text.len());
            let found = focus(whole, text, "`a`");
            assert!(text.get(found.range()).is_some(), "{text}: {found:?}");
        }
    }
}
