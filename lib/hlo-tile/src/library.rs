//! The library: functions for neural networks, written in Tile (`library/*.tile`). It is the module `nn`.

use crate::ast::{ExprKind, File, Function, StatementKind};
use crate::parse;
use std::sync::LazyLock;

/// The module whose functions files can import.
pub const MODULE: &str = "nn";

/// Lists the files of these names.
macro_rules! texts {
    ($($name:literal),*) => {
        &[$((concat!("nn/", $name, ".tile"), include_str!(concat!("../library/", $name, ".tile")))),*]
    };
}

/// The files: the source name of their instructions, and the text.
pub const TEXTS: &[(&str, &str)] = texts![
    "activation",
    "array",
    "attention",
    "convolution",
    "linear",
    "loss",
    "normalization",
    "optimizer",
    "pooling",
    "recurrent",
    "reduction"
];

/// A file of the library.
pub(crate) struct LibraryFile {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) file: File,
}

/// A function of the library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryFunction {
    /// The function.
    pub function: &'static Function,
    /// The name of its file.
    pub file: &'static str,
    text: &'static str,
}

impl LibraryFunction {
    /// Returns the signature: `softmax(X, axis=-1)`.
    pub fn signature(&self) -> String {
        let parameter = |p: &crate::ast::Parameter| match &p.default {
            Some(default) => format!("{}={}", p.name.text, &self.text[default.span.range()]),
            None => p.name.text.clone(),
        };
        let parameters: Vec<String> = self.function.parameters.iter().map(parameter).collect();
        format!("{}({})", self.function.name.text, parameters.join(", "))
    }

    /// Returns the doc string: shapes and the formula.
    pub fn documentation(&self) -> &'static str {
        match self.function.body.first().map(|s| &s.kind) {
            Some(StatementKind::Expression(expr)) => match &expr.kind {
                ExprKind::Text(text) => text,
                _ => "",
            },
            _ => "",
        }
    }
}

static FILES: LazyLock<Vec<LibraryFile>> = LazyLock::new(|| {
    // A test checks that all files are valid Tile.
    let read = |&(name, text)| LibraryFile { name, text, file: parse(text).unwrap_or_default() };
    TEXTS.iter().map(read).collect()
});

/// Returns the files, which are parsed once.
pub(crate) fn files() -> &'static [LibraryFile] {
    &FILES
}

/// Returns the functions that files can import, in the order of the library's files.
///
/// # Example
/// ```
/// let softmax = hlo_tile::library::functions().find(|f| f.function.name.text == "softmax").unwrap();
/// assert_eq!(softmax.signature(), "softmax(X, axis=-1)");
/// ```
pub fn functions() -> impl Iterator<Item = LibraryFunction> {
    let of = |f: &'static LibraryFile| {
        f.file.functions.iter().map(|function| LibraryFunction { function, file: f.name, text: f.text })
    };
    files().iter().flat_map(of).filter(|f| !is_private(&f.function.name.text))
}

/// Whether a name is that of a function that only the library calls.
pub(crate) fn is_private(name: &str) -> bool {
    name.starts_with('_')
}
