//! Failures of the translation of an operation.

use crate::tree::{FileRange, Location, Operation};
use hlo_ir::diag::Diag;

/// The reason why an operation cannot be translated.
pub enum Failure {
    /// An operand has no value because its operation failed. That failure was reported.
    Reported,
    /// The operation itself failed.
    Because(Box<Diag>),
}

impl Failure {
    /// Returns the diagnostics of the failure. The list is empty if the failure was already reported.
    pub fn into_diags(self) -> Vec<Diag> {
        match self {
            Self::Reported => Vec::new(),
            Self::Because(diag) => vec![*diag],
        }
    }
}

/// The result of a translation step.
pub type Result<T> = std::result::Result<T, Failure>;

impl Operation {
    /// Returns the failure of this operation. `message` does not contain the operation's name.
    pub(super) fn failure(&self, message: impl AsRef<str>) -> Failure {
        Failure::Because(Box::new(self.diag(message)))
    }

    /// Returns a diagnostic about this operation. `message` does not contain the operation's name.
    pub(crate) fn diag(&self, message: impl AsRef<str>) -> Diag {
        let diag = Diag::error(format!("`{}`: {}", self.name, message.as_ref()));
        let diag = if self.span.is_empty() { diag } else { diag.at(self.span, "") };
        match place(&self.location) {
            Some(place) => diag.note(format!("from {place}")),
            None => diag,
        }
    }

    /// Returns [`Operation::failure`] as a result.
    pub(super) fn fail<T>(&self, message: impl AsRef<str>) -> Result<T> {
        Err(self.failure(message))
    }
}

/// Describes a location: its file and line, or else its name.
fn place(location: &Location) -> Option<String> {
    let mut name = None;
    let mut at = location;
    loop {
        match at {
            Location::Unknown => return name,
            Location::File(range) => {
                let FileRange { file, line, column, .. } = &**range;
                return Some(format!("{file}:{line}:{column}"));
            }
            Location::Named(text, inner) => {
                name.get_or_insert_with(|| format!("`{text}`"));
                at = inner;
            }
            Location::CallSite { callee, .. } => at = callee,
            Location::Fused(parts, _) => match parts.first() {
                Some(first) => at = first,
                None => return name,
            },
        }
    }
}
