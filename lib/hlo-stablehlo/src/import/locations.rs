//! Conversion of locations to metadata: names, and the tables of stack frames.

use crate::tree::{FileRange, Location, MAX_DEPTH, Name};
use hlo_ir::attr::{HloString, OpMetadata};
use hlo_ir::{FileLocation, StackFrame, StackFrames};
use std::collections::HashMap;

/// Maximum number of nested locations in which names are searched.
const MAX_SEARCHED_LOCATIONS: usize = 1024;

/// The stack frame tables of the new module, with indices of their entries.
#[derive(Default)]
pub struct Frames {
    tables: StackFrames,
    files: HashMap<Name, i32>,
    functions: HashMap<Name, i32>,
    locations: HashMap<(i32, i32, i32, i32), i32>,
    frames: HashMap<(i32, i32), i32>,
    /// The innermost frames of call stacks, by the address of the location. Operations share locations.
    stacks: HashMap<*const Location, i32>,
}

/// Returns the number of the table entry for a key. Appends the entry that `make` returns if the key is new.
fn numbered<K: std::hash::Hash + Eq, T>(
    known: &mut HashMap<K, i32>,
    key: K,
    table: &mut Vec<T>,
    make: impl FnOnce(&K) -> T,
) -> i32 {
    if let Some(&number) = known.get(&key) {
        return number;
    }
    table.push(make(&key));
    let number = table.len() as i32;
    known.insert(key, number);
    number
}

fn small(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

impl Frames {
    /// Returns the tables.
    pub fn into_tables(self) -> StackFrames {
        self.tables
    }

    /// Returns the metadata of an operation with the given location.
    pub fn metadata(&mut self, location: &Location) -> OpMetadata {
        let mut metadata = OpMetadata::default();
        if *location == Location::Unknown {
            return metadata;
        }
        metadata.op_name = name_of(location);
        metadata.op_type = type_of(location);
        let mut at = location;
        while let Location::Named(_, inner) = at {
            if matches!(**inner, Location::File(_)) {
                break;
            }
            at = inner;
        }
        metadata.stack_frame_id = self.stack(at, 0, 0);
        if metadata.stack_frame_id == 0 {
            set_file(at, &mut metadata, 0);
        }
        metadata
    }

    /// Returns the number of the innermost frame of a call stack whose outermost caller is frame `parent`.
    /// The number 0 means no frame.
    fn stack(&mut self, location: &Location, parent: i32, depth: usize) -> i32 {
        if depth > MAX_DEPTH {
            return parent;
        }
        if parent == 0
            && let Some(&frame) = self.stacks.get(&std::ptr::from_ref(location))
        {
            return frame;
        }
        let frame = match location {
            Location::CallSite { .. } => self.calls(location, parent, depth),
            Location::Named(function, inner) => match &**inner {
                Location::File(range) => self.frame(function, range, parent),
                inner => self.stack(inner, parent, depth + 1),
            },
            Location::Fused(parts, _) => {
                let frames = parts.iter().map(|part| self.stack(part, parent, depth + 1));
                frames.into_iter().find(|&frame| frame != parent).unwrap_or(parent)
            }
            Location::File(_) | Location::Unknown => parent,
        };
        if parent == 0 {
            self.stacks.insert(location, frame);
        }
        frame
    }

    /// Adds the frames of nested call sites. The loop avoids recursion over callers, because stacks are long.
    fn calls(&mut self, location: &Location, parent: i32, depth: usize) -> i32 {
        let mut callees = Vec::new();
        let mut at = location;
        let mut frame = loop {
            match at {
                Location::CallSite { callee, caller } => {
                    callees.push((at, callee));
                    at = caller;
                    if parent == 0
                        && let Some(&known) = self.stacks.get(&std::ptr::from_ref(at))
                    {
                        break known;
                    }
                }
                other => break self.stack(other, parent, depth + 1),
            }
        };
        for (call, callee) in callees.into_iter().rev() {
            frame = self.stack(callee, frame, depth + 1);
            if parent == 0 {
                self.stacks.insert(call, frame);
            }
        }
        frame
    }

    fn frame(&mut self, function: &Name, range: &FileRange, parent: i32) -> i32 {
        let text = |name: &Name| HloString::from(name.as_str());
        let file = numbered(&mut self.files, range.file.clone(), &mut self.tables.file_names, text);
        let functions = &mut self.tables.function_names;
        let function = numbered(&mut self.functions, function.clone(), functions, text);
        let [line, end_line] = [range.line, range.end_line].map(small);
        let [column, end_column] = [range.column, range.end_column].map(small);
        let place = FileLocation { file, function, line, end_line, column, end_column };
        let key = (file, function, line, column);
        let location = numbered(&mut self.locations, key, &mut self.tables.file_locations, |_| place);
        let frame = StackFrame { location, parent: parent + 1 };
        numbered(&mut self.frames, (location, parent), &mut self.tables.stack_frames, |_| frame)
    }
}

/// Returns the names of a location. A name stands for everything inside it, so only the outermost ones count.
pub fn name_of(location: &Location) -> HloString {
    let mut names: Vec<&str> = Vec::new();
    each_name(location, &mut |name, _| {
        if name.ends_with(':') {
            true
        } else {
            names.push(name);
            false
        }
    });
    join(&names)
}

/// Returns the operation types of a location: names that end with a colon.
fn type_of(location: &Location) -> HloString {
    let mut types: Vec<&str> = Vec::new();
    each_name(location, &mut |name, first| match name.strip_suffix(':') {
        Some(ty) if first => {
            types.push(ty);
            false
        }
        Some(_) => false,
        None => true,
    });
    join(&types)
}

fn join(names: &[&str]) -> HloString {
    match names {
        [one] => HloString::from(*one),
        several => HloString::from(several.join(";").as_str()),
    }
}

/// Calls `each` for the names of a location. Continues inside a name as long as `each` returns true. The
/// second argument tells whether the name belongs to the first of several fused locations.
fn each_name<'l>(location: &'l Location, each: &mut impl FnMut(&'l str, bool) -> bool) {
    let mut pending = vec![(location, true)];
    // Locations may be shared, so the tree of all nested locations can be very large.
    let mut left = MAX_SEARCHED_LOCATIONS;
    while let Some((at, first)) = pending.pop()
        && left > 0
    {
        left -= 1;
        match at {
            Location::Named(name, inner) => {
                let name = name.as_str();
                let name = name.split_once('@').map_or(name, |(before, _)| before);
                if each(name, first) {
                    pending.push((inner, first));
                }
            }
            Location::CallSite { callee, .. } => pending.push((callee, first)),
            Location::Fused(parts, _) => {
                let first_of = |n: usize| first && n == 0;
                pending.extend(parts.iter().enumerate().map(|(n, p)| (p, first_of(n))).rev());
            }
            Location::File(_) | Location::Unknown => {}
        }
    }
}

/// Sets the file and line from a location without a call stack.
fn set_file(location: &Location, metadata: &mut OpMetadata, depth: usize) {
    match location {
        Location::File(range) => {
            metadata.source_file = HloString::from(range.file.as_str());
            metadata.source_line = small(range.line);
            metadata.source_end_line = small(range.end_line);
            metadata.source_column = small(range.column);
            metadata.source_end_column = small(range.end_column);
        }
        Location::Fused(parts, _) if depth < MAX_DEPTH => {
            for part in parts.iter() {
                set_file(part, metadata, depth + 1);
            }
        }
        _ => {}
    }
}
