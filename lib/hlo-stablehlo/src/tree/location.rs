//! Where an operation comes from.

use super::{Attribute, Name};
use std::sync::Arc;

/// Where an operation comes from, as MLIR says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Location {
    /// It is not said.
    #[default]
    Unknown,
    /// A place in a file.
    File(Arc<FileRange>),
    /// A name, `loc("jit(f)/add"(…))`, and where that is.
    Named(Name, Arc<Location>),
    /// A place in a function, and the place where that is called.
    CallSite {
        /// In the function.
        callee: Arc<Location>,
        /// Where it is called.
        caller: Arc<Location>,
    },
    /// Several places, `loc(fused<metadata>[…])`.
    Fused(Arc<[Location]>, Option<Arc<Attribute>>),
}

/// A part of a file. Lines and columns count from 1; the end is the start where only that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The file's name.
    pub file: Name,
    /// The first line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The last line.
    pub end_line: u32,
    /// The column after the last one.
    pub end_column: u32,
}

impl FileRange {
    /// One place.
    pub fn at(file: impl Into<Name>, line: u32, column: u32) -> Self {
        Self { file: file.into(), line, column, end_line: line, end_column: column }
    }
}
