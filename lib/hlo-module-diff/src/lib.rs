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
    /// Whether to ignore element types and sizes.
    pub shape: bool,
    /// Whether to ignore layouts.
    pub layout: bool,
    /// Whether to ignore `metadata=`, `origin=` and `statistics=`.
    pub metadata: bool,
    /// Whether to ignore the names of the module, its computations and instructions.
    pub names: bool,
    /// Whether to ignore `backend_config=`.
    pub backend_config: bool,
    /// Whether to ignore `sharding=`.
    pub sharding: bool,
    /// Whether to ignore `frontend_attributes=`.
    pub frontend_attributes: bool,
    /// Whether to ignore the first line.
    pub header: bool,
}

/// The differences between two modules.
#[derive(Clone, Debug)]
pub struct ModuleDiff {
    /// The differences of the first line.
    pub header: Vec<Change>,
    /// The computations, both matched and unmatched. The entry comes first, and callers come before callees.
    pub computations: Vec<ComputationDiff>,
}

/// The differences between two computations, or a computation of only one side.
#[derive(Clone, Debug)]
pub struct ComputationDiff {
    /// The computation on the left side.
    pub left: Option<ComputationId>,
    /// The computation on the right side.
    pub right: Option<ComputationId>,
    /// The differences of the computation itself: its name, its thread, and its root.
    pub changes: Vec<Change>,
    /// The instructions, in an order with operands before users.
    pub instructions: Vec<InstructionDiff>,
}

/// The differences between two instructions, or an instruction of only one side.
#[derive(Clone, Debug)]
pub struct InstructionDiff {
    /// The instruction on the left side.
    pub left: Option<InstrId>,
    /// The instruction on the right side.
    pub right: Option<InstrId>,
    /// The differences; empty if the instructions are the same.
    pub changes: Vec<Change>,
}

/// The kind of difference of a computation or an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is the same on both sides.
    Same,
    /// It exists only on the right side.
    Added,
    /// It exists only on the left side.
    Removed,
    /// Only its name or its position in the schedule differs.
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
    /// Returns the kind of difference of the instruction.
    pub fn kind(&self) -> Kind {
        kind(self.left.is_some(), self.right.is_some(), &self.changes)
    }
}

impl ComputationDiff {
    /// Returns the kind of difference of the computation itself. It does not depend on the instructions.
    pub fn kind(&self) -> Kind {
        kind(self.left.is_some(), self.right.is_some(), &self.changes)
    }

    /// Returns whether the computation and all its instructions are the same on both sides.
    pub fn is_same(&self) -> bool {
        self.kind() == Kind::Same && self.instructions.iter().all(|i| i.kind() == Kind::Same)
    }
}

/// The number of instructions of each kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions that are the same on both sides.
    pub same: usize,
    /// Instructions of the right side only.
    pub added: usize,
    /// Instructions of the left side only.
    pub removed: usize,
    /// Instructions that differ.
    pub changed: usize,
    /// Instructions of which only the name or the position in the schedule differs.
    pub renamed: usize,
}

impl ModuleDiff {
    /// Returns whether the modules are the same.
    pub fn is_same(&self) -> bool {
        self.header.is_empty() && self.computations.iter().all(ComputationDiff::is_same)
    }

    /// Counts the instructions by their kind of difference.
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

/// Matches two valid modules and returns their differences. The stack frame numbers in metadata must refer to the
/// frames of the module, as [`Module::normalize`] numbers them.
pub fn diff(left: &Module, right: &Module, ignore: Ignore) -> ModuleDiff {
    let matching = Matching::new(left, right, ignore);
    compare::compare(left, right, &matching, ignore)
}
