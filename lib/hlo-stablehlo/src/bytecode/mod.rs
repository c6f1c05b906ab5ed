//! MLIR bytecode: the form in which JAX and other front ends pass on programs.
//!
//! A file contains operations of VHLO (StableHLO's versioned copy) mixed with those of `builtin` and `sdy`,
//! or it contains operations of StableHLO's own dialects. Both are read into the same [`Tree`]. VHLO
//! operations become the corresponding operations of the current StableHLO version. Written files contain
//! VHLO.
//!
//! The format is that of MLIR's `docs/BytecodeFormat.md`, versions 0 to 6.

mod encoding;
mod fault;
mod layout;
pub(crate) mod read;
mod types;
mod vhlo;
pub(crate) mod write;

use crate::dialect::Version;
use crate::tree::Tree;
use hlo_ir::diag::Diag;
use layout::MAGIC;

/// Checks whether bytes start like MLIR bytecode.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a program.
///
/// # Errors
/// The bytes are not MLIR bytecode of versions 0 to 6, are damaged, or contain something that a [`Tree`]
/// cannot represent. The diagnostic contains the byte offset and the operation.
pub fn read(bytes: &[u8]) -> Result<Tree, Diag> {
    read::read(bytes).map_err(Diag::from)
}

/// Writes a program as VHLO of the given version, mixed with Shardy's operations, like StableHLO's portable
/// artifacts.
///
/// If the version lacks an operation or attribute, the writer uses an equivalent form where one exists: an
/// older operation, or no attribute if the attribute has its default value.
///
/// # Errors
/// - The version is not between [`Version::MINIMUM`] and [`Version::CURRENT`].
/// - The program contains something that the version lacks. The diagnostic names it and the operation.
/// - VHLO has no form for an operation or attribute, such as those of `chlo`.
pub fn write(tree: &Tree, version: Version) -> Result<Vec<u8>, Diag> {
    write::write(tree, version).map_err(Diag::from)
}
