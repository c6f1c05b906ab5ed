//! Why an operation can't be translated.

use crate::tree::{FileRange, Location, Operation};
use hlo_ir::diag::Diag;

/// Why an operation can't be translated.
pub enum Failure {
    /// It needs a value whose own operation failed, which was reported.
    Reported,
    /// For this reason.
    Because(Box<Diag>),
}

impl Failure {
    /// Returns the diagnostics of the failure: none if it was reported.
    pub fn into_diags(self) -> Vec<Diag> {
        match self {
            Self::Reported => Vec::new(),
            Self::Because(diag) => vec![*diag],
        }
    }
}

/// What becomes of an operation.
pub type Result<T> = std::result::Result<T, Failure>;

impl Operation {
    /// The failure of this operation with a message that does not name it.
    pub(super) fn failure(&self, message: impl AsRef<str>) -> Failure {
        Failure::Because(Box::new(self.diag(message)))
    }

    /// The diagnostic about this operation with a message that does not name it.
    pub(crate) fn diag(&self, message: impl AsRef<str>) -> Diag {
        let diag = Diag::error(format!("`{}`: {}", self.name, message.as_ref()));
        let diag = if self.span.is_empty() { diag } else { diag.at(self.span, "") };
        match place(&self.location) {
            Some(place) => diag.note(format!("from {place}")),
            None => diag,
        }
    }

    /// [`Operation::failure`] as a result.
    pub(super) fn fail<T>(&self, message: impl AsRef<str>) -> Result<T> {
        Err(self.failure(message))
    }
}

/// A place in words: the file and line where something comes from, or else its name.
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
