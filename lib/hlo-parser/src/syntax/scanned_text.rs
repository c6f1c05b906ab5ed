//! The text that the parser reads. It has been scanned: it contains no comments, strings contain only `_`,
//! and every bracket has a match unless it was reported. Reading stops at the first token that does not fit.

use super::{Definition, Part, Text, definition, head, inside, root, wanted};
use crate::grammar::syntax_error;
use crate::scan::matching;
use crate::shape;
use hlo_ir::blank::blanks;
use hlo_ir::cursor::{Cursor, goes_on_name};
use hlo_ir::diag::Diag;
use hlo_ir::{Shape, Span};

/// The error at the position where reading stopped.
pub type Stop = Box<Diag>;

/// A scanned text that is read from a given position.
pub struct ScannedText<'t> {
    text: &'t str,
    /// The current position.
    pub c: Cursor<'t>,
    /// The last shape that was read.
    pub shape: Shape,
    /// Whether reading stopped in a shape.
    pub has_wrong_shape: bool,
    /// The first opcode that is followed by a parenthesis.
    pub opcode: Option<&'t str>,
    word: Word,
}

/// The bytes of a name, with an optional `%` before it. May be empty.
#[derive(Default)]
struct Word {
    start: usize,
    end: usize,
    has_percent: bool,
    /// Whether the name (after any `%`) begins with a letter or `_`.
    is_some: bool,
    /// The first byte of the next token.
    after: u8,
}

impl<'t> ScannedText<'t> {
    /// Creates a reader of the text from `at` on.
    pub fn new(text: &'t str, at: usize) -> Self {
        let mut c = Cursor::new(text, 0);
        c.rewind(at);
        let word = Word { start: usize::MAX, ..Word::default() };
        Self { text, c, shape: Shape::Token, has_wrong_shape: false, opcode: None, word }
    }

    /// Reads the start of an instruction. If no name is needed and there is none, reads only `ROOT`.
    ///
    /// # Errors
    /// A token that does not fit.
    pub fn definition(&mut self, needs_name: bool) -> Result<Definition<&'t str>, Stop> {
        let start = self.offset();
        let root = root(self);
        if !needs_name && !matches!(self.ahead(Part::Operand), Some(b'=' | b':')) {
            return Ok(Definition { root, name: "", goes_on: true });
        }
        self.c.rewind(start);
        definition(self)
    }

    /// Reads an instruction without its attributes, and builds nothing.
    ///
    /// # Errors
    /// A token that does not fit.
    pub fn skip_to_attributes(&mut self, needs_name: bool) -> Result<(), Stop> {
        self.definition(needs_name)?;
        let head = head(self)?;
        inside(self, &head, 0)
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Returns the next word.
    #[inline]
    fn word(&mut self) -> &Word {
        let start = self.c.offset_of_next();
        if self.word.start != start {
            self.look_at(start);
        }
        &self.word
    }

    #[inline(never)]
    fn look_at(&mut self, start: usize) {
        let has_percent = self.byte(start) == b'%';
        let first = if has_percent { start + 1 } else { start };
        let is_some = self.byte(first).is_ascii_alphabetic() || self.byte(first) == b'_';
        let mut end = first;
        while goes_on_name(self.byte(end)) {
            end += 1;
        }
        self.word = Word { start, end, has_percent, is_some, after: self.after(end) };
    }

    /// Returns the first byte after the blanks at `at`.
    fn after(&self, at: usize) -> u8 {
        self.byte(at + blanks(&self.text.as_bytes()[at..]))
    }

    /// Returns the end of the digits at `at`.
    fn digits(&self, at: usize) -> usize {
        at + self.text.as_bytes()[at..].iter().take_while(|b| b.is_ascii_digit()).count()
    }

    /// Returns the end of the tuple elements selected from an operand whose name ends at `end`.
    fn elements(&self, mut end: usize) -> usize {
        while self.byte(end) == b'#' && self.byte(end + 1).is_ascii_digit() {
            end = self.digits(end + 1);
        }
        end
    }

    #[cold]
    fn stop(&mut self, wanted: &str) -> Stop {
        let at = self.c.offset_of_next();
        // For sizes without a type, the error of the shape reader is more precise.
        let without_type =
            matches!(wanted, wanted::SHAPE_OR_OPCODE | wanted::OPERAND) && self.byte(at) == b'[';
        if without_type && let Err(stop) = self.shape() {
            return stop;
        }
        Box::new(syntax_error(wanted, self.text, at, 0))
    }
}

impl<'t> Text for ScannedText<'t> {
    type Token = &'t str;
    type Stop = Stop;
    // The scan already limits the nesting depth of brackets.
    const MAX_DEPTH: usize = usize::MAX;

    #[inline]
    fn offset(&mut self) -> usize {
        self.c.offset_of_next()
    }

    #[inline]
    fn peek(&mut self) -> u8 {
        self.c.peek()
    }

    #[inline(always)]
    fn ahead(&mut self, part: Part) -> Option<u8> {
        let &Word { start, end, has_percent, is_some, after } = self.word();
        let fits = match part {
            Part::Root => after != b'=' && self.is_word("ROOT"),
            // A word without `%` directly followed by `=` is the name of an attribute.
            Part::Name => has_percent || self.byte(end) != b'=',
            Part::Opcode => !has_percent,
            Part::Operand if after == b'#' => return is_some.then(|| self.after(self.elements(end))),
            Part::Operand => true,
            Part::Number => {
                let is_number =
                    self.byte(start).is_ascii_digit() || self.byte(start) == b'-' && end > start + 1;
                return is_number.then_some(after);
            }
            Part::Sign => false,
        };
        (is_some && fits).then_some(after)
    }

    #[inline]
    fn is_word(&mut self, word: &str) -> bool {
        let &Word { start, end, .. } = self.word();
        self.text.as_bytes().get(start..end) == Some(word.as_bytes())
    }

    #[inline(always)]
    fn take(&mut self, part: Part) -> &'t str {
        if part == Part::Sign {
            self.c.advance(1);
            return "";
        }
        let &Word { start, mut end, has_percent, after, .. } = self.word();
        match part {
            // The definition of a name without `%` may end with a colon.
            Part::Name if !has_percent && self.byte(end) == b':' => end += 1,
            Part::Operand if after == b'#' => end = self.elements(end),
            // If it is not a number, the error is at the character after the digits.
            Part::Number if !matches!(after, b',' | b')') => end = self.digits(start + 1),
            _ => {}
        }
        self.c.rewind(end);
        let token = &self.text[start..end];
        if part == Part::Opcode && after == b'(' {
            self.opcode.get_or_insert(token);
        }
        token
    }

    fn shape(&mut self) -> Result<Span, Stop> {
        let start = self.c.offset_of_next();
        let read = shape::read(&mut self.c);
        self.has_wrong_shape = read.is_err();
        self.shape = read?;
        Ok(self.c.since(start))
    }

    fn group(&mut self) -> Result<(), Stop> {
        let end = matching(self.text, self.c.offset_of_next());
        self.c.rewind(end + 1);
        if end < self.text.len() { Ok(()) } else { Err(self.stop(wanted::CLOSE)) }
    }

    fn unexpected(&mut self, wanted: &'static str) -> Result<(), Stop> {
        Err(self.stop(wanted))
    }
}
