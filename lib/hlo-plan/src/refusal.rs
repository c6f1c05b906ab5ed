//! Why an instruction can't be compiled.

use hlo_ir::diag::{Diag, Label, Part};
use hlo_ir::{InstrId, Module};

/// Why something can't be compiled: an error that gets its place from the instruction that it happens in. On the heap,
/// as what is built an element at a time hands it up through many results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(Box<Diag>);

impl Refusal {
    /// The same at an instruction, unless it is at one: the innermost is to blame.
    #[must_use]
    pub fn at(self, module: &Module, id: InstrId) -> Self {
        let has_place = !self.0.labels.is_empty() || !self.0.notes.is_empty();
        if has_place { self } else { Self(Box::new(placed(*self.0, module, id))) }
    }

    /// The error, of which the instruction `id` is the kernel or the call that was to be compiled.
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

/// The error at an instruction, by name where no text stands for it.
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
