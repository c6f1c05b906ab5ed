//! Splits a StableHLO text into words, even if it contains errors.

use std::ops::Range;

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `%name`: a value.
    Value,
    /// `@name`: a symbol.
    Symbol,
    /// `^name`: a block.
    Block,
    /// A word, including its dots: `stablehlo.add`, `dims`, `tensor`.
    Word,
    /// A number, or the sizes of a type: `2x3xf32`.
    Number,
    /// A string.
    Text,
    /// A comment, up to the end of the line.
    Comment,
    /// A bracket or any other character.
    Mark(u8),
}

/// A word with its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: Kind,
    /// The range.
    pub range: Range<usize>,
}

/// Whether the character can continue a name.
pub fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}

/// Returns the words of a text.
pub fn scan(text: &str) -> Vec<Token> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let (kind, end) = match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => (Kind::Comment, line_end(bytes, at)),
            b'"' => (Kind::Text, string_end(bytes, at)),
            b'@' if bytes.get(at + 1) == Some(&b'"') => (Kind::Symbol, string_end(bytes, at + 1)),
            byte @ (b'%' | b'@' | b'^') => {
                let kind = match byte {
                    b'%' => Kind::Value,
                    b'@' => Kind::Symbol,
                    _ => Kind::Block,
                };
                (kind, name_end(bytes, at + 1))
            }
            byte if byte.is_ascii_digit() => (Kind::Number, name_end(bytes, at)),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => (Kind::Word, name_end(bytes, at)),
            byte if byte.is_ascii() => (Kind::Mark(byte), at + 1),
            _ => (Kind::Mark(0), at + text[at..].chars().next().map_or(1, char::len_utf8)),
        };
        out.push(Token { kind, range: at..end });
        at = end;
    }
    out
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |n| at + n)
}

/// Returns the end of a string that begins at a quote, or the end of the line if the string does not end.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'"' => return end + 1,
            b'\n' => return end,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    bytes.len()
}

fn name_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + bytes[at..].iter().take_while(|&&b| b.is_ascii() && is_name(b as char)).count();
    // `->` is not part of a name.
    while end > at && bytes[end - 1] == b'-' {
        end -= 1;
    }
    end
}
