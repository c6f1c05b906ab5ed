//! Which function a name means: one of the file, or one that it imports from the library.

use crate::ast::{File, Function, Import, Imported, Name};
use crate::error::{error, noted};
use crate::evaluate::builtin_names;
use crate::library::{self, MODULE};
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A function: the file that it is in, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionId {
    pub(crate) unit: usize,
    pub(crate) number: usize,
}

/// A file with what its names mean.
pub(crate) struct Unit<'f> {
    /// What its instructions have as their source.
    pub(crate) name: &'f str,
    /// Its text.
    pub(crate) text: &'f str,
    file: &'f File,
    /// Where its lines begin.
    lines: Vec<usize>,
    /// The functions by what they are called in this file.
    functions: HashMap<&'f str, FunctionId>,
    /// What the library is called in this file.
    modules: Vec<&'f str>,
}

impl<'f> Unit<'f> {
    /// The line, from 1 on, of a place.
    pub(crate) fn line(&self, at: Span) -> usize {
        self.lines.partition_point(|&start| start <= at.start as usize)
    }

    /// What is said of a place, for who has another text before them.
    pub(crate) fn noted(&self, at: Span, message: &str) -> String {
        noted(self.name, self.line(at), message)
    }

    /// The names of its functions, imported ones included.
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
        // Its own functions hide imported ones.
        let own = file.functions.iter().enumerate();
        out.functions.extend(own.map(|(number, f)| (f.name.text.as_str(), FunctionId { unit, number })));
        out
    }
}

/// The files of the library, which are the same for all that call them, and read when the first one does.
static LIBRARY: LazyLock<Vec<Unit<'static>>> = LazyLock::new(|| {
    let files = library::files().iter().enumerate();
    files.map(|(n, f)| Unit::new(f.name, f.text, &f.file, n + 1)).collect()
});

/// The files that functions are called in: the one that is evaluated, which is number 0, then those of the library.
pub(crate) struct Units<'f>(Unit<'f>);

impl<'f> Units<'f> {
    /// A file, and the library.
    pub(crate) fn new(name: &'f str, text: &'f str, file: &'f File) -> Self {
        Self(Unit::new(name, text, file, 0))
    }

    /// The file of that number.
    pub(crate) fn unit(&self, number: usize) -> &Unit<'f> {
        match number.checked_sub(1) {
            None => &self.0,
            Some(of_library) => &LIBRARY[of_library],
        }
    }

    /// The function.
    pub(crate) fn function(&self, id: FunctionId) -> &'f Function {
        &self.unit(id.unit).file.functions[id.number]
    }

    /// What a person calls the function.
    pub(crate) fn title(&self, id: FunctionId) -> String {
        let name = &self.function(id).name.text;
        if id.unit == 0 { name.clone() } else { format!("{MODULE}.{name}") }
    }

    /// The function that a name means in a file.
    pub(crate) fn named(&self, unit: usize, name: &str) -> Option<FunctionId> {
        self.unit(unit).functions.get(name).copied()
    }

    /// True for what the library is called in a file.
    pub(crate) fn is_module(&self, unit: usize, name: &str) -> bool {
        self.unit(unit).modules.contains(&name)
    }
}

/// The function of the library that has that name.
///
/// # Errors
/// There is none.
pub(crate) fn of_module(name: &Name) -> Result<FunctionId, Diag> {
    find(&name.text, false).ok_or_else(|| missing(name))
}

/// Sees that what a file imports from the library is there.
///
/// # Errors
/// A function that is not.
pub(crate) fn check(file: &File, is_library: bool) -> Result<(), Diag> {
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

/// The error for a function that the library does not have.
fn missing(name: &Name) -> Diag {
    let message = format!("the module `{MODULE}` has no function `{}`", name.text);
    let d = error(code::TILE_NAME, name.span, message, "not a function of the library");
    if builtin_names().any(|n| n == name.text) {
        return d.note(format!("Tile itself has `{}`: it needs no import", name.text));
    }
    match nearest(&name.text, library::functions().map(|f| f.function.name.text.as_str())) {
        Some(meant) => d.did_you_mean(name.span, meant),
        None => d.note("`docs/tile-library.md` has the functions of the library"),
    }
}
