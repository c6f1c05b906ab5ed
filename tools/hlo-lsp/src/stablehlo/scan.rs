//! The words of a text of StableHLO, whatever is wrong with it.

use std::ops::Range;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `%name`: a value.
    Value,
    /// `@name`: a symbol.
    Symbol,
    /// `^name`: a block.
    Block,
    /// A word, with the dots in it: `stablehlo.add`, `dims`, `tensor`.
    Word,
    /// A number, or the sizes of a type: `2x3xf32`.
    Number,
    /// A string.
    Text,
    /// A comment, to the end of the line.
    Comment,
    /// A bracket or any other character.
    Mark(u8),
}

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub range: Range<usize>,
}

/// True for what a name may go on with.
pub fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}

/// The words of a text.
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

/// The end of a string that begins at a quote; that of the line if it has none.
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
    // `->` is no part of a name.
    while end > at && bytes[end - 1] == b'-' {
        end -= 1;
    }
    end
}
