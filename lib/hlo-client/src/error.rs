//! Why a program can't be compiled or run.

use hlo_ir::InstrId;
use hlo_ir::diag::Diag;

/// Why a program can't be compiled or run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What is wrong, and where in the text of the module; at least one diagnostic.
    #[error("{}", .0.first().map_or("an error that was not told", |d| &d.message))]
    Diags(Vec<Diag>),
    /// Sizes that are known at run time only do not fit each other. The interpreter says where.
    #[error("sizes known at run time only do not fit each other")]
    Sizes,
    /// Whoever watches the run ended it.
    #[error("the run was stopped")]
    Stopped {
        /// Where it was: an instruction of [`crate::Executable::lowered`].
        instruction: Option<InstrId>,
    },
    /// A server refused a call, or ended a run whose time was over.
    #[error("{0}")]
    Refused(String),
    /// There is no connection to a server, or no session any more: what it held for this client is gone.
    #[error("{0}")]
    Disconnected(String),
}

impl Error {
    /// An error that is about no place in a module.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Diags(vec![Diag::error(message)])
    }
}

impl From<Vec<Diag>> for Error {
    fn from(diags: Vec<Diag>) -> Self {
        Self::Diags(diags)
    }
}

impl From<Diag> for Error {
    fn from(diag: Diag) -> Self {
        Self::Diags(vec![diag])
    }
}
