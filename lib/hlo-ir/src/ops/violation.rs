//! What a rule reports when an instruction breaks it.

use crate::diag::Part;
use crate::diag::brief::brief;
use crate::{InstrId, Shape};

/// The other end of a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The operand of that number.
    Operand(usize),
    /// An instruction of a called computation.
    Instruction(InstrId),
}

/// Why an instruction is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The rule's code.
    pub(crate) code: &'static str,
    /// What was expected and what was found.
    pub(crate) message: String,
    /// The part of the instruction that breaks it.
    pub(crate) part: Part,
    /// The other ends, and what is to say there.
    pub(crate) others: Vec<(Place, String)>,
    /// The shape that would be right in place of the one that is written.
    pub(crate) shape: Option<Box<Shape>>,
}

impl Violation {
    /// A violation of the rule `code`.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: brief(message.into()), part: Part::Head, others: Vec::new(), shape: None }
    }

    /// The same about the attribute `name`.
    pub(crate) fn of(mut self, name: &'static str) -> Self {
        self.part = Part::Attribute(name);
        self
    }

    /// The same about the shape that is written.
    pub(crate) fn of_shape(mut self) -> Self {
        self.part = Part::Shape;
        self
    }

    /// The same with another end of the mismatch.
    pub(crate) fn with(mut self, place: Place, message: impl Into<String>) -> Self {
        self.others.push((place, brief(message.into())));
        self
    }
}

/// What a rule gives: the result's shape if it follows from the operands, or what is wrong.
pub(crate) type Rule = Result<Option<Shape>, Violation>;
