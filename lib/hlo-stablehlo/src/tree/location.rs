//! Source locations of operations.

use super::{Attribute, Name};
use std::sync::Arc;

/// The source location of an operation, as in MLIR.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Location {
    /// No location is known.
    #[default]
    Unknown,
    /// A range of a file.
    File(Arc<FileRange>),
    /// A name, `loc("jit(f)/add"(…))`, and its location.
    Named(Name, Arc<Location>),
    /// A location in a function and the location of its call.
    CallSite {
        /// The location in the called function.
        callee: Arc<Location>,
        /// The location of the call.
        caller: Arc<Location>,
    },
    /// Several locations, `loc(fused<metadata>[…])`.
    Fused(Arc<[Location]>, Option<Arc<Attribute>>),
}

/// A range of a file. Lines and columns count from 1. If only the start is known, the end equals it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The name of the file.
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
    /// Returns a range that is a single position.
    pub fn at(file: impl Into<Name>, line: u32, column: u32) -> Self {
        Self { file: file.into(), line, column, end_line: line, end_column: column }
    }
}
