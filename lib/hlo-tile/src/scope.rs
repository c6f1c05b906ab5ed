//! Name resolution: maps names to functions of the file or of the library.

use crate::ast::{File, Function, Import, Imported, Name};
use crate::builtins::builtin_names;
use crate::error::{error, noted};
use crate::library::{self, MODULE};
use crate::rules;
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::suggest::nearest;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A function, identified by its file and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionId {
    pub(crate) unit: usize,
    pub(crate) number: usize,
}

/// A file and the meaning of its names.
pub(crate) struct Unit<'f> {
    /// The source name of its instructions.
    pub(crate) name: &'f str,
    /// The text of the file.
    pub(crate) text: &'f str,
    file: &'f File,
    /// The offsets of the lines.
    lines: Vec<usize>,
    /// The functions by their names in this file.
    functions: HashMap<&'f str, FunctionId>,
    /// The names of the library in this file.
    modules: Vec<&'f str>,
}

impl<'f> Unit<'f> {
    /// Returns the line number of a span, starting at 1.
    pub(crate) fn line(&self, at: Span) -> usize {
        self.lines.partition_point(|&start| start <= at.start as usize)
    }

    /// Returns a note about a span, for readers of another text.
    pub(crate) fn noted(&self, at: Span, message: &str) -> String {
        noted(self.name, self.line(at), message)
    }

    /// Returns the names of its functions, including imported ones.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'f str> + '_ {
        self.functions.keys().copied()
    }

    fn new(name: &'f str, text: &'f str, file: &'f File, unit: usize) -> Self {
        let lines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(n, _)| n + 1);
        let lines = std::iter::once(0).chain(lines).collect();
        let mut out = Self { name, text, file, lines, functions: HashMap::new(), modules: Vec::new() };
        let is_library = unit > 0;
        for import in of_library(file) {
            match &import.what {
                Imported::Module(other) => {
                    out.modules.push(other.as_ref().map_or(MODULE, |n| n.text.as_str()));
                }
                Imported::All => {
                    let names = library::functions().map(|f| f.function.name.text.as_str());
                    out.functions.extend(names.filter_map(|n| Some((n, find(n, false)?))));
                }
                Imported::Functions(all) => {
                    let known = all.iter().filter_map(|(function, other)| {
                        let name = other.as_ref().unwrap_or(function);
                        Some((name.text.as_str(), find(&function.text, is_library)?))
                    });
                    out.functions.extend(known);
                }
            }
        }
        // Functions of the file hide imported ones.
        let own = file.functions.iter().enumerate();
        out.functions.extend(own.map(|(number, f)| (f.name.text.as_str(), FunctionId { unit, number })));
        out
    }
}

/// The files of the library, shared by all callers and parsed on first use.
static LIBRARY: LazyLock<Vec<Unit<'static>>> = LazyLock::new(|| {
    let files = library::files().iter().enumerate();
    files.map(|(n, f)| Unit::new(f.name, f.text, &f.file, n + 1)).collect()
});

/// The files with functions: number 0 is the evaluated file, then come those of the library.
pub(crate) struct Units<'f>(Unit<'f>);

impl<'f> Units<'f> {
    /// Creates the list from a file and the library.
    pub(crate) fn new(name: &'f str, text: &'f str, file: &'f File) -> Self {
        Self(Unit::new(name, text, file, 0))
    }

    /// Returns the file with the given number.
    pub(crate) fn unit(&self, number: usize) -> &Unit<'f> {
        match number.checked_sub(1) {
            None => &self.0,
            Some(of_library) => &LIBRARY[of_library],
        }
    }

    /// Returns the function.
    pub(crate) fn function(&self, id: FunctionId) -> &'f Function {
        &self.unit(id.unit).file.functions[id.number]
    }

    /// Returns the name of the function for messages.
    pub(crate) fn title(&self, id: FunctionId) -> String {
        let name = &self.function(id).name.text;
        if id.unit == 0 { name.clone() } else { format!("{MODULE}.{name}") }
    }

    /// Returns the function that a name refers to in a file.
    pub(crate) fn named(&self, unit: usize, name: &str) -> Option<FunctionId> {
        self.unit(unit).functions.get(name).copied()
    }

    /// Whether a name refers to the library in a file.
    pub(crate) fn is_module(&self, unit: usize, name: &str) -> bool {
        self.unit(unit).modules.contains(&name)
    }
}

/// Returns the library function with the given name.
///
/// # Errors
/// Returns an error if there is none.
pub(crate) fn of_module(name: &Name) -> Result<FunctionId, Diag> {
    find(&name.text, false).ok_or_else(|| missing(name))
}

/// Checks that the library contains the functions that a file imports.
///
/// # Errors
/// Returns an error for the first missing function.
pub fn check(file: &File, is_library: bool) -> Result<(), Diag> {
    for import in of_library(file) {
        let Imported::Functions(all) = &import.what else { continue };
        if let Some((name, _)) = all.iter().find(|(n, _)| find(&n.text, is_library).is_none()) {
            return Err(missing(name));
        }
    }
    Ok(())
}

fn of_library(file: &File) -> impl Iterator<Item = &Import> {
    file.imports.iter().filter(|i| i.module.text == MODULE)
}

fn find(name: &str, private: bool) -> Option<FunctionId> {
    if library::is_private(name) && !private {
        return None;
    }
    library::files().iter().enumerate().find_map(|(n, f)| {
        let number = f.file.functions.iter().position(|f| f.name.text == name)?;
        Some(FunctionId { unit: n + 1, number })
    })
}

/// Returns the error for a function that the library does not contain.
fn missing(name: &Name) -> Diag {
    let message = format!("the module `{MODULE}` has no function `{}`", name.text);
    let d = error(rules::TILE_NAME, name.span, message, "not a function of the library");
    if builtin_names().any(|n| n == name.text) {
        return d.note(format!("Tile itself has `{}`: it needs no import", name.text));
    }
    match nearest(&name.text, library::functions().map(|f| f.function.name.text.as_str())) {
        Some(meant) => d.did_you_mean(name.span, meant),
        None => d.note("`docs/tile-library.md` has the functions of the library"),
    }
}
