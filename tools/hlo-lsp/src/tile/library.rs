//! The functions of the library.

use super::hover::code;
use hlo_tile::library::{LibraryFunction, MODULE, functions};

/// Returns the function called `name`.
pub fn of_name(name: &str) -> Option<LibraryFunction> {
    functions().find(|f| f.function.name.text == name)
}

/// Describes a function, in Markdown.
pub fn described(f: &LibraryFunction) -> String {
    format!("{}\n\n{}\n\nA function of the library, `{MODULE}`.", code(&f.signature()), f.documentation())
}
