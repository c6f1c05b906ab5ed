//! The error of an evaluation.

use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{InstrId, Module};

/// Why a module, or one instruction of it, has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// The instruction that it happened at, the innermost one of nested calls.
    pub instruction: Option<InstrId>,
    /// What happened, one line.
    pub message: String,
    /// The stable code of the rule that is broken, one of [`hlo_ir::rules::code`].
    pub code: Option<&'static str>,
    /// True if the evaluation ended because whoever watches it said so.
    pub is_stopped: bool,
}

impl EvalError {
    /// An error that is not yet at any instruction.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { instruction: None, message: message.into(), code: None, is_stopped: false }
    }

    /// There is too little memory.
    pub(crate) fn memory(message: impl Into<String>) -> Self {
        Self { code: Some(code::MEMORY), ..Self::new(message) }
    }

    /// The evaluation was told to end.
    pub(crate) fn stopped() -> Self {
        Self { is_stopped: true, ..Self::new("the evaluation was stopped") }
    }

    /// What no verified module can cause: a fault of this crate's, with what was expected and what was found.
    pub(crate) fn internal(what: impl std::fmt::Display) -> Self {
        Self::new(format!("internal error: {what}"))
    }

    /// The same error at `id`, unless a more inner instruction is already named.
    pub(crate) fn at(mut self, id: InstrId) -> Self {
        self.instruction.get_or_insert(id);
        self
    }

    /// The diagnostic that shows the instruction in the module's source.
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
