//! Conversion between messages and the IR. Each file converts one subject in both directions: shapes,
//! literals, metadata, shardings, attributes of opcodes, modules. The files treat each field as XLA does.

mod as_text;
mod attributes;
mod context;
mod devices;
mod fields;
mod frontend;
mod header;
mod literal;
mod metadata;
mod operation;
mod options;
mod origin;
mod parts;
mod read;
mod shape;
mod sharding;
mod text;
mod window;
mod words;
mod write;

pub use header::{read_config, write_config};
pub use literal::{read_literal, write_literal};
pub use options::{CompileOptions, DeviceAssignment, OptionValue};

pub use metadata::Payloads;
pub use read::{to_module, to_module_with_config};
pub use shape::{read_shape, write_shape};
pub use sharding::{read_sharding, write_sharding};
pub use write::{from_module, from_module_with_config};

use hlo_ir::Dims;

/// The result of a conversion. The error is a message.
pub type Result<T> = std::result::Result<T, String>;

/// Converts a number of the file to an index.
fn index(number: i64, what: &str) -> Result<usize> {
    usize::try_from(number).map_err(|_| format!("{what} is not negative, found {number}"))
}

/// Returns the message, or the default message if it is absent.
fn or_default<T: Clone + Default>(message: &Option<Box<T>>) -> std::borrow::Cow<'_, T> {
    match message {
        Some(message) => std::borrow::Cow::Borrowed(message),
        None => std::borrow::Cow::Owned(T::default()),
    }
}

fn dims(numbers: &[i64]) -> Dims {
    Dims::from_slice(numbers)
}
