//! Errors of a computation that was built.

use hlo_ir::diag::Diag;
use std::fmt;

/// All errors of a computation that was built, each with the source line that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildErrors(Vec<Diag>);

impl BuildErrors {
    pub(crate) fn new(diags: Vec<Diag>) -> Self {
        Self(diags)
    }

    /// Returns the errors, at least one, in the order in which they occurred.
    pub fn diags(&self) -> &[Diag] {
        &self.0
    }
}

impl From<BuildErrors> for Vec<Diag> {
    fn from(errors: BuildErrors) -> Self {
        errors.0
    }
}

/// Prints each error and its notes, one per line.
impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, diag) in self.0.iter().enumerate() {
            if n > 0 {
                writeln!(f)?;
            }
            write!(f, "{}", diag.message)?;
            for note in &diag.notes {
                write!(f, "\n  {note}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for BuildErrors {}
