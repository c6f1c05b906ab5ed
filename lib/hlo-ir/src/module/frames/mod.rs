//! Stack frames: the tables that instructions' metadata refers to, and their renumbering, as XLA does it when
//! it reads them.
//!
//! XLA keeps only the frames that instructions use, without duplicates, in the order of their first use (a
//! frame's parent before it). It numbers files, functions and locations in the order of their use. A frame
//! with an invalid reference is dropped, and so are frames that refer to it.

mod joined;

pub use joined::JoinedFrames;

use crate::attr::{HloString, OpMetadata};
use crate::{InstrId, Module};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

/// The tables that `stack_frame_id` in metadata refers to. Entries are numbered from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFrames {
    /// `FileNames`.
    pub file_names: Vec<HloString>,
    /// `FunctionNames`.
    pub function_names: Vec<HloString>,
    /// `FileLocations`.
    pub file_locations: Vec<FileLocation>,
    /// `StackFrames`.
    pub stack_frames: Vec<StackFrame>,
}

/// An entry of `FileLocations`: a position in a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileLocation {
    /// The number of an entry of `FileNames`.
    pub file: i32,
    /// The number of an entry of `FunctionNames`.
    pub function: i32,
    /// The first line.
    pub line: i32,
    /// The last line.
    pub end_line: i32,
    /// The first column.
    pub column: i32,
    /// The last column.
    pub end_column: i32,
}

/// An entry of `StackFrames`: a position, and the frame that called it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// The number of an entry of `FileLocations`.
    pub location: i32,
    /// The frame of the caller, as XLA writes it: one more than the number of the frame, or 1 for none. In a
    /// table that contains a 0, it may be the number of the frame, or 0 for none.
    pub parent: i32,
}

impl FileLocation {
    /// The names of the fields in the text, in printing order.
    pub const FIELDS: &[&str; 6] =
        &["file_name_id", "function_name_id", "line", "end_line", "column", "end_column"];

    /// Creates a location from the values of [`FileLocation::FIELDS`].
    pub fn from_fields([file, function, line, end_line, column, end_column]: [i32; 6]) -> Self {
        Self { file, function, line, end_line, column, end_column }
    }
}

impl StackFrame {
    /// The names of the fields in the text, in printing order.
    pub const FIELDS: &[&str; 2] = &["file_location_id", "parent_frame_id"];

    /// Creates a frame from the values of [`StackFrame::FIELDS`].
    pub fn from_fields([location, parent]: [i32; 2]) -> Self {
        Self { location, parent }
    }
}

/// `{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}`.
impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, function, line, end_line, column, end_column } = *self;
        write_fields(f, Self::FIELDS, &[file, function, line, end_line, column, end_column])
    }
}

/// `{file_location_id=1 parent_frame_id=1}`.
impl fmt::Display for StackFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_fields(f, Self::FIELDS, &[self.location, self.parent])
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, names: &[&str], values: &[i32]) -> fmt::Result {
    for (i, (name, value)) in names.iter().zip(values).enumerate() {
        write!(f, "{}{name}={value}", if i == 0 { "{" } else { " " })?;
    }
    f.write_str("}")
}

/// Invalid references in the stack-frame tables, all of the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DanglingReferences {
    /// The table that contains them.
    pub table: &'static str,
    /// The position in the table of the first invalid entry, from 0.
    pub entry: usize,
    /// The error of that entry.
    pub message: String,
    /// Number of invalid entries.
    pub count: usize,
}

impl StackFrames {
    /// Returns the invalid references in the tables, at most one entry per kind. Takes linear time.
    pub fn dangling(&self) -> Vec<DanglingReferences> {
        let Self { file_names, function_names, file_locations, stack_frames } = self;
        let mut out = Vec::new();
        let mut check =
            |table, field: &str, (to, len): (&str, usize), numbers: &mut dyn Iterator<Item = i32>| {
                let in_table = |n: i32| usize::try_from(n).is_ok_and(|n| (1..=len).contains(&n));
                let mut wrong = numbers.enumerate().filter(|&(_, n)| !in_table(n));
                let Some((entry, number)) = wrong.next() else { return };
                let entries = if len == 1 { "entry" } else { "entries" };
                let message =
                    format!("`{field}` names an entry of `{to}`, which has {len} {entries}: found {number}");
                out.push(DanglingReferences { table, entry, message, count: 1 + wrong.count() });
            };
        let files = ("FileNames", file_names.len());
        check("FileLocations", "file_name_id", files, &mut file_locations.iter().map(|l| l.file));
        let functions = ("FunctionNames", function_names.len());
        check("FileLocations", "function_name_id", functions, &mut file_locations.iter().map(|l| l.function));
        let locations = ("FileLocations", file_locations.len());
        check("StackFrames", "file_location_id", locations, &mut stack_frames.iter().map(|f| f.location));
        out.extend(self.dangling_parents());
        out.extend(self.own_ancestors());
        out
    }

    /// Returns the parents that are not frames.
    fn dangling_parents(&self) -> Option<DanglingReferences> {
        let frames = Frame::table(self);
        let leads_nowhere = |f: &Option<Frame>| match f {
            Some(Frame { parent: None, .. }) => false,
            Some(Frame { parent: Some(p), .. }) => !(1..=frames.len()).contains(p),
            None => true,
        };
        let mut wrong = frames.iter().enumerate().filter(|(_, f)| leads_nowhere(f)).map(|(n, _)| n);
        let entry = wrong.next()?;
        let found = self.stack_frames.get(entry)?.parent;
        let message = format!(
            "`parent_frame_id` is 1, or one more than the number of an entry of `StackFrames`, which has {}: found {found}",
            frames.len()
        );
        Some(DanglingReferences { table: "StackFrames", entry, message, count: 1 + wrong.count() })
    }

    /// Returns the frames that are their own ancestors, one per cycle.
    fn own_ancestors(&self) -> Option<DanglingReferences> {
        let frames = Frame::table(self);
        // The traversal that first visited each frame, from 1; 0 if none.
        let mut seen = vec![0; frames.len()];
        let mut circles = Vec::new();
        for start in 1..=frames.len() {
            let mut at = Some(start);
            while let Some(n) = at {
                match seen.get_mut(n.wrapping_sub(1)) {
                    Some(walk) if *walk == 0 => *walk = start,
                    Some(walk) => {
                        if *walk == start {
                            circles.push(n);
                        }
                        break;
                    }
                    None => break,
                }
                at = frames.get(n - 1).copied().flatten().and_then(|f| f.parent);
            }
        }
        let &first = circles.first()?;
        let message = format!("frame {first} is called from itself, by way of `parent_frame_id`");
        Some(DanglingReferences { table: "StackFrames", entry: first - 1, message, count: circles.len() })
    }
}

/// The position of an instruction, or of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFrame<'m> {
    /// The file.
    pub file: &'m HloString,
    /// The function, if known.
    pub function: Option<&'m HloString>,
    /// The first and last line, from 1. 0 if unknown.
    pub lines: (i32, i32),
    /// The first and last column, from 1. 0 if unknown.
    pub columns: (i32, i32),
}

/// `train.py:3:5 in loss`.
impl fmt::Display for SourceFrame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file.to_text())?;
        if self.lines.0 > 0 {
            write!(f, ":{}", self.lines.0)?;
            if self.columns.0 > 0 {
                write!(f, ":{}", self.columns.0)?;
            }
        }
        match self.function {
            Some(function) => write!(f, " in {}", function.to_text()),
            None => Ok(()),
        }
    }
}

/// Maximum number of frames to show in a trace, starting with the innermost.
const MAX_SHOWN: usize = 4;

/// The frames of a module, for looking up the frames of many instructions.
pub struct SourceFrames<'m> {
    module: &'m Module,
    frames: Vec<Option<Frame>>,
}

impl<'m> SourceFrames<'m> {
    /// Creates the frames of a module.
    pub fn of(module: &'m Module) -> Self {
        Self { module, frames: Frame::table(&module.stack_frames) }
    }

    /// Returns the position of an instruction, then that of its caller, and so on. Uses `stack_frame_id` of
    /// its metadata, or `source_file` and `source_line` if there is none. Empty if nothing is known.
    pub fn trace(&self, id: InstrId) -> Vec<SourceFrame<'_>> {
        self.module[id].common.as_deref().map_or(Vec::new(), |c| self.trace_of(&c.metadata))
    }

    /// As [`SourceFrames::trace`], for an instruction with this metadata.
    pub fn trace_of<'t>(&'t self, metadata: &'t OpMetadata) -> Vec<SourceFrame<'t>> {
        let tables = &self.module.stack_frames;
        let mut out = Vec::new();
        let mut at = usize::try_from(metadata.stack_frame_id).ok().filter(|&n| n > 0);
        // No trace is longer than the table.
        while let Some(n) = at.filter(|_| out.len() < self.frames.len()) {
            let Some(frame) = self.frames.get(n.wrapping_sub(1)).copied().flatten() else { break };
            let Some((place, file, function)) = tables.place(frame.location) else { break };
            let (lines, columns) = ((place.line, place.end_line), (place.column, place.end_column));
            out.push(SourceFrame { file, function: Some(function), lines, columns });
            at = frame.parent;
        }
        if out.is_empty() && !metadata.source_file.is_empty() {
            let lines = (metadata.source_line, metadata.source_end_line.max(metadata.source_line));
            let columns = (metadata.source_column, metadata.source_end_column);
            out.push(SourceFrame { file: &metadata.source_file, function: None, lines, columns });
        }
        out
    }

    /// Returns the trace as one line: `train.py:3:5 in loss, called from train.py:9:1 in step`. `None` if
    /// nothing is known.
    pub fn line(&self, id: InstrId) -> Option<String> {
        self.line_of(&self.module[id].common.as_deref()?.metadata)
    }

    /// As [`SourceFrames::line`], for an instruction with this metadata.
    pub fn line_of(&self, metadata: &OpMetadata) -> Option<String> {
        let trace = self.trace_of(metadata);
        let shown: Vec<String> = trace.iter().take(MAX_SHOWN).map(SourceFrame::to_string).collect();
        let more = if trace.len() > MAX_SHOWN { ", …" } else { "" };
        (!shown.is_empty()).then(|| shown.join(", called from ") + more)
    }
}

impl StackFrames {
    /// Returns an entry of `FileLocations` with its file and function names; `None` if a reference is
    /// invalid.
    fn place(&self, location: i32) -> Option<(&FileLocation, &HloString, &HloString)> {
        let location = entry(&self.file_locations, location)?;
        let file = entry(&self.file_names, location.file)?;
        Some((location, file, entry(&self.function_names, location.function)?))
    }
}

/// Returns the entry of a table with a number.
fn entry<T>(table: &[T], number: i32) -> Option<&T> {
    table.get(usize::try_from(number).ok()?.checked_sub(1)?)
}

impl Module {
    /// Renumbers the stack frames as XLA does when it reads a module. Takes linear time.
    pub fn renumber_stack_frames(&mut self) {
        let old = std::mem::take(&mut self.stack_frames);
        let frames = Frame::table(&old);
        let mut new = Renumbering {
            old: &old,
            new: Interned::default(),
            numbers: vec![Number::Unknown; frames.len()],
            frames,
        };
        // In the order of ids, which is that of the text.
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

/// A frame and its parent.
#[derive(Clone, Copy)]
struct Frame {
    location: i32,
    /// The number of the caller's frame; `None` for the outermost frame.
    parent: Option<usize>,
}

impl Frame {
    /// Returns the frames. An entry is `None` if its parent cannot be a frame.
    fn table(tables: &StackFrames) -> Vec<Option<Frame>> {
        let offset = Self::offset(tables);
        let parent = |f: &StackFrame| {
            let p = usize::try_from(f.parent).ok()?;
            if p == offset { Some(None) } else { Some(Some(p.checked_sub(offset)?)) }
        };
        let entries = tables.stack_frames.iter();
        entries.map(|f| Some(Frame { location: f.location, parent: parent(f)? })).collect()
    }

    /// Returns the number added to a parent's number in the table. Usually it is 1: the table contains the
    /// parent's number plus one, and 1 means no parent. In a table that contains a 0, and in which no frame
    /// would then be its own parent, it is 0: 0 means no parent.
    fn offset(tables: &StackFrames) -> usize {
        let parents = || tables.stack_frames.iter().map(|f| usize::try_from(f.parent).ok());
        let own = parents().enumerate().any(|(n, p)| p == Some(n + 1));
        usize::from(own || !parents().any(|p| p == Some(0)))
    }
}

/// The new number of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Unknown,
    /// The frame is being numbered. A frame that needs its number is its own ancestor.
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
    /// Returns the new number of the frame with number `id`.
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
                (Number::Unknown, Some(frame)) if self.old.place(frame.location).is_some() => {
                    self.numbers[index] = Number::Open;
                    chain.push((index, frame));
                    at = frame.parent;
                }
                // Checked before anything is added, so that a dropped frame adds no unused entries.
                (Number::Unknown | Number::Open, _) => {
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

    /// Adds a frame whose parent is written as `parent`. Returns `None` if a reference is invalid.
    fn add(&mut self, frame: Frame, parent: usize) -> Option<usize> {
        let (location, file, function) = self.old.place(frame.location)?;
        let Interned { tables, files, functions, locations, frames } = &mut self.new;
        let file = number(intern(files, &mut tables.file_names, file))?;
        let function = number(intern(functions, &mut tables.function_names, function))?;
        let location = FileLocation { file, function, ..*location };
        let location = number(intern(locations, &mut tables.file_locations, &location))?;
        let frame = StackFrame { location, parent: number(parent)? };
        Some(intern(frames, &mut tables.stack_frames, &frame))
    }
}

/// Tables without duplicates.
#[derive(Default)]
struct Interned {
    tables: StackFrames,
    files: HashMap<HloString, usize>,
    functions: HashMap<HloString, usize>,
    locations: HashMap<FileLocation, usize>,
    frames: HashMap<StackFrame, usize>,
}

/// Returns the number of an entry. Adds it if it is new.
fn intern<T: Clone + Eq + Hash>(numbers: &mut HashMap<T, usize>, table: &mut Vec<T>, entry: &T) -> usize {
    if let Some(&n) = numbers.get(entry) {
        return n;
    }
    table.push(entry.clone());
    numbers.insert(entry.clone(), table.len());
    table.len()
}

/// Converts a number to the type in the tables.
fn number(n: usize) -> Option<i32> {
    i32::try_from(n).ok()
}
