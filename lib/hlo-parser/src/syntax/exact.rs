//! The text that the parser reads: scanned, so that there are no comments, nothing but `_` in strings, and no bracket
//! without the one that closes it, unless that was reported. The reading stops where something does not fit.

use super::{Definition, Part, Text, definition, head, inside, root, wanted};
use crate::grammar::syntax_error;
use crate::scan::matching;
use crate::shape;
use hlo_ir::blank::blanks;
use hlo_ir::cursor::{Cursor, goes_on_name};
use hlo_ir::diag::Diag;
use hlo_ir::{Shape, Span};

/// The error where the reading stopped.
pub type Stop = Box<Diag>;

/// A scanned text that is read from some position on.
pub struct Exact<'t> {
    text: &'t str,
    /// Where it is read.
    pub c: Cursor<'t>,
    /// The shape that was read last.
    pub shape: Shape,
    /// True if the reading stopped in a shape.
    pub has_wrong_shape: bool,
    /// The first opcode, if a parenthesis follows it.
    pub opcode: Option<&'t str>,
    word: Word,
}

/// The bytes of a name, with a `%` before them, or none.
#[derive(Default)]
struct Word {
    start: usize,
    end: usize,
    has_percent: bool,
    /// True if what follows the `%` begins with a letter or `_`.
    is_some: bool,
    /// The first byte of the next token.
    after: u8,
}

impl<'t> Exact<'t> {
    /// The text from `at` on.
    pub fn new(text: &'t str, at: usize) -> Self {
        let mut c = Cursor::new(text, 0);
        c.rewind(at);
        let word = Word { start: usize::MAX, ..Word::default() };
        Self { text, c, shape: Shape::Token, has_wrong_shape: false, opcode: None, word }
    }

    /// Reads what an instruction starts with: nothing but `ROOT` if there is no name and none is needed.
    pub fn definition(&mut self, needs_name: bool) -> Result<Definition<&'t str>, Stop> {
        let start = self.offset();
        let root = root(self);
        if !needs_name && !matches!(self.ahead(Part::Operand), Some(b'=' | b':')) {
            return Ok(Definition { root, name: "", goes_on: true });
        }
        self.c.rewind(start);
        definition(self)
    }

    /// Reads an instruction but for its attributes, and builds nothing.
    pub fn skim(&mut self, needs_name: bool) -> Result<(), Stop> {
        self.definition(needs_name)?;
        let head = head(self)?;
        inside(self, &head, 0)
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The word that comes next.
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

    /// The first byte after the blanks at `at`.
    fn after(&self, at: usize) -> u8 {
        self.byte(at + blanks(&self.text.as_bytes()[at..]))
    }

    /// Where the digits at `at` end.
    fn digits(&self, at: usize) -> usize {
        at + self.text.as_bytes()[at..].iter().take_while(|b| b.is_ascii_digit()).count()
    }

    /// Where the elements end that are picked of an operand whose name ends at `end`.
    fn elements(&self, mut end: usize) -> usize {
        while self.byte(end) == b'#' && self.byte(end + 1).is_ascii_digit() {
            end = self.digits(end + 1);
        }
        end
    }

    #[cold]
    fn stop(&mut self, wanted: &str) -> Stop {
        let at = self.c.offset_of_next();
        // Of sizes without a type, what is said of shapes says more.
        let without_type =
            matches!(wanted, wanted::SHAPE_OR_OPCODE | wanted::OPERAND) && self.byte(at) == b'[';
        if without_type && let Err(stop) = self.shape() {
            return stop;
        }
        Box::new(syntax_error(wanted, self.text, at, 0))
    }
}

impl<'t> Text for Exact<'t> {
    type Token = &'t str;
    type Stop = Stop;
    // As deep as the scan lets brackets nest.
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
            // An `=` that follows at once makes a word without `%` an attribute's name.
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
            // A colon may end a name without `%` where it is defined.
            Part::Name if !has_percent && self.byte(end) == b':' => end += 1,
            Part::Operand if after == b'#' => end = self.elements(end),
            // If it is none, the error is at what follows the digits.
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
