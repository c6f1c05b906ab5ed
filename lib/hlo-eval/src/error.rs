//! The error of an evaluation.

use hlo_ir::diag::{Code, Diag};
use hlo_ir::rules::code;
use hlo_ir::{InstrId, Module};

/// The reason why a module, or one of its instructions, has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// The instruction that failed: the innermost one of nested calls.
    pub instruction: Option<InstrId>,
    /// The message, one line.
    pub message: String,
    /// The stable code of the violated rule, one of [`hlo_ir::rules::code`].
    pub code: Option<Code>,
    /// Whether the observer of the evaluation stopped it.
    pub is_stopped: bool,
}

impl EvalError {
    /// Creates an error without an instruction.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { instruction: None, message: message.into(), code: None, is_stopped: false }
    }

    /// Creates an out-of-memory error.
    pub(crate) fn memory(message: impl Into<String>) -> Self {
        Self { code: Some(code::MEMORY), ..Self::new(message) }
    }

    /// Creates the error of an evaluation that was stopped.
    pub(crate) fn stopped() -> Self {
        Self { is_stopped: true, ..Self::new("the evaluation was stopped") }
    }

    /// Creates an internal error: a bug in this crate that no verified module can cause. `what` says what was
    /// expected and what was found.
    pub(crate) fn internal(what: impl std::fmt::Display) -> Self {
        Self::new(format!("internal error: {what}"))
    }

    /// Sets the instruction to `id`, unless an inner instruction is already set.
    pub(crate) fn at(mut self, id: InstrId) -> Self {
        self.instruction.get_or_insert(id);
        self
    }

    /// Converts to a diagnostic that shows the instruction in the module's source.
    pub fn to_diag(&self, module: &Module) -> Diag {
        let diag = Diag { code: self.code, ..Diag::error(&self.message) };
        match self.instruction {
            Some(id) if module.span(id).is_empty() => {
                diag.note(format!("at instruction `{}`, which no source text stands for", module[id].name))
            }
            Some(id) => diag.at(module.span(id), format!("while evaluating `{}`", module[id].name)),
            None => diag,
        }
    }
}

impl From<String> for EvalError {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}
