//! The runtime library of a program: the part of the whole runtime that the program calls.

pub use super::prune::PartError;

use super::interface::Interface;
use super::prune::prune;
use super::target::Architecture;
use ar_archive_writer::{ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream};
use object::elf;
use std::io::Cursor;

/// Functions that users of a program with a context call directly.
const PUBLIC_FUNCTIONS: [&str; 4] =
    ["hlo_context_create", "hlo_context_destroy", "hlo_context_set_seed", "hlo_last_error"];

/// Returns the part of the static library `whole` that a program needs, as a static library. Every definition
/// in it is weak, so that the libraries of two programs can be linked together.
///
/// # Errors
/// `whole` is not a static library, is for another machine, or does not define a function that the program
/// calls.
pub fn part(whole: &[u8], interface: &Interface) -> Result<Vec<u8>, PartError> {
    let mut roots = interface.runtime.clone();
    if interface.takes_context() {
        roots.extend(PUBLIC_FUNCTIONS.map(String::from));
    }
    let machine = match interface.target.architecture() {
        Architecture::X86_64 => (elf::EM_X86_64, "x86_64"),
        Architecture::Aarch64 => (elf::EM_AARCH64, "aarch64"),
    };
    let members: Vec<NewArchiveMember<'_>> = prune(whole, &roots, machine)?
        .into_iter()
        .map(|(name, bytes)| NewArchiveMember::new(bytes, &DEFAULT_OBJECT_READER, name))
        .collect();
    let mut out = Cursor::new(Vec::new());
    write_archive_to_stream(&mut out, &members, ArchiveKind::Gnu, false, None)
        .map_err(|e| PartError::Format(e.to_string()))?;
    Ok(out.into_inner())
}
