//! What is wrong with a file.

use hlo_ir::diag::Diag;

/// What is wrong, and at which byte of the file. Boxed, so that results are small.
#[derive(Debug)]
pub(super) struct Fault(Box<Content>);

#[derive(Debug)]
struct Content {
    message: String,
    at: Option<usize>,
    notes: Vec<String>,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// What is wrong at a byte.
    pub(super) fn at(at: usize, message: impl Into<String>) -> Self {
        Self(Box::new(Content { message: message.into(), at: Some(at), notes: Vec::new() }))
    }

    /// What is wrong, at no place in particular.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Content { message: message.into(), at: None, notes: Vec::new() }))
    }

    /// The same with a further line.
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
