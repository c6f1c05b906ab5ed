//! The visible values by name.

use crate::tree::ValueId;
use foldhash::HashMap;
use smallvec::SmallVec;

/// The values of one name. An operation with several results has one name for all of them: `%0#1`.
pub type Group = SmallVec<[ValueId; 1]>;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The values, or `None` if the operation that defines them could not be read.
    pub values: Option<Group>,
    /// The position in `Values::defined`.
    at: usize,
}

/// The state of the enclosing region, which [`Values::close`] restores.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    start: usize,
    floor: usize,
}

/// The names of all open regions.
#[derive(Default)]
pub struct Values<'a> {
    names: HashMap<&'a str, Entry>,
    /// The names in the order of their definition, with their previous meanings.
    defined: Vec<(&'a str, Option<Entry>)>,
    /// The index of the first name of the innermost region.
    start: usize,
    /// The index of the first visible name. Names from outside a function are not visible in it.
    floor: usize,
}

impl<'a> Values<'a> {
    /// Opens a region. Names from outside are not visible in an isolated region. Pass the result to
    /// [`Values::close`].
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

    /// Defines a name. Returns false if the region already defines it.
    pub fn define(&mut self, name: &'a str, values: Option<Group>) -> bool {
        let entry = Entry { values, at: self.defined.len() };
        let before = self.names.insert(name, entry);
        let is_new = before.as_ref().is_none_or(|e| e.at < self.start);
        self.defined.push((name, before));
        is_new
    }

    /// Returns the meaning of a name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.names.get(name).filter(|entry| entry.at >= self.floor)
    }
}
