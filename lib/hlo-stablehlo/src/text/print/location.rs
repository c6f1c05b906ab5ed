//! Printing of locations, and their aliases.
//!
//! With locations, MLIR prints each location once as an alias: `#loc3 = loc("add"(#loc2))`. Aliases that
//! block arguments use come before all operations; others come after them. They are numbered by nesting
//! depth, and then in the order of their occurrence.

use super::attribute;
use crate::tree::{FileRange, Location, Name};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

/// Writes `loc(…)`.
pub fn write(out: &mut String, location: &Location) {
    out.push_str("loc(");
    inside(out, location, &mut |out, part| print_nested_location(out, part));
    out.push(')');
}

fn print_nested_location(out: &mut String, location: &Location) {
    inside(out, location, &mut |out, part| print_nested_location(out, part));
}

/// Writes the text inside the parentheses. `part` writes a nested location.
fn inside(out: &mut String, location: &Location, part: &mut dyn FnMut(&mut String, &Location)) {
    match location {
        Location::Unknown => out.push_str("unknown"),
        Location::File(range) => {
            attribute::string(out, range.file.as_bytes());
            let _ = write!(out, ":{}:{}", range.line, range.column);
            if range.end_line != range.line {
                let _ = write!(out, " to {}:{}", range.end_line, range.end_column);
            } else if range.end_column != range.column {
                let _ = write!(out, " to :{}", range.end_column);
            }
        }
        Location::Named(name, of) => {
            attribute::string(out, name.as_bytes());
            if **of != Location::Unknown {
                out.push('(');
                part(out, of);
                out.push(')');
            }
        }
        Location::CallSite { callee, caller } => {
            out.push_str("callsite(");
            part(out, callee);
            out.push_str(" at ");
            part(out, caller);
            out.push(')');
        }
        Location::Fused(parts, metadata) => {
            out.push_str("fused");
            if let Some(metadata) = metadata {
                out.push('<');
                attribute::write(out, metadata);
                out.push('>');
            }
            attribute::list(out, "[", parts.iter(), "]", |out, of| part(out, of));
        }
    }
}

/// The structure of a location. Equal locations have equal keys.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Unknown,
    File(Arc<FileRange>),
    Named(Name, usize),
    CallSite(usize, usize),
    Fused(Vec<usize>, String),
}

/// The properties of a location that occurs in the program.
struct Entry {
    location: Location,
    parts: Vec<usize>,
    depth: usize,
    /// Whether its definition may follow the operations.
    may_follow: bool,
}

/// The locations in the program, and their numbers.
#[derive(Default)]
pub struct Aliases {
    ids: HashMap<Key, usize>,
    entries: Vec<Entry>,
    /// The entries of nested locations by address. Nested locations are shared.
    known: HashMap<*const Location, usize>,
    /// The number of each entry, set by [`Aliases::number`].
    numbers: Vec<usize>,
    /// The entries in the order of their numbers.
    order: Vec<usize>,
}

impl Aliases {
    /// Adds a location of an operation or a block argument. The definition of the latter must precede the
    /// operations.
    pub fn note(&mut self, location: &Location, may_follow: bool) {
        self.id(location, may_follow);
    }

    fn id(&mut self, location: &Location, may_follow: bool) -> usize {
        let (key, parts) = match location {
            Location::Unknown => (Key::Unknown, Vec::new()),
            Location::File(range) => (Key::File(range.clone()), Vec::new()),
            Location::Named(name, of) => {
                let of_unknown = **of == Location::Unknown;
                let part = if of_unknown { usize::MAX } else { self.part(of, may_follow) };
                (Key::Named(name.clone(), part), if of_unknown { Vec::new() } else { vec![part] })
            }
            Location::CallSite { callee, caller } => {
                let (callee, caller) = (self.part(callee, may_follow), self.part(caller, may_follow));
                (Key::CallSite(callee, caller), vec![callee, caller])
            }
            Location::Fused(all, metadata) => {
                let parts: Vec<usize> = all.iter().map(|of| self.id(of, may_follow)).collect();
                let mut text = String::new();
                if let Some(metadata) = metadata {
                    attribute::write(&mut text, metadata);
                }
                (Key::Fused(parts.clone(), text), parts)
            }
        };
        if let Some(&id) = self.ids.get(&key) {
            if !may_follow {
                self.must_precede(id);
            }
            return id;
        }
        let depth = 1 + parts.iter().map(|&part| self.entries[part].depth).max().unwrap_or(0);
        let id = self.entries.len();
        self.entries.push(Entry { location: location.clone(), parts, depth, may_follow });
        self.ids.insert(key, id);
        id
    }

    fn part(&mut self, location: &Arc<Location>, may_follow: bool) -> usize {
        let address = Arc::as_ptr(location);
        if let Some(&id) = self.known.get(&address) {
            if !may_follow {
                self.must_precede(id);
            }
            return id;
        }
        let id = self.id(location, may_follow);
        self.known.insert(address, id);
        id
    }

    fn must_precede(&mut self, id: usize) {
        if std::mem::replace(&mut self.entries[id].may_follow, false) {
            for part in self.entries[id].parts.clone() {
                self.must_precede(part);
            }
        }
    }

    /// Numbers all locations.
    pub fn number(&mut self) {
        self.order = (0..self.entries.len()).collect();
        self.order.sort_by_key(|&id| self.entries[id].depth);
        self.numbers = vec![0; self.entries.len()];
        for (number, &id) in self.order.iter().enumerate() {
            self.numbers[id] = number;
        }
    }

    /// Writes the definitions that precede the operations, or those that follow them.
    pub fn write_definitions(&mut self, out: &mut String, may_follow: bool) {
        for id in self.order.clone() {
            if self.entries[id].may_follow == may_follow {
                self.write_name(out, id);
                out.push_str(" = ");
                let location = self.entries[id].location.clone();
                self.write_in_full(out, &location);
                out.push('\n');
            }
        }
    }

    fn write_name(&self, out: &mut String, id: usize) {
        let _ = match self.numbers.get(id) {
            Some(0) | None => write!(out, "#loc"),
            Some(number) => write!(out, "#loc{number}"),
        };
    }

    /// Writes `loc(#loc3)`.
    pub fn write(&mut self, out: &mut String, location: &Location) {
        let id = self.id(location, true);
        out.push_str("loc(");
        self.write_name(out, id);
        out.push(')');
    }

    /// Writes `loc("add"(#loc2))`: the location in full, and nested ones as aliases.
    pub fn write_in_full(&mut self, out: &mut String, location: &Location) {
        out.push_str("loc(");
        inside(out, location, &mut |out, part| {
            let id = self.id(part, true);
            self.write_name(out, id);
        });
        out.push(')');
    }
}
