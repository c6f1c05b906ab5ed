//! Stack frames: the tables that instructions' metadata points into, renumbered as XLA does when it reads them.
//!
//! XLA keeps only the frames that instructions use, each once, in the order of their first use (a frame's parent
//! before it), and numbers files, functions and locations as they turn up. A frame that points at nothing is
//! dropped, and so is what points at it.

use crate::module::StackFrames;
use crate::{InstrId, Module};
use std::collections::HashMap;
use std::ops::Range;

impl Module {
    /// Renumbers the stack frames: what XLA does to a module that it reads. Linear.
    pub fn renumber_stack_frames(&mut self) {
        let old = std::mem::take(&mut self.stack_frames);
        let frames = Frame::table(&old);
        let mut new = Renumbering {
            old: &old,
            new: Interned::default(),
            numbers: vec![Number::Unknown; frames.len()],
            frames,
        };
        // By id: in the order of the text.
        for index in 0..self.instruction_capacity() {
            let id = InstrId::new(index);
            let Some(common) = self[id].common.as_deref().filter(|_| self.is_live(id)) else { continue };
            let frame = common.metadata.stack_frame_id;
            if frame == 0 {
                continue;
            }
            let number = usize::try_from(frame).ok().and_then(|f| new.frame(f));
            let number = number.and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
            if number != frame {
                self.common_mut(id).metadata.stack_frame_id = number;
            }
        }
        self.stack_frames = new.new.tables;
    }
}

/// An entry of `StackFrames`.
#[derive(Clone, Copy)]
struct Frame {
    location: usize,
    /// The number of the frame that called it; `None` for the outermost.
    parent: Option<usize>,
}

impl Frame {
    /// The entries, `None` where one can't be read. `parent_frame_id` counts from 2, and 1 stands for no parent; but
    /// in a table that has a 0 (and where no frame would be its own parent) it is 0 that stands for no parent, and
    /// the frames count from 1.
    fn table(tables: &StackFrames) -> Vec<Option<Frame>> {
        let parents = || tables.stack_frames.iter().map(|e| value(e, "parent_frame_id"));
        let own = parents().enumerate().any(|(n, p)| p == Some(n + 1));
        let none = usize::from(own || !parents().any(|p| p == Some(0)));
        let parent = |p: usize| if p == none { Some(None) } else { Some(Some(p.checked_sub(none)?)) };
        let entries = tables.stack_frames.iter().zip(parents());
        entries
            .map(|(e, p)| Some(Frame { location: value(e, "file_location_id")?, parent: parent(p?)? }))
            .collect()
    }
}

/// The new number of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Unknown,
    /// It is being numbered: a frame that needs this one's number is its own ancestor.
    Open,
    Dropped,
    Known(usize),
}

struct Renumbering<'m> {
    old: &'m StackFrames,
    frames: Vec<Option<Frame>>,
    numbers: Vec<Number>,
    new: Interned,
}

impl Renumbering<'_> {
    /// The new number of the frame that has the number `id` now.
    fn frame(&mut self, id: usize) -> Option<usize> {
        // Up to an ancestor whose number is known, then down again.
        let mut chain = Vec::new();
        let mut at = Some(id);
        let mut parent = Number::Unknown;
        while let Some(n) = at {
            let index = n.wrapping_sub(1);
            parent = self.numbers.get(index).copied().unwrap_or(Number::Dropped);
            let frame = self.frames.get(index).copied().flatten();
            match (parent, frame) {
                (Number::Unknown, Some(frame)) => {
                    self.numbers[index] = Number::Open;
                    chain.push((index, frame));
                    at = frame.parent;
                }
                (Number::Unknown, None) | (Number::Open, _) => {
                    parent = Number::Dropped;
                    break;
                }
                _ => break,
            }
        }
        if at.is_none() {
            parent = Number::Unknown;
        }
        for (index, frame) in chain.into_iter().rev() {
            let number = match parent {
                Number::Dropped | Number::Open => None,
                Number::Unknown => self.add(frame, 1),
                Number::Known(n) => self.add(frame, n + 1),
            };
            parent = number.map_or(Number::Dropped, Number::Known);
            self.numbers[index] = parent;
        }
        match parent {
            Number::Known(n) => Some(n),
            _ => None,
        }
    }

    /// Adds a frame whose parent is written as `parent`; `None` if what it points at is missing.
    fn add(&mut self, frame: Frame, parent: usize) -> Option<usize> {
        let entry = |table: &[Box<str>], number: usize| table.get(number.checked_sub(1)?).cloned();
        let location = entry(&self.old.file_locations, frame.location)?;
        let (file_field, file) = field(&location, "file_name_id")?;
        let (function_field, function) = field(&location, "function_name_id")?;
        let file = entry(&self.old.file_names, file)?;
        let function = entry(&self.old.function_names, function)?;
        let tables = &mut self.new;
        let file = intern(&mut tables.files, &mut tables.tables.file_names, file);
        let function = intern(&mut tables.functions, &mut tables.tables.function_names, function);
        // The later one first, so that the other's place stays.
        let mut fields = [(file_field, file), (function_field, function)];
        fields.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = String::from(location);
        for (range, number) in fields {
            text.replace_range(range, &number.to_string());
        }
        let location = intern(&mut tables.locations, &mut tables.tables.file_locations, text.into());
        let text = format!("{{file_location_id={location} parent_frame_id={parent}}}");
        Some(intern(&mut tables.frames, &mut tables.tables.stack_frames, text.into()))
    }
}

/// Tables without repetitions.
#[derive(Default)]
struct Interned {
    tables: StackFrames,
    files: HashMap<Box<str>, usize>,
    functions: HashMap<Box<str>, usize>,
    locations: HashMap<Box<str>, usize>,
    frames: HashMap<Box<str>, usize>,
}

/// The number of an entry, which is added if it is new.
fn intern(numbers: &mut HashMap<Box<str>, usize>, table: &mut Vec<Box<str>>, entry: Box<str>) -> usize {
    if let Some(&n) = numbers.get(&entry) {
        return n;
    }
    table.push(entry.clone());
    numbers.insert(entry, table.len());
    table.len()
}

/// The number in `{… name=number …}` and where it stands.
fn field(entry: &str, name: &str) -> Option<(Range<usize>, usize)> {
    let mut from = 0;
    while let Some(at) = entry[from..].find(name).map(|n| from + n) {
        let start = at + name.len() + 1;
        let before = entry[..at].ends_with([' ', '{', ',']);
        if before && entry[at + name.len()..].starts_with('=') {
            let digits = entry[start..].bytes().take_while(u8::is_ascii_digit).count();
            return Some((start..start + digits, entry[start..start + digits].parse().ok()?));
        }
        from = start.min(entry.len());
    }
    None
}

fn value(entry: &str, name: &str) -> Option<usize> {
    field(entry, name).map(|(_, n)| n)
}
