//! What need not be compiled again: programs of this process ([`Programs`]), and code that other processes compiled, in a folder
//! ([`CodeFolder`]).

#[cfg(feature = "codegen")]
mod folder;
mod programs;

#[cfg(feature = "codegen")]
pub(crate) use folder::CodeFolder;
pub use programs::CacheStatistics;
pub(crate) use programs::{ProgramKey, Programs};
