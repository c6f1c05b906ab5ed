//! The cursor that attribute values are read with.

use crate::blank::{TrimBlanks, blanks_and_comments};
use crate::diag::Diag;
use crate::{ComputationId, Literal, Shape, Span};

/// Why an attribute's value could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttrError {
    /// Where in the module's text.
    pub span: Span,
    /// What was expected there, as a noun phrase such as "an integer"; or a whole sentence if `found` is empty.
    pub expected: String,
    /// What is there instead, quoted; empty if `expected` says all.
    pub found: String,
    /// The words that are legal there, if there are just a few: the nearest is worth suggesting.
    pub legal: &'static [&'static str],
    /// The error in full, where a reader of shapes or literals found it.
    pub diag: Option<Box<Diag>>,
}

impl From<Diag> for AttrError {
    fn from(diag: Diag) -> Self {
        let span = diag.labels.iter().find(|l| l.primary).map_or(Span::default(), |l| l.span);
        Self { diag: Some(Box::new(diag)), ..Self::says(span, String::new()) }
    }
}

impl AttrError {
    /// The error that says `message`, a whole sentence.
    pub fn says(span: Span, message: String) -> Self {
        Self { span, expected: message, found: String::new(), legal: &[], diag: None }
    }
}

/// What attributes are read with besides their own text: the computations defined so far, and the readers of
/// shapes, literals and modules.
pub trait Resolver {
    /// The computation of that name (without `%`), if one was defined before.
    fn computation(&self, name: &str) -> Option<ComputationId>;

    /// The shape that `text`, which is at byte `base` of the module's text, starts with, and its length.
    fn shape(&self, text: &str, base: usize) -> Result<(Shape, usize), AttrError>;

    /// The shape and the value after it that `text` starts with, and their length.
    fn literal(&self, text: &str, base: usize) -> Result<(Literal, usize), AttrError>;

    /// Why `text` is not a module.
    fn check_module(&self, text: &str) -> Result<(), String>;
}

/// A computation whose body stands in the text in place of its name (`to_apply={ … }`), read beforehand.
#[derive(Clone, Copy, Debug)]
pub struct InlineComputation {
    /// The body's place in the module's text, braces included.
    pub span: Span,
    /// What it became.
    pub id: ComputationId,
}

/// A cursor over one attribute's value. Whitespace and comments between tokens are skipped.
pub struct AttrReader<'a> {
    text: &'a str,
    pos: usize,
    base: usize,
    resolver: &'a dyn Resolver,
    inline: &'a [InlineComputation],
}

impl<'a> AttrReader<'a> {
    /// A reader of `text`, which starts at byte `base` of the module's text; `inline` is in the text's order.
    pub fn new(
        text: &'a str,
        base: usize,
        resolver: &'a dyn Resolver,
        inline: &'a [InlineComputation],
    ) -> Self {
        Self { text, pos: 0, base, resolver, inline }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    /// Skips whitespace and comments.
    pub fn skip_space(&mut self) {
        self.pos += blanks_and_comments(self.rest());
    }

    /// The next character after whitespace, not consumed.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// The unread text after whitespace.
    pub fn remaining(&mut self) -> &'a str {
        self.skip_space();
        self.rest()
    }

    /// Consumes `n` bytes.
    pub fn advance(&mut self, n: usize) {
        self.pos = (self.pos + n).min(self.text.len());
    }

    /// Consumes `token` if it comes next.
    pub fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    /// Consumes `token` if it comes right here, with nothing before it.
    pub fn eat_next(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    /// True if a blank or a comment comes next, or nothing.
    pub fn at_blank(&self) -> bool {
        self.rest().is_empty() || blanks_and_comments(self.rest()) > 0
    }

    /// Consumes `token` or fails.
    pub fn expect(&mut self, token: &str) -> Result<(), AttrError> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("`{token}`"))) }
    }

    /// True if nothing is left.
    pub fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Fails unless nothing is left.
    pub fn expect_end(&mut self) -> Result<(), AttrError> {
        if self.at_end() { Ok(()) } else { Err(self.error("nothing more")) }
    }

    /// The error "expected …" at the next token.
    pub fn error(&mut self, expected: &str) -> AttrError {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        self.skip_space();
        let rest = self.rest();
        let word = rest
            .char_indices()
            .find(|&(_, c)| !is_word(c))
            .map_or(rest.len(), |(i, c)| if i == 0 { c.len_utf8() } else { i });
        // A token can be a megabyte of digits.
        let found = match rest[..word].char_indices().nth(60) {
            _ if rest.is_empty() => "the end of the value".into(),
            Some((cut, _)) => format!("`{}…`", &rest[..cut]),
            None => format!("`{}`", &rest[..word]),
        };
        AttrError {
            span: Span::new(self.base + self.pos, self.base + self.pos + word),
            expected: expected.into(),
            found,
            legal: &[],
            diag: None,
        }
    }

    /// The byte of the module's text that the reader stands at.
    pub fn offset(&self) -> usize {
        self.base + self.pos
    }

    /// The error with a message of its own, over the text from `start` (as [`AttrReader::offset`]) up to here.
    pub fn error_since(&self, start: usize, message: String) -> AttrError {
        AttrError::says(Span::new(start, self.base + self.pos), message)
    }

    /// The byte of the module's text that the next token starts at.
    pub fn offset_of_next(&mut self) -> usize {
        self.skip_space();
        self.offset()
    }

    /// The position, to go back to with [`AttrReader::rewind`].
    pub fn mark(&self) -> usize {
        self.pos
    }

    /// Goes back to a position that [`AttrReader::mark`] gave.
    pub fn rewind(&mut self, mark: usize) {
        self.pos = mark.min(self.text.len());
    }

    /// One of a few words: the index in `legal`.
    pub fn one_of(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        self.word(legal, |a, b| a == b)
    }

    /// One of a few words, in capital or small letters: the index in `legal`.
    pub fn one_of_any_case(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        self.word(legal, str::eq_ignore_ascii_case)
    }

    fn word(
        &mut self,
        legal: &'static [&'static str],
        same: impl Fn(&str, &str) -> bool,
    ) -> Result<usize, AttrError> {
        let here = self.offset_of_next();
        let mark = self.mark();
        let word = self.identifier().unwrap_or_default();
        // An empty text stands for a value that is not written.
        if let Some(index) = legal.iter().position(|w| !w.is_empty() && same(w, word)) {
            return Ok(index);
        }
        let span = Span::new(here, self.offset());
        self.rewind(mark);
        let mut error = self.error(&one_of(legal));
        error.legal = legal;
        if !span.is_empty() {
            error.span = span;
        }
        Err(error)
    }

    /// An integer that fits an `i64`.
    pub fn integer(&mut self) -> Result<i64, AttrError> {
        self.skip_space();
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
        let text = &rest[..sign + digits];
        // A fraction or an exponent makes it a decimal number.
        let more = rest[sign + digits..].chars().next();
        let decimal = more.is_some_and(|c| matches!(c, '.' | 'e' | 'E'));
        // As XLA does, a number that needs 64 bits is taken as the signed one of the same bits.
        let value = text.parse().ok().or_else(|| text.parse::<u64>().ok().map(|n| n as i64));
        match value.filter(|_| !decimal) {
            Some(n) => {
                self.pos += sign + digits;
                Ok(n)
            }
            None => Err(self.error("an integer")),
        }
    }

    /// An integer that fits an `i32`.
    pub fn integer32(&mut self) -> Result<i32, AttrError> {
        let start = self.offset_of_next();
        let n = self.integer()?;
        i32::try_from(n).map_err(|_| self.error_since(start, "the number does not fit 32 bits".into()))
    }

    /// An identifier: letters, digits, `_`, `.` and `-`.
    pub fn identifier(&mut self) -> Result<&'a str, AttrError> {
        self.skip_space();
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
            .unwrap_or(rest.len());
        if end == 0 {
            return Err(self.error("a name"));
        }
        self.pos += end;
        Ok(&rest[..end])
    }

    /// A computation: its name, with or without `%`, or its body.
    pub fn computation(&mut self) -> Result<ComputationId, AttrError> {
        self.skip_space();
        let at = self.base + self.pos;
        // They are in the order of the text.
        let found = self.inline.binary_search_by_key(&at, |c| c.span.start as usize);
        if let Some(c) = found.ok().and_then(|n| self.inline.get(n)) {
            self.pos = c.span.end as usize - self.base;
            return Ok(c.id);
        }
        let start = self.offset();
        self.eat("%");
        if self.peek().is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '_')) {
            return Err(self.error("the name of a computation"));
        }
        let name = self.identifier()?;
        self.resolver.computation(name).ok_or_else(|| {
            self.error_since(start, format!("no computation `{name}` is defined before this point"))
        })
    }

    /// A shape.
    pub fn shape(&mut self) -> Result<Shape, AttrError> {
        let rest = self.remaining();
        let (shape, length) = self.resolver.shape(rest, self.base + self.pos)?;
        self.advance(length);
        Ok(shape)
    }

    /// A shape and a value of it.
    pub fn literal(&mut self) -> Result<Literal, AttrError> {
        let rest = self.remaining();
        let (literal, length) = self.resolver.literal(rest, self.base + self.pos)?;
        self.advance(length);
        Ok(literal)
    }

    /// Why `text` is not a module.
    pub fn check_module(&self, text: &str) -> Result<(), String> {
        self.resolver.check_module(text)
    }

    /// The name of an attribute inside of a value, and the `=` that follows it at once.
    pub fn attribute_name(&mut self) -> Result<&'a str, AttrError> {
        let mark = self.mark();
        let starts_name = self.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let name = if starts_name { self.identifier()? } else { "" };
        if name.is_empty() || !self.rest().starts_with('=') {
            self.rewind(mark);
            return Err(self.error("a name followed by `=`"));
        }
        self.advance(1);
        Ok(name)
    }

    /// The name of one of the attributes that a value may have, and the `=`: the index in `legal`.
    pub fn sub_attribute(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        let mark = self.mark();
        let name = self.attribute_name()?;
        let index = legal.iter().position(|&l| l == name);
        index.ok_or_else(|| {
            self.rewind(mark);
            let mut error = self.error(&one_of(legal));
            error.legal = legal;
            error
        })
    }

    /// Everything that is left, verbatim, less surrounding whitespace.
    pub fn verbatim(&mut self) -> &'a str {
        let rest = self.remaining().trim_blanks_end();
        self.pos = self.text.len();
        rest
    }
}

/// "`a`" or "one of `a`, `b`, …" for an error; long lists are cut, as the nearest word is suggested anyway.
fn one_of(words: &[&str]) -> String {
    const SHOWN: usize = 40;
    let words: Vec<&str> = words.iter().copied().filter(|w| !w.is_empty()).collect();
    let shown: Vec<String> = words.iter().take(SHOWN).map(|w| format!("`{w}`")).collect();
    let more = if words.len() > SHOWN { ", …" } else { "" };
    match shown.as_slice() {
        [one] => one.clone(),
        _ => format!("one of {}{more}", shown.join(", ")),
    }
}
