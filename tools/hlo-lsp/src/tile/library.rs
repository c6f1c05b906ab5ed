//! The functions of the library.

use hlo_tile::library::{LibraryFunction, functions};

/// Returns the function called `name`.
pub fn of_name(name: &str) -> Option<LibraryFunction> {
    functions().find(|f| f.function.name.text == name)
}
