//! The cursor for reading HLO text: attribute values in this crate, shapes, literals and operands in
//! hlo-parser.

use crate::Span;
use crate::diag::Diag;
use crate::rules::code;
use crate::text::blank::{blanks_and_comments, is_blank};

/// A position in a text that starts at byte `base` of the whole text. It skips whitespace and comments
/// between tokens.
pub struct Cursor<'a, C = Plain> {
    text: &'a str,
    pos: usize,
    base: usize,
    context: C,
}

/// The data that a cursor has besides the text, and the type of its errors.
pub trait Context {
    /// The type of errors.
    type Error;

    /// Creates the error for an unexpected token.
    fn error(unexpected: Unexpected) -> Self::Error;
}

/// An expected item, and the token found instead.
#[derive(Clone, Debug)]
pub struct Unexpected {
    /// The span in the whole text; empty at the end.
    pub span: Span,
    /// The expected item, as a noun phrase such as "an integer".
    pub expected: String,
    /// The token found instead, quoted.
    pub found: String,
}

/// A context without data. Errors are diagnostics.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Context for Plain {
    type Error = Diag;

    fn error(Unexpected { span, expected, found }: Unexpected) -> Diag {
        let label = if expected.len() <= 40 { format!("expected {expected}") } else { String::new() };
        let diag = Diag::error(format!("expected {expected}, found {found}"));
        diag.with_code(code::SYNTAX).at(span, label)
    }
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of `text`.
    pub fn new(text: &'a str, base: usize) -> Self {
        Self::with_context(text, base, Plain)
    }
}

impl<'a, C> Cursor<'a, C> {
    /// Creates a cursor at the start of `text`.
    pub fn with_context(text: &'a str, base: usize, context: C) -> Self {
        Self { text, pos: 0, base, context }
    }

    /// Returns the context.
    pub fn context(&self) -> &C {
        &self.context
    }

    /// Returns the position in the whole text.
    pub fn offset(&self) -> usize {
        self.base + self.pos
    }

    /// Returns the position of the next token in the whole text.
    #[inline]
    pub fn offset_of_next(&mut self) -> usize {
        self.skip_space();
        self.offset()
    }

    /// Returns the span from `start`, a position in the whole text, to the current position.
    pub fn since(&self, start: usize) -> Span {
        Span::new(start, self.offset())
    }

    /// Moves back to a position returned by [`Cursor::offset`].
    pub fn rewind(&mut self, offset: usize) {
        self.pos = offset.saturating_sub(self.base).min(self.text.len());
    }

    /// Consumes `n` bytes.
    pub fn advance(&mut self, n: usize) {
        self.pos = (self.pos + n).min(self.text.len());
    }

    /// Returns the unread text.
    pub fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    /// Skips whitespace and returns the unread text.
    pub fn remaining(&mut self) -> &'a str {
        self.skip_space();
        self.rest()
    }

    /// Skips whitespace and comments.
    #[inline(always)]
    pub fn skip_space(&mut self) {
        // Usually there is no whitespace, and the next byte is greater than `/`.
        while self.byte() <= b'/' {
            if is_blank(self.byte()) {
                self.pos += 1;
                continue;
            }
            if self.byte() == b'/' {
                self.pos += blanks_and_comments(&self.text.as_bytes()[self.pos..]);
            }
            return;
        }
    }

    /// Returns the next byte without consuming it, or 0 at the end.
    #[inline]
    pub fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    /// Skips whitespace and returns the next byte without consuming it, or 0 at the end.
    #[inline]
    pub fn peek(&mut self) -> u8 {
        self.skip_space();
        self.byte()
    }

    /// Returns whether only whitespace is left.
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.pos >= self.text.len()
    }

    /// Returns whether the next item is a blank, a comment or the end.
    pub fn at_blank(&self) -> bool {
        self.rest().is_empty() || blanks_and_comments(&self.text.as_bytes()[self.pos..]) > 0
    }

    /// Skips whitespace and consumes `token` if it comes next. Returns whether it did.
    #[inline]
    pub fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        self.eat_next(token)
    }

    /// Consumes `token` if it comes next, without skipping whitespace. Returns whether it did.
    #[inline]
    pub fn eat_next(&mut self, token: &str) -> bool {
        // A branch, because some compilers miscompile the sum of a position and a boolean.
        if !self.text.as_bytes()[self.pos..].starts_with(token.as_bytes()) {
            return false;
        }
        self.pos += token.len();
        true
    }

    /// Skips whitespace, then consumes and returns the bytes that `keep` accepts (ASCII only).
    #[inline]
    pub fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let n = rest.bytes().position(|b| !(b.is_ascii() && keep(b))).unwrap_or(rest.len());
        self.pos += n;
        &rest[..n]
    }

    /// Consumes and returns the characters of a name: letters, digits, `_`, `.` and `-`. Empty if there is
    /// none.
    #[inline]
    pub fn name(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let n = rest.bytes().position(|b| !NAME_BYTES[b as usize]).unwrap_or(rest.len());
        self.pos += n;
        &rest[..n]
    }

    /// Consumes and returns a word: a name that starts with a letter or `_`. Empty if there is none.
    pub fn word(&mut self) -> &'a str {
        let first = self.peek();
        if first.is_ascii_alphabetic() || first == b'_' { self.name() } else { "" }
    }

    /// Consumes a word that may start with `%`, and returns it without the `%`. Returns an empty string if there is
    /// no word, or if a blank follows the `%`.
    pub fn percent_word(&mut self) -> &'a str {
        if self.eat("%") && self.at_blank() { "" } else { self.word() }
    }
}

impl<'a, C: Context> Cursor<'a, C> {
    /// Creates the error that `what` was expected instead of the next token.
    #[cold]
    pub fn expected(&mut self, what: &str) -> C::Error {
        self.skip_space();
        let (found, len) = token_at(self.rest());
        let span = Span::new(self.offset(), self.offset() + len);
        C::error(Unexpected { span, expected: what.into(), found })
    }

    /// Consumes `token`, which must come next.
    ///
    /// # Errors
    /// The next token is another one.
    #[inline]
    pub fn expect(&mut self, token: &str) -> Result<(), C::Error> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Checks that only whitespace and comments are left.
    ///
    /// # Errors
    /// More text is left.
    pub fn expect_end(&mut self) -> Result<(), C::Error> {
        if self.at_end() { Ok(()) } else { Err(self.expected("nothing more")) }
    }

    /// Reads `item, item`: one or more items.
    ///
    /// # Errors
    /// The first error of `item`.
    pub fn separated<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, C::Error>,
    ) -> Result<Vec<T>, C::Error> {
        let mut out = Vec::new();
        loop {
            out.push(item(self)?);
            if !self.eat(",") {
                return Ok(out);
            }
        }
    }

    /// Reads `item, item)`: one or more items, after the opening bracket.
    ///
    /// # Errors
    /// The first error of `item`, or neither a comma nor `close` follows an item.
    pub fn items<T>(
        &mut self,
        close: &str,
        item: impl FnMut(&mut Self) -> Result<T, C::Error>,
    ) -> Result<Vec<T>, C::Error> {
        let out = self.separated(item)?;
        if self.eat(close) { Ok(out) } else { Err(self.expected(&format!("`,` or `{close}`"))) }
    }

    /// Reads `(item, item)`: zero or more items.
    ///
    /// # Errors
    /// `open` does not come next. Otherwise as [`Cursor::items`].
    pub fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        item: impl FnMut(&mut Self) -> Result<T, C::Error>,
    ) -> Result<Vec<T>, C::Error> {
        self.expect(open)?;
        if self.eat(close) { Ok(Vec::new()) } else { self.items(close, item) }
    }

    /// Reads `(item, item item,)`: zero or more items. A comma after each of them is optional.
    ///
    /// # Errors
    /// `open` does not come next, or the first error of `item`. A missing `close` is an error of `item`.
    pub fn loose_list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, C::Error>,
    ) -> Result<Vec<T>, C::Error> {
        self.expect(open)?;
        let mut out = Vec::new();
        while !self.eat(close) {
            out.push(item(self)?);
            self.eat(",");
        }
        Ok(out)
    }
}

/// Returns whether a byte can continue a name: letters, digits, `_`, `.` and `-`.
#[inline]
pub const fn goes_on_name(byte: u8) -> bool {
    NAME_BYTES[byte as usize]
}

/// The bytes that can continue a name.
const NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = (b as u8).is_ascii_alphanumeric() || matches!(b as u8, b'_' | b'.' | b'-');
        b += 1;
    }
    table
};

/// Returns the first token of `rest` for an error message, and its length (0 at the end).
pub fn token_at(rest: &str) -> (String, usize) {
    let Some(first) = rest.chars().next() else { return ("the end".into(), 0) };
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '%');
    let len = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
    if first.is_whitespace() && !first.is_ascii() {
        return (format!("U+{:04X}, a blank that is not ASCII", first as u32), len);
    }
    // Quotes need no escape here.
    let shown = |c: char| if matches!(c, '"' | '\'') { c.to_string() } else { c.escape_debug().to_string() };
    // A token can be a megabyte of digits.
    match rest[..len].char_indices().nth(60) {
        Some((cut, _)) => (format!("`{}…`", &rest[..cut]), len),
        None => (format!("`{}`", rest[..len].chars().map(shown).collect::<String>()), len),
    }
}

/// Formats alternatives as a list, each one once: `a`, `b` or `c`.
pub fn alternatives<S: AsRef<str>>(words: &[S]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for word in words.iter().map(AsRef::as_ref) {
        if !once.contains(&word) {
            once.push(word);
        }
    }
    match once.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}
