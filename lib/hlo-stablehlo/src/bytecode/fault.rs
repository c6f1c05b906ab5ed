//! Errors in files.

use hlo_ir::diag::Diag;

/// An error message, with its byte offset in the file if known. The contents are boxed to keep results small.
#[derive(Debug)]
pub struct Fault(Box<Content>);

#[derive(Debug)]
struct Content {
    message: String,
    at: Option<usize>,
    notes: Vec<String>,
}

/// The result of reading or writing a part of a file.
pub type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// Creates an error at a byte offset.
    pub(super) fn at(at: usize, message: impl Into<String>) -> Self {
        Self(Box::new(Content { message: message.into(), at: Some(at), notes: Vec::new() }))
    }

    /// Creates an error without a position.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Content { message: message.into(), at: None, notes: Vec::new() }))
    }

    /// Adds a note.
    pub(super) fn note(mut self, note: String) -> Self {
        self.0.notes.push(note);
        self
    }
}

impl From<Fault> for Diag {
    fn from(fault: Fault) -> Self {
        let Content { message, at, notes } = *fault.0;
        let mut diag = Diag::error(message);
        if let Some(at) = at {
            diag = diag.note(format!("at byte {at} of the bytecode"));
        }
        notes.into_iter().fold(diag, Diag::note)
    }
}
