//! The differences between two modules.
//!
//! Instructions are matched by what they compute and by the values computed from them, not by their names. So
//! a renamed module has no added instructions. [`diff`] matches computations and instructions ([`Matching`])
//! and returns the differences of each pair. Time and memory are almost linear in the size of the modules.
//!
//! # Example
//! ```
//! use hlo_module_diff::{Ignore, Kind, diff};
//!
//! let parse = |text| hlo_parser::parse_module(text).expect("a module");
//! let left = parse("HloModule m
//! ENTRY main { a = f32[2] parameter(0) b = f32[2] abs(a) ROOT c = f32[2] negate(b) }");
//! let right = parse("HloModule m
//! ENTRY main { p = f32[2] parameter(0) q = f32[2] abs(p) r = f32[2] sqrt(q) ROOT s = f32[2] negate(r) }");
//!
//! let difference = diff(&left, &right, Ignore { names: true, ..Ignore::default() });
//! let counts = difference.counts();
//! assert_eq!((counts.added, counts.removed), (1, 0));
//! let added = difference.computations[0].instructions.iter().find(|i| i.kind() == Kind::Added);
//! let added = added.and_then(|i| i.right).expect("an instruction of the right side");
//! assert_eq!(&*right[added].name, "r");
//! assert!(diff(&left, &left, Ignore::default()).is_same());
//! ```

mod compare;
mod fingerprint;
mod matching;
mod moved;

pub use compare::{Change, Side};
pub use matching::Matching;

use hlo_ir::{ComputationId, InstrId, Module};

/// The kinds of differences to ignore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignore {
    /// Element types and sizes.
    pub shape: bool,
    /// Layouts.
    pub layout: bool,
    /// `metadata=`, `origin=` and `statistics=`.
    pub metadata: bool,
    /// The names of the module, its computations and instructions.
    pub names: bool,
    /// `backend_config=`.
    pub backend_config: bool,
    /// `sharding=`.
    pub sharding: bool,
    /// `frontend_attributes=`.
    pub frontend_attributes: bool,
    /// The first line.
    pub header: bool,
}

/// What differs between two modules.
#[derive(Clone, Debug)]
pub struct ModuleDiff {
    /// Differences of the first line.
    pub header: Vec<Change>,
    /// The computations: matched ones and those of one side, the entry first, callers before callees.
    pub computations: Vec<ComputationDiff>,
}

/// What differs between two computations, or one that only one side has.
#[derive(Clone, Debug)]
pub struct ComputationDiff {
    /// The computation on the left side.
    pub left: Option<ComputationId>,
    /// The computation on the right side.
    pub right: Option<ComputationId>,
    /// Differences of the computation itself: its name, its thread, which instruction is the root.
    pub changes: Vec<Change>,
    /// Its instructions in an order in which operands come first.
    pub instructions: Vec<InstructionDiff>,
}

/// What differs between two instructions, or one that only one side has.
#[derive(Clone, Debug)]
pub struct InstructionDiff {
    /// The instruction on the left side.
    pub left: Option<InstrId>,
    /// The instruction on the right side.
    pub right: Option<InstrId>,
    /// What differs; nothing if they are the same.
    pub changes: Vec<Change>,
}

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is the same on both sides.
    Same,
    /// It is on the right side only.
    Added,
    /// It is on the left side only.
    Removed,
    /// It has another name, or another place in the schedule, and is the same otherwise.
    Renamed,
    /// It differs.
    Changed,
}

fn kind(left: bool, right: bool, changes: &[Change]) -> Kind {
    match (left, right) {
        (false, _) => Kind::Added,
        (true, false) => Kind::Removed,
        (true, true) if changes.is_empty() => Kind::Same,
        (true, true) if changes.iter().all(|c| matches!(c, Change::Name { .. } | Change::Moved)) => {
            Kind::Renamed
        }
        (true, true) => Kind::Changed,
    }
}

impl InstructionDiff {
    /// What became of it.
    pub fn kind(&self) -> Kind {
        kind(self.left.is_some(), self.right.is_some(), &self.changes)
    }
}

impl ComputationDiff {
    /// What became of the computation, whatever became of its instructions.
    pub fn kind(&self) -> Kind {
        kind(self.left.is_some(), self.right.is_some(), &self.changes)
    }

    /// True if nothing in it differs.
    pub fn is_same(&self) -> bool {
        self.kind() == Kind::Same && self.instructions.iter().all(|i| i.kind() == Kind::Same)
    }
}

/// How many of what there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions that are the same.
    pub same: usize,
    /// Instructions of the right side only.
    pub added: usize,
    /// Instructions of the left side only.
    pub removed: usize,
    /// Instructions that differ.
    pub changed: usize,
    /// Instructions of which only the name, or the place in the schedule, differs.
    pub renamed: usize,
}

impl ModuleDiff {
    /// True if nothing differs.
    pub fn is_same(&self) -> bool {
        self.header.is_empty() && self.computations.iter().all(ComputationDiff::is_same)
    }

    /// The instructions counted by what became of them.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for i in self.computations.iter().flat_map(|c| &c.instructions) {
            match i.kind() {
                Kind::Same => counts.same += 1,
                Kind::Added => counts.added += 1,
                Kind::Removed => counts.removed += 1,
                Kind::Changed => counts.changed += 1,
                Kind::Renamed => counts.renamed += 1,
            }
        }
        counts
    }
}

/// Matches two modules, which must be valid, and says what differs. Stack frames are those that their metadata names, as
/// [`Module::normalize`] numbers them.
pub fn diff(left: &Module, right: &Module, ignore: Ignore) -> ModuleDiff {
    let matching = Matching::new(left, right, ignore);
    compare::compare(left, right, &matching, ignore)
}
