//! Violations: the errors that rules report.

use crate::diag::shorten::brief;
use crate::diag::{Code, Part};
use crate::{InstrId, Shape};

/// The other side of a mismatch, for example the operand that disagrees with an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The operand with this number.
    Operand(usize),
    /// An instruction of a called computation.
    Instruction(InstrId),
}

/// A violation of a rule by an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The code of the rule.
    pub(crate) code: Code,
    /// The expected and the found value, in words.
    pub(crate) message: String,
    /// The part of the instruction that violates the rule.
    pub(crate) part: Part,
    /// The other sides of the mismatch, each with its label.
    pub(crate) others: Vec<(Place, String)>,
    /// The shape that would be correct in place of the declared one.
    pub(crate) shape: Option<Box<Shape>>,
}

impl Violation {
    /// Creates a violation of the rule `code`.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: brief(message.into()), part: Part::Head, others: Vec::new(), shape: None }
    }

    /// Returns the violation, attributed to the attribute `name`.
    pub(crate) fn of(mut self, name: &'static str) -> Self {
        self.part = Part::Attribute(name);
        self
    }

    /// Returns the violation, attributed to the declared shape.
    pub(crate) fn of_shape(mut self) -> Self {
        self.part = Part::Shape;
        self
    }

    /// Returns the violation with another side of the mismatch added.
    pub(crate) fn with(mut self, place: Place, message: impl Into<String>) -> Self {
        self.others.push((place, brief(message.into())));
        self
    }
}

/// The result of a rule: the shape of the instruction's result if the operands determine it, or a violation.
pub(crate) type Rule = Result<Option<Shape>, Violation>;
