//! The only reader of the inside of an instruction, `ROOT name = shape opcode(operands)`.
//!
//! The grammar finds instructions and their attributes. It treats the part before the attributes as one
//! token, which this module reads. The reader has three uses:
//!
//! - The parser builds instructions with it.
//! - If the grammar finds no instruction, the position at which the reader stops is the position of the
//!   error.
//! - The outline of a text is what the reader finds when it continues after errors.
//!
//! The reader requests tokens from a [`Text`] and reports tokens that do not fit. [`ScannedText`], the text
//! of the parser, stops at the first of these.

mod scanned_text;

pub use scanned_text::{ScannedText, Stop};

use hlo_ir::Span;

/// Descriptions of the tokens that an instruction requires at each position.
pub mod wanted {
    pub const NAME: &str = "an instruction `name = …`";
    pub const EQUALS: &str = "`=`";
    pub const SHAPE_OR_OPCODE: &str = "an opcode or a shape such as `f32[2,3]`";
    pub const OPCODE: &str = "an opcode";
    pub const OPEN: &str = "`(`";
    pub const OPERAND: &str = "an operand or `)`";
    pub const AFTER_SHAPE: &str = "an operand";
    pub const SEPARATOR: &str = "`,` or `)`";
    pub const CLOSE: &str = "`)`";
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `ROOT` before an instruction.
    Root,
    /// The name of an instruction in its definition.
    Name,
    /// An opcode, or the type at the start of a shape.
    Opcode,
    /// An instruction's name as an operand, with the tuple elements `#n` selected from it.
    Operand,
    /// A parameter's number.
    Number,
    /// Any other character.
    Sign,
}

/// A source of tokens, which also handles tokens that do not fit.
pub trait Text {
    /// A consumed token.
    type Token: Copy + Default;
    /// The reason to stop reading.
    type Stop;
    /// Maximum nesting depth of operations that are read.
    const MAX_DEPTH: usize;

    /// Returns the position of the next token.
    fn offset(&mut self) -> usize;
    /// Returns the first byte of the next token; 0 at the end.
    fn peek(&mut self) -> u8;
    /// Returns the first byte after the next token, if that token can be a `part`.
    fn ahead(&mut self, part: Part) -> Option<u8>;
    /// Returns whether the next token is this word.
    fn is_word(&mut self, word: &str) -> bool;
    /// Consumes the next token.
    fn take(&mut self, part: Part) -> Self::Token;
    /// Consumes a shape and returns its span.
    fn shape(&mut self) -> Result<Span, Self::Stop>;
    /// Consumes a parenthesis and everything up to the one that closes it.
    fn group(&mut self) -> Result<(), Self::Stop>;
    /// Handles a next token that is not the `wanted` one.
    fn unexpected(&mut self, wanted: &'static str) -> Result<(), Self::Stop>;
    /// Returns whether the text or the instruction ends before the wanted token.
    fn is_cut(&mut self, _wanted: &'static str) -> bool {
        false
    }
    /// Consumes a token that does not fit.
    fn skip(&mut self) {}
}

type Read<T, R> = Result<R, <T as Text>::Stop>;

/// The definition of a name: `ROOT? name =`.
#[derive(Default)]
pub struct Definition<W> {
    /// The token `ROOT`.
    pub root: Option<W>,
    /// The name.
    pub name: W,
    /// Whether an `=` follows. If not, nothing else is read.
    pub goes_on: bool,
}

/// An operation up to its parentheses: `shape? opcode`.
pub struct Head<W> {
    /// The start offset.
    pub start: usize,
    /// The span of the shape, if there is one.
    pub shape: Option<Span>,
    /// The opcode. The default token if the text ends before it.
    pub opcode: W,
    /// Whether the opcode is `constant`, the only one whose parentheses do not contain operands.
    pub is_constant: bool,
}

/// An item between the parentheses of an operation.
pub enum Operand<W> {
    /// The name of an instruction, and the shape before it.
    Name(Option<Span>, W),
    /// A parameter's number, and the shape before it, which no valid text has.
    Number(Option<Span>, W),
    /// A shape without a name after it.
    Shape(Span),
    /// An operation without a name, up to its parentheses. Read its contents before the next operand.
    Operation(Head<W>),
}

/// Reads the start of an instruction.
#[inline]
pub fn definition<T: Text>(t: &mut T) -> Read<T, Definition<T::Token>> {
    let root = root(t);
    if t.ahead(Part::Name).is_none() {
        t.unexpected(wanted::NAME)?;
    }
    let name = t.take(Part::Name);
    let goes_on = t.peek() == b'=';
    if goes_on {
        t.take(Part::Sign);
    } else {
        t.unexpected(wanted::EQUALS)?;
    }
    Ok(Definition { root, name, goes_on })
}

/// Reads `ROOT` if it is the next token.
pub fn root<T: Text>(t: &mut T) -> Option<T::Token> {
    t.ahead(Part::Root).map(|_| t.take(Part::Root))
}

/// Reads an operation up to its parentheses.
///
/// # Errors
/// The text stops at a token that does not fit.
#[inline]
pub fn head<T: Text>(t: &mut T) -> Read<T, Head<T::Token>> {
    let start = t.offset();
    let shape = if starts_shape(t) { Some(t.shape()?) } else { None };
    let wanted = if shape.is_some() { wanted::OPCODE } else { wanted::SHAPE_OR_OPCODE };
    if t.is_cut(wanted) || t.ahead(Part::Opcode).is_none() {
        t.unexpected(wanted)?;
        return Ok(Head { start, shape, opcode: T::Token::default(), is_constant: false });
    }
    called(t, start, shape)
}

/// Returns whether a shape follows: a type and its sizes, a tuple, or a buffer.
#[inline]
pub fn starts_shape<T: Text>(t: &mut T) -> bool {
    match t.ahead(Part::Opcode) {
        None => t.peek() == b'(',
        Some(next) => next == b'[' || next == b'(' && t.is_word("b"),
    }
}

/// Reads the opcode of an operation that starts at `start` with a `shape`.
#[inline]
fn called<T: Text>(t: &mut T, start: usize, shape: Option<Span>) -> Read<T, Head<T::Token>> {
    let is_constant = t.is_word("constant");
    let opcode = t.take(Part::Opcode);
    if t.peek() != b'(' {
        t.unexpected(wanted::OPEN)?;
    }
    Ok(Head { start, shape, opcode, is_constant })
}

/// Skips the contents of an operation's parentheses, if there are any. `depth` is the number of enclosing
/// parentheses.
pub fn inside<T: Text>(t: &mut T, head: &Head<T::Token>, depth: usize) -> Read<T, ()> {
    if t.peek() != b'(' {
        return Ok(());
    }
    if head.is_constant || depth == T::MAX_DEPTH {
        return t.group();
    }
    let mut operands = Operands::open(t);
    while let Some(operand) = operands.next(t)? {
        if let Operand::Operation(head) = operand {
            inside(t, &head, depth + 1)?;
        }
    }
    Ok(())
}

/// A reader of operands, one by one. Commas between them are required, and additional commas are ignored.
pub struct Operands {
    separated: bool,
}

impl Operands {
    /// Reads the opening parenthesis.
    pub fn open<T: Text>(t: &mut T) -> Self {
        t.take(Part::Sign);
        Self { separated: true }
    }

    /// Reads the next operand, or the parenthesis after the last one.
    ///
    /// # Errors
    /// The text stops at a token that does not fit.
    pub fn next<T: Text>(&mut self, t: &mut T) -> Read<T, Option<Operand<T::Token>>> {
        while !t.is_cut(if self.separated { wanted::OPERAND } else { wanted::SEPARATOR }) {
            match t.peek() {
                b')' => {
                    t.take(Part::Sign);
                    break;
                }
                b',' => {
                    t.take(Part::Sign);
                    self.separated = true;
                }
                _ => {
                    if !self.separated {
                        t.unexpected(wanted::SEPARATOR)?;
                    }
                    self.separated = false;
                    let operand = operand(t)?;
                    if operand.is_some() {
                        return Ok(operand);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Reads an operand. Returns `None` if the next token is something else.
#[inline]
fn operand<T: Text>(t: &mut T) -> Read<T, Option<Operand<T::Token>>> {
    let start = t.offset();
    let (mut shape, mut wanted) = (None, wanted::OPERAND);
    if starts_shape(t) {
        let read = t.shape()?;
        wanted = wanted::AFTER_SHAPE;
        if matches!(t.peek(), b',' | b')') || t.is_cut(wanted) {
            return Ok(Some(Operand::Shape(read)));
        }
        if starts_shape(t) {
            t.unexpected(wanted)?;
            return Ok(Some(Operand::Shape(read)));
        }
        shape = Some(read);
    }
    match t.ahead(Part::Operand) {
        None if t.ahead(Part::Number).is_some() => Ok(Some(Operand::Number(shape, t.take(Part::Number)))),
        Some(b'(') if t.ahead(Part::Opcode).is_some() => {
            Ok(Some(Operand::Operation(called(t, start, shape)?)))
        }
        // A name with parentheses or sizes after it is neither a known opcode nor a type.
        None | Some(b'(' | b'[') => {
            t.unexpected(wanted)?;
            t.skip();
            Ok(None)
        }
        Some(_) => Ok(Some(Operand::Name(shape, t.take(Part::Operand)))),
    }
}
