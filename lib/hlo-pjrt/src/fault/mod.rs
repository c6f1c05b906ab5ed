//! Errors of calls, and how the caller receives them.

mod error;
pub(crate) mod failure;

pub use error::{Error, outcome};
pub use failure::{Code, Fault, Result, catch, diagnostics_text};
