//! The one reader of an instruction's inside, `ROOT name = shape opcode(operands)`.
//!
//! The grammar finds instructions and their attributes, and takes all before the attributes for one token. That is taken
//! apart here, for the parse; where the grammar finds no instruction, how far this one comes is the error; and the
//! outline of a text is what it reads when it goes on all the same. The reader asks a [`Text`] for tokens and tells it
//! where something else is wanted than what comes next: [`Exact`], the parser's, stops there.

mod exact;
#[cfg(test)]
mod tests;

pub use exact::{Exact, Stop};

use hlo_ir::Span;

/// What an instruction needs at a place, in words.
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

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `ROOT` before an instruction.
    Root,
    /// An instruction's name where it is defined.
    Name,
    /// An opcode, or the type that a shape starts with.
    Opcode,
    /// An instruction's name as an operand, with the elements `#n` that are picked of it.
    Operand,
    /// A parameter's number.
    Number,
    /// Any other character.
    Sign,
}

/// The tokens of a text, and what becomes of those that fit nowhere.
pub trait Text {
    /// A token that was consumed.
    type Token: Copy + Default;
    /// Why the reading ends.
    type Stop;
    /// How deep operations are looked into.
    const MAX_DEPTH: usize;

    /// The position of the next token.
    fn offset(&mut self) -> usize;
    /// The first byte of the next token; 0 at the end.
    fn peek(&mut self) -> u8;
    /// The first byte of what follows the next token, if that may be `part`.
    fn ahead(&mut self, part: Part) -> Option<u8>;
    /// True if the next token is this word.
    fn is_word(&mut self, word: &str) -> bool;
    /// Consumes the next token.
    fn take(&mut self, part: Part) -> Self::Token;
    /// Consumes a shape; gives its place.
    fn shape(&mut self) -> Result<Span, Self::Stop>;
    /// Consumes a parenthesis and all up to the one that closes it.
    fn group(&mut self) -> Result<(), Self::Stop>;
    /// Something else is wanted than what comes next.
    fn unexpected(&mut self, wanted: &'static str) -> Result<(), Self::Stop>;
    /// True where the text or the instruction is cut off before what is wanted.
    fn is_cut(&mut self, _wanted: &'static str) -> bool {
        false
    }
    /// Consumes what fits nowhere.
    fn skip(&mut self) {}
}

type Read<T, R> = Result<R, <T as Text>::Stop>;

/// `ROOT? name =`.
#[derive(Default)]
pub struct Definition<W> {
    /// `ROOT`.
    pub root: Option<W>,
    /// The name.
    pub name: W,
    /// False if there is no `=`: then nothing follows.
    pub goes_on: bool,
}

/// `shape? opcode`: an operation up to its parentheses.
pub struct Head<W> {
    /// Where it starts.
    pub start: usize,
    /// The shape's place, if it is written.
    pub shape: Option<Span>,
    /// The opcode; none if the text is cut off before it.
    pub opcode: W,
    /// True for the one opcode whose parentheses hold something else than operands.
    pub is_constant: bool,
}

/// What stands between the parentheses of an operation.
pub enum Operand<W> {
    /// The name of an instruction, and the shape before it.
    Name(Option<Span>, W),
    /// A parameter's number.
    Number(W),
    /// A shape that nothing follows.
    Shape(Span),
    /// An operation without a name, up to its parentheses: what is in them comes before the next operand.
    Operation(Head<W>),
}

/// Reads what an instruction starts with.
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

/// Reads `ROOT` if it comes next.
pub fn root<T: Text>(t: &mut T) -> Option<T::Token> {
    t.ahead(Part::Root).map(|_| t.take(Part::Root))
}

/// Reads an operation up to its parentheses.
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

/// True before a shape: a type and its sizes, a tuple, or a buffer.
#[inline]
pub fn starts_shape<T: Text>(t: &mut T) -> bool {
    match t.ahead(Part::Opcode) {
        None => t.peek() == b'(',
        Some(next) => next == b'[' || next == b'(' && t.is_word("b"),
    }
}

/// Reads the opcode of an operation that starts with a `shape` at `start`.
#[inline]
fn called<T: Text>(t: &mut T, start: usize, shape: Option<Span>) -> Read<T, Head<T::Token>> {
    let is_constant = t.is_word("constant");
    let opcode = t.take(Part::Opcode);
    if t.peek() != b'(' {
        t.unexpected(wanted::OPEN)?;
    }
    Ok(Head { start, shape, opcode, is_constant })
}

/// Reads what stands in the parentheses of an operation in so many others, if there are any, and does nothing with it.
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

/// Operands that are read one by one. Commas are needed between them; more of them do no harm.
pub struct Operands {
    separated: bool,
}

impl Operands {
    /// Reads the parenthesis before them.
    pub fn open<T: Text>(t: &mut T) -> Self {
        t.take(Part::Sign);
        Self { separated: true }
    }

    /// Reads the next, or the parenthesis after the last.
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

/// Reads an operand; `None` if something else stands there.
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
        None if t.ahead(Part::Number).is_some() => Ok(Some(Operand::Number(t.take(Part::Number)))),
        Some(b'(') if t.ahead(Part::Opcode).is_some() => {
            Ok(Some(Operand::Operation(called(t, start, shape)?)))
        }
        // A name that is called or has sizes is neither an opcode nor a type.
        None | Some(b'(' | b'[') => {
            t.unexpected(wanted)?;
            t.skip();
            Ok(None)
        }
        Some(_) => Ok(Some(Operand::Name(shape, t.take(Part::Operand)))),
    }
}
