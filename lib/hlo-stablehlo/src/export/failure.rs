//! Why an instruction has no translation.

use hlo_ir::diag::{Diag, Part};
use hlo_ir::{InstrId, Module};

/// Why an instruction has no translation.
#[derive(Debug)]
pub(super) enum Failure {
    /// It is to be reported.
    Cause(Box<Diag>),
    /// Something that it needs has none.
    Consequence,
}

/// What is made, or why it is not.
pub(super) type Outcome<T> = Result<T, Failure>;

/// The failure of an instruction, `message` being what is to say behind its name.
pub(super) fn refusal(module: &Module, id: InstrId, message: impl AsRef<str>) -> Failure {
    Failure::Cause(Box::new(refusal_diag(module, id, message)))
}

/// The same, and what may help.
pub(super) fn refusal_with(module: &Module, id: InstrId, message: &str, help: &str) -> Failure {
    Failure::Cause(Box::new(refusal_diag(module, id, message).note(help)))
}

fn refusal_diag(module: &Module, id: InstrId, message: impl AsRef<str>) -> Diag {
    let instruction = &module[id];
    let message = format!("`{}`, a {}, {}", instruction.name, instruction.opcode(), message.as_ref());
    Diag::error(message).at_instruction(module.span(id), Part::Head, "")
}
