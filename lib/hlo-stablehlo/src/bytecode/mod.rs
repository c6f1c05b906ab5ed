//! MLIR bytecode: the form in which JAX and others hand out programs.
//!
//! A file holds operations of VHLO, StableHLO's versioned copy, mixed with those of `builtin` and `sdy`; or of the
//! dialects of StableHLO themselves. Either is read into the same [`Tree`]: VHLO's operations become those that they
//! stand for, in the form of StableHLO's current version. What is written is VHLO.
//!
//! The format is that of MLIR's `docs/BytecodeFormat.md`, versions 0 to 6.

mod encoding;
mod fault;
mod read;
#[cfg(test)]
mod tests;
mod types;
mod vhlo;
mod write;

use crate::Tree;
use crate::dialect::Version;
use hlo_ir::diag::Diag;

/// What every file begins with.
const MAGIC: &[u8] = b"ML\xefR";

/// What fills gaps where something is aligned.
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

/// What is said of an operation before its parts: which of them it has.
mod has {
    pub(super) const ATTRIBUTES: u8 = 1;
    pub(super) const RESULTS: u8 = 2;
    pub(super) const OPERANDS: u8 = 4;
    pub(super) const SUCCESSORS: u8 = 8;
    pub(super) const REGIONS: u8 = 16;
    pub(super) const USE_ORDERS: u8 = 32;
    pub(super) const PROPERTIES: u8 = 64;
}

/// True if bytes begin as MLIR bytecode does.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a program.
///
/// # Errors
/// If the bytes are no MLIR bytecode of versions 0 to 6, if they are damaged, or if they hold what a [`Tree`] can't: the
/// diagnostic says what, at which byte, and in which operation.
pub fn read(bytes: &[u8]) -> Result<Tree, Diag> {
    read::read(bytes).map_err(Diag::from)
}

/// Writes a program as VHLO of a version, mixed with Shardy's operations, as StableHLO's portable artifacts are.
///
/// What a version lacks is written in another way where there is one: operations of older versions, attributes that say
/// what holds without them.
///
/// # Errors
/// If the version is not one from [`Version::MINIMUM`] to [`Version::CURRENT`], or if the program has what it lacks: the
/// diagnostic names that and the operation. If an operation or an attribute has no form in VHLO, as those of `chlo`.
pub fn write(tree: &Tree, version: Version) -> Result<Vec<u8>, Diag> {
    write::write(tree, version).map_err(Diag::from)
}
