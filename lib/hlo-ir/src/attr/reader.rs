//! The reader of attribute values: a cursor with information about the module.

use crate::diag::Diag;
use crate::text::cursor::{Context, Cursor, Unexpected};
use crate::{ComputationId, Literal, Shape, Span};
use std::str::FromStr;

/// The reason why the value of an attribute could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttrError {
    /// The position in the module's text.
    pub span: Span,
    /// The expected item, as a noun phrase such as "an integer"; a whole sentence if `found` is empty.
    pub expected: String,
    /// The text found instead, quoted; empty if `expected` is a whole sentence.
    pub found: String,
    /// The legal words if there are few, for suggesting the nearest one.
    pub legal: &'static [&'static str],
    /// The full diagnostic, if a reader of shapes or literals found the error.
    pub diag: Option<Box<Diag>>,
}

impl From<Diag> for AttrError {
    fn from(diag: Diag) -> Self {
        let span = diag.labels.iter().find(|l| l.primary).map_or(Span::default(), |l| l.span);
        Self { diag: Some(Box::new(diag)), ..Self::with_message(span, String::new()) }
    }
}

impl AttrError {
    /// Creates an error with `message`, a whole sentence.
    pub fn with_message(span: Span, message: String) -> Self {
        Self { span, expected: message, found: String::new(), legal: &[], diag: None }
    }
}

/// The context that attributes are read in: the computations defined so far, and the readers of shapes,
/// literals and modules.
pub trait Resolver {
    /// Returns the computation with this name (without `%`), if it was defined before.
    fn computation(&self, name: &str) -> Option<ComputationId>;

    /// Reads the shape at the start of `text`, which is at byte `base` of the module's text. Returns the
    /// shape and its length.
    ///
    /// # Errors
    /// The text does not start with a shape.
    fn shape(&self, text: &str, base: usize) -> Result<(Shape, usize), AttrError>;

    /// Reads the shape and the value after it at the start of `text`. Returns the literal and its length.
    ///
    /// # Errors
    /// The text does not start with a shape and a value of that shape.
    fn literal(&self, text: &str, base: usize) -> Result<(Literal, usize), AttrError>;

    /// Checks that `text` is a module.
    ///
    /// # Errors
    /// The first parse error of the text, as a message.
    fn check_module(&self, text: &str) -> Result<(), String>;
}

/// A computation whose body is written in place of its name (`to_apply={ … }`). It is parsed beforehand.
#[derive(Clone, Copy, Debug)]
pub struct InlineComputation {
    /// The span of the body in the module's text, including the braces.
    pub span: Span,
    /// The computation parsed from it.
    pub id: ComputationId,
}

/// The context for reading attribute values.
#[derive(Clone, Copy)]
pub struct AttrContext<'a> {
    /// The computations defined so far, and the readers of other parts of the language.
    pub resolver: &'a dyn Resolver,
    /// The computations whose bodies are in the value, in the order of the text.
    pub inline: &'a [InlineComputation],
}

impl Context for AttrContext<'_> {
    type Error = AttrError;

    fn error(Unexpected { span, expected, found }: Unexpected) -> AttrError {
        let found = if span.is_empty() { "the end of the value".into() } else { found };
        AttrError { span, expected, found, legal: &[], diag: None }
    }
}

/// A cursor over one attribute's value.
pub type AttrReader<'a> = Cursor<'a, AttrContext<'a>>;

impl<'a> AttrReader<'a> {
    /// Creates an error with this message for the text from `start` (see [`Cursor::offset`]) to the current
    /// position.
    pub fn error_since(&self, start: usize, message: String) -> AttrError {
        AttrError::with_message(self.since(start), message)
    }

    /// Reads one of a few words. Returns its index in `legal`.
    ///
    /// # Errors
    /// The next token is not a name in `legal`. The error lists the legal words. The reader does not advance.
    pub fn one_of(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        self.read_word(legal, |a, b| a == b)
    }

    /// Reads one of a few words, ignoring case. Returns its index in `legal`.
    ///
    /// # Errors
    /// As [`AttrReader::one_of`].
    pub fn one_of_ignoring_case(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        self.read_word(legal, str::eq_ignore_ascii_case)
    }

    fn read_word(
        &mut self,
        legal: &'static [&'static str],
        same: impl Fn(&str, &str) -> bool,
    ) -> Result<usize, AttrError> {
        let start = self.offset_of_next();
        let word = self.name();
        // An empty word is a default that is never written.
        if let Some(index) = legal.iter().position(|w| !w.is_empty() && same(w, word)) {
            return Ok(index);
        }
        let span = self.since(start);
        self.rewind(start);
        let mut error = self.expected(&one_of(legal));
        error.legal = legal;
        if !span.is_empty() {
            error.span = span;
        }
        Err(error)
    }

    /// Reads an integer that fits an `i64`.
    ///
    /// # Errors
    /// The next token is not an integer, needs more than 64 bits, or has a fraction or an exponent.
    pub fn integer(&mut self) -> Result<i64, AttrError> {
        let rest = self.remaining();
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
        let text = &rest[..sign + digits];
        // A fraction or an exponent makes it a decimal number.
        let more = rest[sign + digits..].chars().next();
        let decimal = more.is_some_and(|c| matches!(c, '.' | 'e' | 'E'));
        if digits == 0 || decimal {
            return Err(self.expected("an integer"));
        }
        // As in XLA, an unsigned 64-bit number is read as the signed number with the same bits.
        let value = text.parse().ok().or_else(|| text.parse::<u64>().ok().map(|n| n as i64));
        let start = self.offset();
        self.advance(sign + digits);
        value.ok_or_else(|| self.error_since(start, "the number does not fit 64 bits".into()))
    }

    /// Reads a finite number: an integer or a decimal number, such as `1`, `-0.5` or `2e-3`.
    ///
    /// # Errors
    /// The next token is not a number, or does not fit `T`.
    pub(super) fn decimal<T: FromStr + Into<f64> + Copy>(&mut self) -> Result<T, AttrError> {
        let rest = self.remaining();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let text = &rest[..end];
        let first = text.strip_prefix('-').unwrap_or(text).bytes().next();
        let starts_number = first.is_some_and(|b| b.is_ascii_digit() || b == b'.');
        let Some(value) = text.parse::<T>().ok().filter(|_| starts_number) else {
            return Err(self.expected("a number"));
        };
        let start = self.offset();
        self.advance(end);
        if value.into().is_finite() {
            Ok(value)
        } else {
            Err(self.error_since(start, "the number is too large".into()))
        }
    }

    /// Reads an integer that fits an `i32`.
    ///
    /// # Errors
    /// The next token is not an integer, or does not fit an `i32`.
    pub fn integer32(&mut self) -> Result<i32, AttrError> {
        let start = self.offset_of_next();
        let n = self.integer()?;
        i32::try_from(n).map_err(|_| self.error_since(start, "the number does not fit 32 bits".into()))
    }

    /// Reads an identifier: letters, digits, `_`, `.` and `-`.
    ///
    /// # Errors
    /// The next token is not a name.
    pub fn identifier(&mut self) -> Result<&'a str, AttrError> {
        match self.name() {
            "" => Err(self.expected("a name")),
            name => Ok(name),
        }
    }

    /// Reads a computation: its name, with or without `%`, or its body.
    ///
    /// # Errors
    /// The next token is not the name of a computation, or no computation with this name is defined before.
    pub fn computation(&mut self) -> Result<ComputationId, AttrError> {
        let start = self.offset_of_next();
        let AttrContext { resolver, inline } = *self.context();
        // Inline computations are in the order of the text.
        let found = inline.binary_search_by_key(&start, |c| c.span.start as usize);
        if let Some(c) = found.ok().and_then(|n| inline.get(n)) {
            self.advance((c.span.end - c.span.start) as usize);
            return Ok(c.id);
        }
        // A name in braces is an error. The message depends on whether the computation exists.
        let in_braces = self.eat("{");
        let name_start = self.offset_of_next();
        let name = self.percent_word();
        if name.is_empty() {
            return Err(self.expected("the name of a computation"));
        }
        match resolver.computation(name) {
            Some(id) if !in_braces => Ok(id),
            Some(_) => Err(self.error_since(start, format!("expected `{name}` without braces"))),
            None => {
                let message = format!("no computation `{name}` is defined before this point");
                Err(self.error_since(name_start, message))
            }
        }
    }

    /// Reads a shape.
    ///
    /// # Errors
    /// The next token is not a shape.
    pub fn shape(&mut self) -> Result<Shape, AttrError> {
        let rest = self.remaining();
        let (shape, length) = self.context().resolver.shape(rest, self.offset())?;
        self.advance(length);
        Ok(shape)
    }

    /// Reads a shape and a value of that shape.
    ///
    /// # Errors
    /// The text does not continue with a shape and a value of that shape.
    pub fn literal(&mut self) -> Result<Literal, AttrError> {
        let rest = self.remaining();
        let (literal, length) = self.context().resolver.literal(rest, self.offset())?;
        self.advance(length);
        Ok(literal)
    }

    /// Checks that `text` is a module.
    ///
    /// # Errors
    /// As [`Resolver::check_module`].
    pub fn check_module(&self, text: &str) -> Result<(), String> {
        self.context().resolver.check_module(text)
    }

    /// Reads the name of an attribute inside a value, and the `=` directly after it.
    ///
    /// # Errors
    /// No name with a `=` directly after it comes next. The reader does not advance.
    pub fn attribute_name(&mut self) -> Result<&'a str, AttrError> {
        let start = self.offset_of_next();
        let name = self.word();
        if name.is_empty() || !self.eat_next("=") {
            self.rewind(start);
            return Err(self.expected("a name followed by `=`"));
        }
        Ok(name)
    }

    /// Reads the name of one of the attributes that a value may have, and the `=`. Returns its index in
    /// `legal`.
    ///
    /// # Errors
    /// No name in `legal` with a `=` comes next. The error lists the legal names. The reader does not
    /// advance.
    pub fn sub_attribute(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        let start = self.offset_of_next();
        let name = self.attribute_name()?;
        let index = legal.iter().position(|&l| l == name);
        index.ok_or_else(|| {
            self.rewind(start);
            let mut error = self.expected(&one_of(legal));
            error.legal = legal;
            error
        })
    }
}

/// Formats "`a`" or "one of `a`, `b`, …" for an error. Long lists are cut, since the error also suggests the
/// nearest word.
fn one_of(words: &[&str]) -> String {
    const MAX_LISTED_WORDS: usize = 40;
    let words: Vec<&str> = words.iter().copied().filter(|w| !w.is_empty()).collect();
    let shown: Vec<String> = words.iter().take(MAX_LISTED_WORDS).map(|w| format!("`{w}`")).collect();
    let more = if words.len() > MAX_LISTED_WORDS { ", …" } else { "" };
    match shown.as_slice() {
        [one] => one.clone(),
        _ => format!("one of {}{more}", shown.join(", ")),
    }
}
