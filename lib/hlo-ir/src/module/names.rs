//! The names of modules, computations and instructions: which names HLO text can express, and how XLA changes
//! other names.
//!
//! In the text, a name must only be unique in its computation. XLA has one name space for all instructions of
//! a module, and one for computations. So has every tool that looks up an instruction by its name.

use crate::{ComputationId, ElementType, InstrId, Module};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The stem used for empty names, before they are made unique.
pub(crate) const DEFAULT_STEM: &str = "name";

/// Returns whether a word of HLO text is a name only after a `%`.
pub fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "true"
            | "false"
            | "inf"
            | "nan"
            | "HloModule"
            | "ENTRY"
            | "ROOT"
            | "FileNames"
            | "FunctionNames"
            | "FileLocations"
            | "StackFrames"
            | "maximal"
            | "replicated"
            | "manual"
            | "last_tile_dim_replicate"
            | "shard_as"
            | "shard_like"
            | "unknown"
            | "unreduced"
    )
}

/// Returns whether a name is that of a type, which can start a shape.
pub fn is_type(name: &str) -> bool {
    // All of them are short, so most names are not compared with the list.
    name.len() <= 14 && (matches!(name, "token" | "opaque") || ElementType::from_name(name).is_some())
}

/// Returns whether HLO text reserves a word, as a keyword or as the name of a type. An instruction with such
/// a name needs a `%`.
pub fn is_reserved(name: &str) -> bool {
    is_keyword(name) || is_type(name)
}

/// Returns whether a text is a letter or `_`, followed by letters, digits, `_`, `.` and `-`.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.bytes().all(may_continue)
}

/// Returns whether a name may contain a byte after its first one.
fn may_continue(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')
}

/// Returns the name that XLA uses for something named `name` in a program. Every byte that names cannot
/// contain becomes `_`. The name of a type gets the suffix `_`. In a name that starts with `__`, which is
/// reserved for the compiler, the first `_` becomes `a`. Only an empty name remains a name that the text
/// cannot express.
///
/// # Example
/// ```
/// use hlo_ir::names::sanitized;
///
/// assert_eq!(sanitized("add.3"), "add.3");
/// assert_eq!(sanitized("jit(f)/<lambda>"), "jit_f___lambda_");
/// assert_eq!(sanitized("f32"), "f32_");
/// assert_eq!(sanitized("__x"), "a_x");
/// ```
pub fn sanitized(name: &str) -> Cow<'_, str> {
    let mut out = if is_word(name) {
        Cow::Borrowed(name)
    } else {
        let byte = |(at, b): (usize, u8)| match at {
            0 if !b.is_ascii_alphabetic() => '_',
            _ if may_continue(b) => char::from(b),
            _ => '_',
        };
        Cow::Owned(name.bytes().enumerate().map(byte).collect())
    };
    if is_type(&out) {
        out.to_mut().push('_');
    }
    if out.starts_with("__") && !out.starts_with("__xla_") {
        out.to_mut().replace_range(..1, "a");
    }
    out
}

/// Assigns unique names: `stem` or `stem.N`.
#[derive(Debug, Default)]
struct Uniquer<'n> {
    stems: HashMap<&'n str, usize>,
    /// The first number to try for each stem.
    next: Vec<i64>,
    /// The assigned numbers, with their stems.
    used: HashSet<(usize, i64)>,
}

impl<'n> Uniquer<'n> {
    /// Returns the name to use for `name`: `None` for `name` itself if it is free, and otherwise its stem
    /// with the next free number. A number in a name counts as a number: `x.007` becomes `x.7`.
    fn unique(&mut self, name: &'n str) -> Option<String> {
        let numbered = name
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .and_then(|(stem, n)| Some((stem, n, n.parse::<i64>().ok()?)));
        let (stem, written, number) = match numbered {
            Some((stem, text, n)) => (stem, Some(text), n),
            None => (if name.is_empty() { DEFAULT_STEM } else { name }, None, 0),
        };
        let fresh = self.next.len();
        let id = *self.stems.entry(stem).or_insert(fresh);
        if id == fresh {
            self.next.push(0);
        }
        let given = if self.used.insert((id, number)) {
            number
        } else {
            // Numbers only increase, so that all names of a stem together take linear time.
            let next = &mut self.next[id];
            while !self.used.insert((id, *next)) {
                *next += 1;
            }
            let given = *next;
            *next += 1;
            given
        };
        let unchanged = match written {
            Some(text) => given == number && is_plain(text),
            None => given == 0 && !name.is_empty(),
        };
        match (unchanged, written, given) {
            (true, ..) => None,
            (false, None, 0) => Some(stem.to_owned()),
            (false, ..) => Some(format!("{stem}.{given}")),
        }
    }
}

/// Returns whether the text equals the printed form of its number.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text == "0" || !digits.starts_with(['0', '+'])
}

impl Module {
    /// Renames instructions and computations so that no two instructions of the module have the same name,
    /// and no two computations. Uses the same names as XLA when it reads a module. Unique names do not
    /// change. Takes linear time.
    pub fn make_names_unique(&mut self) {
        let mut computations: Vec<(ComputationId, String)> = Vec::new();
        let mut instructions: Vec<(InstrId, String)> = Vec::new();
        let (mut computation_names, mut instruction_names) = (Uniquer::default(), Uniquer::default());
        for c in self.completion_order() {
            computations.extend(computation_names.unique(&self[c].name).map(|n| (c, n)));
            let list = self[c].instructions().iter();
            instructions
                .extend(list.filter_map(|&i| instruction_names.unique(&self[i].name).map(|n| (i, n))));
        }
        for (c, name) in computations {
            self[c].name = name.into();
        }
        for (i, name) in instructions {
            self.set_name(i, &name);
        }
    }
}
