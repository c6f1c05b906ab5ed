//! The values that are visible by their names.

use crate::tree::ValueId;
use foldhash::HashMap;
use smallvec::SmallVec;

/// The values of one name: several if an operation gives several, `%0#1`.
pub type Group = SmallVec<[ValueId; 1]>;

/// What a name stands for.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The values; `None` if the operation that defines them could not be read.
    pub values: Option<Group>,
    /// The position in `Values::defined`.
    at: usize,
}

/// A scope: a region's names.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    start: usize,
    floor: usize,
}

/// The names of all regions that are open.
#[derive(Default)]
pub struct Values<'a> {
    names: HashMap<&'a str, Entry>,
    /// The names in the order in which they were defined, with what they stood for before.
    defined: Vec<(&'a str, Option<Entry>)>,
    /// Where the names of the innermost region begin.
    start: usize,
    /// Names that were defined before are not visible: those around a function.
    floor: usize,
}

impl<'a> Values<'a> {
    /// Opens a region; what is around an isolated one is not visible in it. Gives what [`Values::close`] takes.
    pub fn open(&mut self, isolated: bool) -> Scope {
        let around = Scope { start: self.start, floor: self.floor };
        self.start = self.defined.len();
        if isolated {
            self.floor = self.start;
        }
        around
    }

    /// Closes the innermost region.
    pub fn close(&mut self, around: Scope) {
        for (name, before) in self.defined.drain(self.start..).rev() {
            match before {
                Some(entry) => self.names.insert(name, entry),
                None => self.names.remove(name),
            };
        }
        Scope { start: self.start, floor: self.floor } = around;
    }

    /// Defines a name; false if the region has it already.
    pub fn define(&mut self, name: &'a str, values: Option<Group>) -> bool {
        let entry = Entry { values, at: self.defined.len() };
        let before = self.names.insert(name, entry);
        let is_new = before.as_ref().is_none_or(|e| e.at < self.start);
        self.defined.push((name, before));
        is_new
    }

    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.names.get(name).filter(|entry| entry.at >= self.floor)
    }
}
