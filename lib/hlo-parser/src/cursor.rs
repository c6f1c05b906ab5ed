//! The cursor that shapes and literals are read with.

use hlo_ir::Span;
use hlo_ir::blank::{blanks_and_comments, is_blank};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// A position in a text that starts at byte `base` of the whole. Whitespace and comments between tokens are
/// skipped.
pub struct Cursor<'a> {
    text: &'a str,
    pos: usize,
    base: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`.
    pub fn new(text: &'a str, base: usize) -> Self {
        Self { text, pos: 0, base }
    }

    /// The next byte, not consumed, or 0 at the end.
    #[inline]
    pub fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    /// Skips whitespace and comments.
    #[inline]
    pub fn skip_space(&mut self) {
        self.pos += blanks_and_comments(self.rest());
    }

    /// The next byte after whitespace, not consumed, or 0 at the end.
    #[inline]
    pub fn peek(&mut self) -> u8 {
        self.skip_space();
        self.byte()
    }

    /// The unread text.
    pub fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    /// Consumes `token`, one ASCII character, if it comes next.
    #[inline]
    pub fn eat(&mut self, token: u8) -> bool {
        if self.peek() != token {
            return false;
        }
        self.pos += 1;
        true
    }

    /// Consumes `token` if it comes next.
    pub fn eat_str(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    /// Consumes `token` or fails.
    pub fn expect(&mut self, token: u8) -> Result<(), Diag> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{}`", token as char))) }
    }

    /// Fails unless nothing is left.
    pub fn expect_end(&mut self) -> Result<(), Diag> {
        if self.at_end() { Ok(()) } else { Err(self.expected("nothing more")) }
    }

    /// True if nothing but whitespace is left.
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.pos >= self.text.len()
    }

    /// Consumes the bytes that `keep` accepts (ASCII only) and returns them.
    #[inline]
    pub fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        self.skip_space();
        let rest = &self.text.as_bytes()[self.pos..];
        let n = rest.iter().position(|&b| !(b.is_ascii() && keep(b))).unwrap_or(rest.len());
        let start = self.pos;
        self.pos += n;
        &self.text[start..self.pos]
    }

    /// A word: an opcode's name. Empty if there is none.
    pub fn word(&mut self) -> &'a str {
        self.skip_space();
        let bytes = &self.text.as_bytes()[self.pos..];
        if !bytes.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_') {
            return "";
        }
        let length = bytes.iter().position(|&b| !WORD[b as usize]).unwrap_or(bytes.len());
        let start = self.pos;
        self.pos += length;
        &self.text[start..self.pos]
    }

    /// An operand's name: a word that may follow `%`, and the elements `#n` that it picks. Empty if there is none.
    pub fn operand_name(&mut self) -> &'a str {
        self.skip_space();
        let start = self.pos;
        self.pos += usize::from(self.byte() == b'%');
        if is_blank(self.byte()) || self.word().is_empty() {
            self.pos = start;
            return "";
        }
        let bytes = self.text.as_bytes();
        let mut end = self.pos;
        while bytes.get(end) == Some(&b'#') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            end += 2;
            while bytes.get(end).is_some_and(u8::is_ascii_digit) {
                end += 1;
            }
        }
        self.pos = end;
        &self.text[start..end]
    }

    /// The position in the whole text.
    pub fn offset(&self) -> usize {
        self.base + self.pos
    }

    /// Goes back to a position that [`Cursor::offset`] gave.
    pub fn rewind(&mut self, offset: usize) {
        self.pos = offset.saturating_sub(self.base).min(self.text.len());
    }

    /// The span from `start`, a position in the whole text, up to here.
    pub fn since(&self, start: usize) -> Span {
        Span::new(start, self.offset())
    }

    /// The error that `what` was expected at the next token.
    pub fn expected(&mut self, what: &str) -> Diag {
        self.skip_space();
        let (found, len) = token_at(self.rest());
        let label = if what.len() <= 40 { format!("expected {what}") } else { String::new() };
        Diag::error(format!("expected {what}, found {found}"))
            .with_code(code::SYNTAX)
            .at(Span::new(self.offset(), self.offset() + len), label)
    }
}

/// The bytes that a name goes on with.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = (b as u8).is_ascii_alphanumeric() || matches!(b as u8, b'_' | b'.' | b'-');
        b += 1;
    }
    table
};

/// How the first token of `rest` is called in an error, and its length (0 at the end).
pub fn token_at(rest: &str) -> (String, usize) {
    let Some(first) = rest.chars().next() else { return ("the end".into(), 0) };
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '%');
    let len = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
    if first.is_whitespace() && !first.is_ascii() {
        return (format!("U+{:04X}, a blank that is not ASCII", first as u32), len);
    }
    // Quotes are no worse than other characters.
    let shown = |c: char| if matches!(c, '"' | '\'') { c.to_string() } else { c.escape_debug().to_string() };
    // A token can be a megabyte of digits.
    match rest[..len].char_indices().nth(60) {
        Some((cut, _)) => (format!("`{}…`", &rest[..cut]), len),
        None => (format!("`{}`", rest[..len].chars().map(shown).collect::<String>()), len),
    }
}
