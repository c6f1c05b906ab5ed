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
pub(crate) mod read;
mod types;
mod vhlo;
pub(crate) mod write;

use crate::Tree;
use crate::dialect::Version;
use hlo_ir::diag::Diag;

/// The first bytes of every file.
const MAGIC: &[u8] = b"ML\xefR";

/// The byte that fills alignment gaps.
const ALIGNMENT_BYTE: u8 = 0xcb;

/// The numbers of sections.
mod section {
    pub(super) const STRING: usize = 0;
    pub(super) const DIALECT: usize = 1;
    pub(super) const ATTRIBUTE: usize = 2;
    pub(super) const ATTRIBUTE_OFFSET: usize = 3;
    pub(super) const IR: usize = 4;
    pub(super) const RESOURCE: usize = 5;
    pub(super) const RESOURCE_OFFSET: usize = 6;
    pub(super) const DIALECT_VERSIONS: usize = 7;
    pub(super) const PROPERTIES: usize = 8;
    pub(super) const COUNT: usize = 9;
}

/// The bits of the mask before an operation's parts. They tell which parts follow.
mod has {
    pub(super) const ATTRIBUTES: u8 = 1;
    pub(super) const RESULTS: u8 = 2;
    pub(super) const OPERANDS: u8 = 4;
    pub(super) const SUCCESSORS: u8 = 8;
    pub(super) const REGIONS: u8 = 16;
    pub(super) const USE_ORDERS: u8 = 32;
    pub(super) const PROPERTIES: u8 = 64;
}

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
