//! The errors of a refinement.

use crate::tree::Operation;
use hlo_ir::diag::Diag;

/// The result of a refinement step. The errors are diagnostics.
pub(super) type Result<T> = std::result::Result<T, Vec<Diag>>;

/// Returns the error of an operation.
pub(super) fn fail<T>(op: &Operation, message: impl AsRef<str>) -> Result<T> {
    Err(vec![op.diag(message)])
}
