//! Writer of bytecode.

mod encoder;
mod locations;
mod numbers;
mod operations;
pub(crate) mod sink;
mod tables;
mod types;

use super::fault::{Fault, Result};
use super::layout::MAGIC;
use crate::Tree;
use crate::dialect::Version;

/// Writes a program as VHLO of the given version.
pub(super) fn write(tree: &Tree, version: Version) -> Result<Vec<u8>> {
    // Patch versions have the same operations and attributes.
    let known = Version { patch: 0, ..version };
    if known < Version::MINIMUM || known > Version::CURRENT {
        let (first, last) = (Version::MINIMUM, Version::CURRENT);
        return Err(Fault::new(format!("version {version}: those from {first} to {last} are written")));
    }
    let (tables, ir) = operations::encode(tree, known)?;
    let mut out = sink::Sink::default();
    out.bytes(MAGIC);
    out.varint(version.bytecode());
    out.zero_terminated(format!("StableHLO_v{version}").as_bytes());
    tables.sections(version.bytecode(), &ir, &mut out);
    Ok(out.into_bytes())
}
