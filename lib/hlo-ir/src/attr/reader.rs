//! What attribute values are read with: the cursor and what it knows of the module.

use crate::diag::Diag;
use crate::text::blank::TrimBlanks;
use crate::text::cursor::{Context, Cursor, Unexpected};
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
    ///
    /// # Errors
    /// The text does not start with a shape.
    fn shape(&self, text: &str, base: usize) -> Result<(Shape, usize), AttrError>;

    /// The shape and the value after it that `text` starts with, and their length.
    ///
    /// # Errors
    /// The text does not start with a shape and a value of that shape.
    fn literal(&self, text: &str, base: usize) -> Result<(Literal, usize), AttrError>;

    /// Checks that `text` is a module.
    ///
    /// # Errors
    /// The first error of the text as a module, in words.
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

/// What the values of attributes are read with.
#[derive(Clone, Copy)]
pub struct AttrContext<'a> {
    /// The computations defined so far, and the readers of other parts of the language.
    pub resolver: &'a dyn Resolver,
    /// The computations that stand in the value in place of names, in the text's order.
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
    /// The error with a message of its own, over the text from `start` (as [`Cursor::offset`]) up to here.
    pub fn error_since(&self, start: usize, message: String) -> AttrError {
        AttrError::says(self.since(start), message)
    }

    /// One of a few words: the index in `legal`.
    ///
    /// # Errors
    /// No name comes next, or one that is not in `legal`, which the error lists. The reader stays before
    /// it.
    pub fn one_of(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        self.word_among(legal, |a, b| a == b)
    }

    /// One of a few words, in capital or small letters: the index in `legal`.
    ///
    /// # Errors
    /// As [`AttrReader::one_of`].
    pub fn one_of_any_case(&mut self, legal: &'static [&'static str]) -> Result<usize, AttrError> {
        self.word_among(legal, str::eq_ignore_ascii_case)
    }

    fn word_among(
        &mut self,
        legal: &'static [&'static str],
        same: impl Fn(&str, &str) -> bool,
    ) -> Result<usize, AttrError> {
        let start = self.offset_of_next();
        let word = self.name();
        // An empty text stands for a value that is not written.
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

    /// An integer that fits an `i64`.
    ///
    /// # Errors
    /// What comes next is not an integer, needs more than 64 bits, or has a fraction or an exponent.
    pub fn integer(&mut self) -> Result<i64, AttrError> {
        let rest = self.remaining();
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
                self.advance(sign + digits);
                Ok(n)
            }
            None => Err(self.expected("an integer")),
        }
    }

    /// An integer that fits an `i32`.
    ///
    /// # Errors
    /// What comes next is not an integer, or does not fit an `i32`.
    pub fn integer32(&mut self) -> Result<i32, AttrError> {
        let start = self.offset_of_next();
        let n = self.integer()?;
        i32::try_from(n).map_err(|_| self.error_since(start, "the number does not fit 32 bits".into()))
    }

    /// An identifier: letters, digits, `_`, `.` and `-`.
    ///
    /// # Errors
    /// What comes next is not a name.
    pub fn identifier(&mut self) -> Result<&'a str, AttrError> {
        match self.name() {
            "" => Err(self.expected("a name")),
            name => Ok(name),
        }
    }

    /// A computation: its name, with or without `%`, or its body.
    ///
    /// # Errors
    /// What comes next is not the name of a computation, or none of that name is defined before.
    pub fn computation(&mut self) -> Result<ComputationId, AttrError> {
        let start = self.offset_of_next();
        let AttrContext { resolver, inline } = *self.context();
        // They are in the order of the text.
        let found = inline.binary_search_by_key(&start, |c| c.span.start as usize);
        if let Some(c) = found.ok().and_then(|n| inline.get(n)) {
            self.advance((c.span.end - c.span.start) as usize);
            return Ok(c.id);
        }
        // A name in the braces of a body: it stands without them, but may be wrong as well.
        let in_braces = self.eat("{");
        let name_start = self.offset_of_next();
        self.eat("%");
        if !(self.peek().is_ascii_alphanumeric() || self.peek() == b'_') {
            return Err(self.expected("the name of a computation"));
        }
        let name = self.identifier()?;
        match resolver.computation(name) {
            Some(id) if !in_braces => Ok(id),
            Some(_) => Err(self.error_since(start, format!("expected `{name}` without braces"))),
            None => {
                let message = format!("no computation `{name}` is defined before this point");
                Err(self.error_since(name_start, message))
            }
        }
    }

    /// A shape.
    ///
    /// # Errors
    /// What comes next is not a shape.
    pub fn shape(&mut self) -> Result<Shape, AttrError> {
        let rest = self.remaining();
        let (shape, length) = self.context().resolver.shape(rest, self.offset())?;
        self.advance(length);
        Ok(shape)
    }

    /// A shape and a value of it.
    ///
    /// # Errors
    /// What comes next is not a shape and a value of it.
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

    /// The name of an attribute inside of a value, and the `=` that follows it at once.
    ///
    /// # Errors
    /// No name comes next, or no `=` right behind it. The reader stays before it.
    pub fn attribute_name(&mut self) -> Result<&'a str, AttrError> {
        let start = self.offset_of_next();
        let name = self.word();
        if name.is_empty() || !self.eat_next("=") {
            self.rewind(start);
            return Err(self.expected("a name followed by `=`"));
        }
        Ok(name)
    }

    /// The name of one of the attributes that a value may have, and the `=`: the index in `legal`.
    ///
    /// # Errors
    /// No name with a `=` comes next, or one that is not in `legal`, which the error lists. The reader
    /// stays before it.
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

    /// Everything that is left, verbatim, less surrounding whitespace.
    pub fn verbatim(&mut self) -> &'a str {
        let rest = self.remaining();
        self.advance(rest.len());
        rest.trim_blanks_end()
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
