//! Errors that explain why an instruction can't be compiled.

use hlo_ir::diag::{Diag, Label, Part};
use hlo_ir::{InstrId, Module};

/// An error of code generation. It receives its position from the instruction in which it occurs. It is
/// boxed, because it passes through many small results while a kernel is built element by element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(Box<Diag>);

impl Refusal {
    /// Adds the position of an instruction, unless the error already has one: the innermost instruction is
    /// reported.
    #[must_use]
    pub fn at(self, module: &Module, id: InstrId) -> Self {
        let has_place = !self.0.labels.is_empty() || !self.0.notes.is_empty();
        if has_place { self } else { Self(Box::new(placed(*self.0, module, id))) }
    }

    /// Converts to a diagnostic. `id` is the instruction whose kernel or runtime call was being compiled.
    pub fn of(self, module: &Module, id: InstrId) -> Diag {
        let mut diag = *self.at(module, id).0;
        let span = module.span(id);
        let elsewhere = diag.labels.first().is_some_and(|l| l.span != span);
        if elsewhere && !span.is_empty() {
            let message = "compiled with this instruction";
            diag.labels.push(Label::secondary(span, message, Some(Part::Head)));
        }
        diag
    }
}

/// Adds an instruction's position, or its name if it has no source text.
fn placed(diag: Diag, module: &Module, id: InstrId) -> Diag {
    match module.span(id) {
        span if span.is_empty() => diag.note(format!("at `{}`", module[id].name)),
        span => diag.at_instruction(span, Part::Head, "this instruction"),
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self(Box::new(Diag::error(message)))
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        message.to_string().into()
    }
}
