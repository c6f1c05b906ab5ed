//! Code that the HLO tools share: reading and writing files, showing diagnostics, exit codes, formatting
//! text, arrays in numpy's formats and as safetensors, comparing results.
//!
//! Functions return errors as [`Failure`]. [`Reporter`] shows them. Nothing in this crate ends the process.

pub mod args;
mod comments;
pub mod compare;
pub mod devices;
mod failure;
pub mod format;
mod generate;
mod input;
mod json;
#[cfg(feature = "tile")]
pub mod language;
pub mod lines;
pub mod mapped;
pub mod memory;
mod module_file;
pub mod npy;
pub mod npz;
mod output;
#[cfg(feature = "passes")]
mod pipeline;
mod report;
pub mod rules;
pub mod safetensors;
mod shown;
pub mod split;
pub mod table;

pub use failure::{EXIT_FAILURE, EXIT_OK, EXIT_USAGE, Failure};
pub use input::{open_file, read_text};
pub use module_file::{Input, read_input};
pub use output::{check_output, print, write_file, write_output};
#[cfg(feature = "passes")]
pub use pipeline::read_pipeline;
pub use report::{Reporter, parse_arguments, parse_arguments_of};
