//! The outline of a text: where its computations and instructions are, and what their parts refer to.
//!
//! It is what an editor works on: any text has one, also one that does not parse because somebody is in the
//! middle of a line. The reader never fails. Where brackets don't match it takes a line that starts like an
//! instruction for one, and a line that is not indented for the start of a computation.

mod brackets;
mod reader;
#[cfg(test)]
mod tests;
mod tokens;

pub use brackets::{Bracket, open_brackets};

use hlo_ir::Span;

/// The attributes whose value is a computation, and whether it is a list of them.
pub const COMPUTATION_ATTRIBUTES: &[(&str, bool)] = crate::attributes::COMPUTATIONS;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The name after `HloModule`.
    Module,
    /// The name of an attribute of the module.
    HeaderAttribute,
    /// A computation's name where it is defined.
    Computation,
    /// A parameter's name in a computation's signature.
    SignatureParameter,
    /// An instruction's name where it is defined.
    Instruction,
    /// A shape, layout included.
    Shape,
    /// An opcode.
    Opcode,
    /// An instruction's name as an operand.
    Operand,
    /// The position of an element of a tuple behind an operand, `0#1` in `t#0#1`.
    Element,
    /// An instruction's name among the control predecessors.
    Predecessor,
    /// A computation's name in an attribute.
    Callee,
    /// The name of an attribute of an instruction.
    Attribute,
}

/// A part of the text that means something by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub role: Role,
    /// Its place; that of a name is without the `%`.
    pub span: Span,
    /// What it belongs to: the position in [`Outline::computations`] for a computation's name and for parts of
    /// its signature, in [`Outline::instructions`] for parts of an instruction, 0 for parts of the header.
    pub owner: u32,
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputationOutline {
    /// The name's place, without `%`. Empty for one that is written in an attribute, and for the one around
    /// instructions that stand in none.
    pub name: Span,
    /// From the first token to the closing brace.
    pub span: Span,
    /// The parameters and the result; empty if not written.
    pub signature: Span,
    /// True after `ENTRY`.
    pub is_entry: bool,
    /// The instruction in whose attribute it is written.
    pub parent: Option<u32>,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionOutline {
    /// The name's place, without `%`; empty if it has none.
    pub name: Span,
    /// From `ROOT` or the name to the end of the last attribute.
    pub span: Span,
    /// The shape's place; empty if not written.
    pub shape: Span,
    /// The opcode's place; empty if not written.
    pub opcode: Span,
    /// True after `ROOT`.
    pub is_root: bool,
    /// The position of its computation.
    pub computation: u32,
}

/// What may be written at the end of a text that breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing that has a name: inside a string, a comment, a number, a new name.
    Nothing,
    /// `HloModule`, `ENTRY`, or a computation's name.
    TopLevel,
    /// An attribute of the module.
    HeaderAttribute,
    /// The value of an attribute of the module, whose name is at that place.
    HeaderValue(Span),
    /// An element type: a shape is being written.
    ElementType,
    /// `ROOT` or an instruction's name.
    Instruction,
    /// A shape or an opcode, after `=`.
    ShapeOrOpcode,
    /// An opcode, after the shape.
    Opcode,
    /// An operand of that instruction.
    Operand(u32),
    /// An attribute of that instruction.
    Attribute(u32),
    /// The value of an attribute of that instruction; the attribute's name is at that place.
    Value(u32, Span),
    /// What stands between the brackets of the value of that attribute of that instruction: see [`open_brackets`].
    Inside(u32, Span),
    /// The name of an instruction that runs before that one.
    Predecessor(u32),
    /// A computation's name.
    Callee,
}

/// The outline of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The computations by their start; one that is written in an attribute follows the one around it.
    pub computations: Vec<ComputationOutline>,
    /// The instructions by their start.
    pub instructions: Vec<InstructionOutline>,
    /// The tokens by their start. They don't overlap.
    pub tokens: Vec<Token>,
    /// The comments by their start.
    pub comments: Vec<Span>,
}

impl Outline {
    /// The token that `offset` is in or directly behind.
    pub fn token_at(&self, offset: usize) -> Option<&Token> {
        let after = self.tokens.partition_point(|t| t.span.start as usize <= offset);
        let token = self.tokens.get(after.checked_sub(1)?)?;
        (offset <= token.span.end as usize).then_some(token)
    }

    /// The token before one of the outline's.
    pub fn token_before(&self, token: &Token) -> Option<&Token> {
        let at = self.tokens.partition_point(|t| t.span.start < token.span.start);
        self.tokens.get(at.checked_sub(1)?)
    }

    /// The position of the innermost instruction that `offset` is in or directly behind.
    pub fn instruction_at(&self, offset: usize) -> Option<u32> {
        let after = self.instructions.partition_point(|i| i.span.start as usize <= offset);
        let mut at = u32::try_from(after.checked_sub(1)?).ok()?;
        loop {
            let instruction = self.instructions.get(at as usize)?;
            if offset <= instruction.span.end as usize {
                return Some(at);
            }
            // Not in the one before: perhaps in the one around it.
            at = self.computations.get(instruction.computation as usize)?.parent?;
        }
    }

    /// The tokens in a part of the text.
    pub fn tokens_in(&self, span: Span) -> &[Token] {
        let start = self.tokens.partition_point(|t| t.span.start < span.start);
        let end = self.tokens.partition_point(|t| t.span.start < span.end);
        self.tokens.get(start..end).unwrap_or_default()
    }
}

/// The outline of `text`, whatever it is. Takes linear time. A text of 4 GiB or more has an empty one, as spans
/// don't reach that far.
pub fn outline(text: &str) -> Outline {
    reader::Reader::new(text).read().0
}

/// What may be written at the end of `text`, the part of a module before the cursor. A word that is being
/// typed is not part of `text`. Also gives the outline, which the answer refers to.
pub fn expected_at_end(text: &str) -> (Expected, Outline) {
    let (outline, expected) = reader::Reader::new(text).read();
    (expected, outline)
}
