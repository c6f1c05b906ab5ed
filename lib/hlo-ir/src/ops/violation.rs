//! What a rule reports when an instruction breaks it, and the stable codes of all rules.

use crate::InstrId;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $summary:literal;)*) => {
        /// The codes by name, for the rules that report them.
        pub mod code {
            $($(#[$doc])* pub const $name: &str = $code;)*
        }

        /// Every code that the verifier reports, with its rule in one line, sorted by code.
        pub const CODES: &[(&str, &str)] = &[$(($code, $summary),)*];
    };
}

codes! {
    /// A module without an entry.
    NO_ENTRY = "E0201", "a module has an entry computation";
    /// A computation without a root.
    NO_ROOT = "E0202", "a computation has a root";
    /// Two computations of one name.
    COMPUTATION_NAME = "E0203", "computation names are unique in the module";
    /// Two instructions of one name in a computation.
    INSTRUCTION_NAME = "E0204", "instruction names are unique in their computation";
    /// An operand or control predecessor of another computation.
    FOREIGN_OPERAND = "E0205", "operands and control predecessors are instructions of the same computation";
    /// An instruction that depends on itself.
    OPERAND_CYCLE = "E0206", "no instruction depends on itself";
    /// A computation that calls itself.
    CALL_CYCLE = "E0207", "no computation calls itself, directly or through others";
    /// An attribute that names a computation that is not there.
    NO_CALLEE = "E0208", "a called computation is in the module";
    /// A call of the entry.
    ENTRY_CALLED = "E0209", "nothing calls the entry computation";
    /// Parameter numbers with gaps or twice the same.
    PARAMETER_NUMBERS = "E0210", "parameters are numbered 0, 1, … without gaps";
    /// A header layout that does not fit the entry.
    ENTRY_LAYOUT = "E0211", "entry_computation_layout fits the entry's parameters and root";
    /// A schedule in which an operand comes after its user.
    SCHEDULE = "E0212", "in a scheduled module operands come before their users";
    /// A wrong number of operands.
    ARITY = "E0301", "an instruction has as many operands as its opcode takes";
    /// An operand that is no array, no tuple, ….
    OPERAND_KIND = "E0302", "operands are arrays, scalars, tuples or tokens as the opcode asks";
    /// An element type that the opcode does not work on.
    ELEMENT_TYPE = "E0303", "element types are those that the opcode works on";
    /// Operands that do not fit each other.
    OPERAND_SHAPES = "E0304", "operand shapes fit each other";
    /// An attribute out of range.
    ATTRIBUTE = "E0305", "attributes fit the operands";
    /// A written shape that is not the one the operands give.
    DECLARED_SHAPE = "E0306", "the written shape is the one that follows from the operands";
    /// A called computation whose parameters or root do not fit the call.
    CALLEE_SIGNATURE = "E0307", "a called computation's parameters and root fit the call";
    /// A shape that no value can have.
    INVALID_SHAPE = "E0308", "sizes are not negative and a layout is a permutation of the dimensions";
    /// A size that 64 bits do not hold.
    OVERFLOW = "E0310", "the sizes that an instruction computes fit 64 bits";
}

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
    /// The other end, and what is to say there.
    pub(crate) other: Option<(Place, String)>,
}

impl Violation {
    /// A violation of the rule `code`.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), other: None }
    }

    /// The same with the other end of the mismatch.
    pub(crate) fn with(mut self, place: Place, message: impl Into<String>) -> Self {
        self.other = Some((place, message.into()));
        self
    }
}

/// What a rule gives: the result's shape if it follows from the operands, or what is wrong.
pub(crate) type Rule = Result<Option<crate::Shape>, Violation>;
