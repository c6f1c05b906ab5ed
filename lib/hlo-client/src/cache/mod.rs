//! Caches of compiled programs: programs of this process ([`Programs`]), and a folder of code that processes
//! share ([`CodeFolder`]).

#[cfg(feature = "codegen")]
pub(crate) mod folder;
mod programs;

#[cfg(feature = "codegen")]
pub(crate) use folder::CodeFolder;
pub use programs::CacheStatistics;
pub(crate) use programs::{ProgramKey, Programs};
