//! Failures of the export of an instruction.

use hlo_ir::diag::{Diag, Part};
use hlo_ir::{InstrId, Module};

/// The reason why an instruction has no exported value.
#[derive(Debug)]
pub(super) enum Failure {
    /// The instruction itself cannot be exported. The diagnostic must be reported.
    Cause(Box<Diag>),
    /// An instruction that it depends on has no exported value.
    Consequence,
}

/// The result of an export step.
pub(super) type Outcome<T> = Result<T, Failure>;

/// Returns the failure of an instruction. `message` follows the instruction's name.
pub(super) fn refusal(module: &Module, id: InstrId, message: impl AsRef<str>) -> Failure {
    Failure::Cause(Box::new(refusal_diag(module, id, message)))
}

/// Returns the failure of an instruction with a help note.
pub(super) fn refusal_with(module: &Module, id: InstrId, message: &str, help: &str) -> Failure {
    Failure::Cause(Box::new(refusal_diag(module, id, message).note(help)))
}

fn refusal_diag(module: &Module, id: InstrId, message: impl AsRef<str>) -> Diag {
    let instruction = &module[id];
    let message = format!("`{}`, a {}, {}", instruction.name, instruction.opcode(), message.as_ref());
    Diag::error(message).at_instruction(module.span(id), Part::Head, "")
}
