//! Reader of bytecode.

mod assembly;
mod builtin;
pub(crate) mod cursor;
mod dialects;
mod elements;
mod file;
mod operations;
mod pool;
mod quant;
mod sharding_rule;
mod structures;
mod values;
mod vhlo;

use super::fault::Result;
use crate::Tree;

/// Reads a program.
pub(super) fn read(bytes: &[u8]) -> Result<Tree> {
    let file = file::File::parse(bytes)?;
    operations::read(&file)
}
