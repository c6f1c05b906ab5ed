//! The outline of a text: the positions of its computations and instructions, and the references of their
//! parts.
//!
//! Editors use the outline. Every text has one, even if it does not parse because the user is typing. The
//! reader never fails. If brackets do not match, a line that looks like an instruction is read as one, and a
//! line that is not indented starts a computation.

mod brackets;
mod reader;
mod tokens;

pub use brackets::{Bracket, open_brackets};

use hlo_ir::Span;

/// The attributes whose value is a computation, and whether it is a list of computations.
pub const COMPUTATION_ATTRIBUTES: &[(&str, bool)] = crate::attributes::COMPUTATIONS;

/// The role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The name after `HloModule`.
    Module,
    /// The name of an attribute of the module.
    HeaderAttribute,
    /// A computation's name in its definition.
    Computation,
    /// A parameter's name in a computation's signature.
    SignatureParameter,
    /// An instruction's name in its definition.
    Instruction,
    /// A shape, including its layout.
    Shape,
    /// An opcode.
    Opcode,
    /// An instruction's name as an operand.
    Operand,
    /// A tuple element index after an operand, `0#1` in `t#0#1`.
    Element,
    /// An instruction's name among the control predecessors.
    Predecessor,
    /// A computation's name in an attribute.
    Callee,
    /// The name of an attribute of an instruction.
    Attribute,
}

/// A meaningful part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The role.
    pub role: Role,
    /// The span. A name's span does not include the `%`.
    pub span: Span,
    /// The owner. For a computation's name and the parts of its signature, the index in
    /// [`Outline::computations`]. For parts of an instruction, the index in [`Outline::instructions`]. For
    /// parts of the header, 0.
    pub owner: u32,
}

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputationOutline {
    /// The span of the name, without `%`. Empty for an inline computation, and for the implicit computation
    /// of instructions outside of all computations.
    pub name: Span,
    /// The span from the first token to the closing brace.
    pub span: Span,
    /// The span of the parameters and the result; empty if absent.
    pub signature: Span,
    /// Whether it is marked `ENTRY`.
    pub is_entry: bool,
    /// For an inline computation, the instruction whose attribute contains it.
    pub parent: Option<u32>,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionOutline {
    /// The span of the name, without `%`; empty if there is none.
    pub name: Span,
    /// The span from `ROOT` or the name to the end of the last attribute.
    pub span: Span,
    /// The span of the shape; empty if absent.
    pub shape: Span,
    /// The span of the opcode; empty if absent.
    pub opcode: Span,
    /// Whether it is marked `ROOT`.
    pub is_root: bool,
    /// The index of its computation.
    pub computation: u32,
}

/// The item that can follow at the end of an incomplete text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing that has a name: the end is inside a string, a comment, a number or a new name.
    Nothing,
    /// `HloModule`, `ENTRY`, or a computation's name.
    TopLevel,
    /// An attribute of the module.
    HeaderAttribute,
    /// The value of an attribute of the module. The span is that of the attribute's name.
    HeaderValue(Span),
    /// An element type, because the end is in a shape.
    ElementType,
    /// `ROOT` or an instruction's name.
    Instruction,
    /// A shape or an opcode, after `=`.
    ShapeOrOpcode,
    /// An opcode, after the shape.
    Opcode,
    /// An operand of the instruction with this index.
    Operand(u32),
    /// An attribute of the instruction with this index.
    Attribute(u32),
    /// The value of an attribute of the instruction with this index. The span is that of the attribute's
    /// name.
    Value(u32, Span),
    /// The contents of brackets in the value of an attribute, identified like [`Expected::Value`]. See
    /// [`open_brackets`].
    Inside(u32, Span),
    /// The name of a control predecessor of the instruction with this index.
    Predecessor(u32),
    /// A computation's name.
    Callee,
}

/// The outline of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The computations, ordered by start. An inline computation follows the one that contains it.
    pub computations: Vec<ComputationOutline>,
    /// The instructions, ordered by start.
    pub instructions: Vec<InstructionOutline>,
    /// The tokens, ordered by start. They do not overlap.
    pub tokens: Vec<Token>,
    /// The comments, ordered by start.
    pub comments: Vec<Span>,
}

impl Outline {
    /// Returns the token that contains `offset` or ends there.
    pub fn token_at(&self, offset: usize) -> Option<&Token> {
        let after = self.tokens.partition_point(|t| t.span.start as usize <= offset);
        let token = self.tokens.get(after.checked_sub(1)?)?;
        (offset <= token.span.end as usize).then_some(token)
    }

    /// Returns the token before one of the outline's tokens.
    pub fn token_before(&self, token: &Token) -> Option<&Token> {
        let at = self.tokens.partition_point(|t| t.span.start < token.span.start);
        self.tokens.get(at.checked_sub(1)?)
    }

    /// Returns the index of the innermost instruction that contains `offset` or ends there.
    pub fn instruction_at(&self, offset: usize) -> Option<u32> {
        let after = self.instructions.partition_point(|i| i.span.start as usize <= offset);
        let mut at = u32::try_from(after.checked_sub(1)?).ok()?;
        loop {
            let instruction = self.instructions.get(at as usize)?;
            if offset <= instruction.span.end as usize {
                return Some(at);
            }
            // If `offset` is not in this instruction, it may be in the one whose attribute contains it.
            at = self.computations.get(instruction.computation as usize)?.parent?;
        }
    }

    /// Returns the tokens in a part of the text.
    pub fn tokens_in(&self, span: Span) -> &[Token] {
        let start = self.tokens.partition_point(|t| t.span.start < span.start);
        let end = self.tokens.partition_point(|t| t.span.start < span.end);
        self.tokens.get(start..end).unwrap_or_default()
    }
}

/// Returns the outline of any `text`, in linear time. The outline of a text of 4 GiB or more is empty,
/// because spans are `u32`.
pub fn outline(text: &str) -> Outline {
    reader::Reader::new(text).read().0
}

/// Returns the item that can follow at the end of `text`, which is the part of a module before the cursor. A
/// word that is being typed is not part of `text`. Also returns the outline, whose indices the item uses.
pub fn expected_at_end(text: &str) -> (Expected, Outline) {
    let (outline, expected) = reader::Reader::new(text).read();
    (expected, outline)
}
